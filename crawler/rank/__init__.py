"""Crawl order: signals of importance, and the weighted sum that orders the queue."""
