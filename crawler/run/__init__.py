"""A run of the crawl: its settings, seeds, session, output and exit code."""
