"""Borders of the own article among copies of it and other stories."""
