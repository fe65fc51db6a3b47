"""Crawls over several databases: what goes from one to the other, and their end."""
