"""Metadata of an article: title, authors, source, time and the rest."""
