"""Crawler traps: URL patterns whose pages only lead to more of their kind."""
