"""Politeness: robots rules, delays and backoff of hosts."""
