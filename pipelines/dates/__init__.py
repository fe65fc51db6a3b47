"""Publish times as pages write them."""
