"""A run: its settings, session, seeds and progress, and how Scrapy is told to build its parts."""
