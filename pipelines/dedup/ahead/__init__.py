"""Signatures and comparisons made ahead of the stream that asks for them."""
