"""Fetching: connections, responses as bytes, and the IP addresses allowed."""
