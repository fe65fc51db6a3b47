"""What a page leads to: links, feeds, sitemaps, and what it tells robots."""
