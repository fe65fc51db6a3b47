"""Traps: patterns of URLs whose pages bring nothing and only lead to more of their kind."""
