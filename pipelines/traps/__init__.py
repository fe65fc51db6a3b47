"""Traps without end: patterns of their URLs, and signals of their pages."""
