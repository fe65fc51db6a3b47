"""Databases of one crawl: the place of each, and the mail between them."""
