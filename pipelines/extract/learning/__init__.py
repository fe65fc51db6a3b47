"""Training of the extraction models."""
