"""Topic relevance of pages and their links, from words alone."""
