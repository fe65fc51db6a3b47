"""The full-text index: written by the page transaction, read by searches."""
