"""How each host is asked: robots rules, delays, backoff."""
