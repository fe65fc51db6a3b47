"""Fetching: connections, answers as bytes, and which addresses may be connected to at all."""
