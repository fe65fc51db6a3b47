"""Crawl order: the signals that say which page matters, and the weighted sum that orders the frontier."""
