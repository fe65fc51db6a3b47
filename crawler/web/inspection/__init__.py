"""Explanations of a crawl: a URL in words, and the link graph."""
