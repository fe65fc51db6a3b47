"""Opening databases, and statements that every room uses."""
