"""The analyst's desk: saved searches, what is new in them, and messages about it, in a file of its own."""
