"""Fit the shipped models to labelled pages and texts."""
