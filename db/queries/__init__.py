"""Reading a crawl's database: status, reprints, link graph, copies."""
