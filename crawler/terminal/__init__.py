"""Output for people: harmless text, logs, tables."""
