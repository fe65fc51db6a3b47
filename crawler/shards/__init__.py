"""A crawl over several databases: what goes from one to the other, and when all are done."""
