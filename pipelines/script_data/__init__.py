"""Data that a page carries for its scripts, read without running them."""
