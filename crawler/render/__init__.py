"""Pages whose text is made by script: a browser without network, whose requests the crawl answers."""
