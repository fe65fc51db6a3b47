"""The analyst's desk: saved searches and messages, in a file of its own."""
