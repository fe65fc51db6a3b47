"""Crawler traps: URL patterns whose pages bring nothing without end."""
