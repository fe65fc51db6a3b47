"""DUST rules: parts of URLs that make no difference to the page."""
