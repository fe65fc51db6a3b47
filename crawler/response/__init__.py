"""Judging of fetched pages: outcomes, found URLs, visits to come."""
