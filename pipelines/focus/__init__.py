"""Focus: how much a page and its links promise for a topic, from words alone."""
