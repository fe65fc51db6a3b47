"""Links of a page, feeds and sitemaps, and directives for robots."""
