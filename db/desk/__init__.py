"""The analyst's desk: saved searches, messages and marks, in a file of its own."""
