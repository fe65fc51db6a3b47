"""The full-text index: kept in step by the page transaction, read by searches."""
