"""Visiting pages again: when, and what it means."""
