"""What the pages of a site have in common, learned for extraction."""
