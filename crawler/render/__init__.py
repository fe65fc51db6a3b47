"""A browser without a network shows pages made by script; the crawl answers."""
