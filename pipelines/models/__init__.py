"""Learned models: files, arrays in them, dense networks; the shipped JSON files."""
