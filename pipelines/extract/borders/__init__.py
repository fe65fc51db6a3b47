"""Borders of the page's own article: copies of it, other stories, tables of data."""
