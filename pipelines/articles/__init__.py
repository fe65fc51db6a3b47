"""Articles over time and over pages: changes, and articles of several pages."""
