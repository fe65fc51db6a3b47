"""A parsed page: its tree in columns, and what methods share of it."""
