"""The desk at work: matching saved searches with what is stored, and telling of it by mail and webhook."""
