"""Opening, writing to and speaking with a database."""
