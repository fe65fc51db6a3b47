"""The web page of a crawl's database: search, articles, stories, dashboard, API."""
