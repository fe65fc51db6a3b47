"""Management of a crawl from the web page: passwords, commands, list of changes."""
