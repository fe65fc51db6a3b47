"""Pages of archives, taken through the crawl as if they were fetched now."""
