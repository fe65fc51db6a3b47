"""The desk at work: matching saved searches, and telling of hits."""
