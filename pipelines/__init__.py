"""Processing of fetched pages: extraction, duplicates, storage."""
