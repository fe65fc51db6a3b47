"""Read settings: one table, its checks, and the `Config` of a crawl."""
