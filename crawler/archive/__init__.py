"""Pages and documents in files: saved pages, JSON lines, WARC."""
