"""Answers to what people ask of a crawl: one URL explained, its link graph."""
