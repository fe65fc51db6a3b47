"""Saved, archived and stored pages read again: where they are, and what works on them."""
