"""The frontier: which URL is fetched next, and what becomes of it."""
