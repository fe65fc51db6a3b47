"""Full-text search: queries, index terms, ranking, snippets."""
