"""Who may do what with a crawl from the web page: passwords, the programs it starts, its list of changes."""
