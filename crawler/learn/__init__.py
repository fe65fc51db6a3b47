"""Learn of sites while a crawl runs: their templates, DUST rules, traps, changes."""
