"""What a crawl learns of sites while it runs: how their pages look, which addresses bring nothing, what changes."""
