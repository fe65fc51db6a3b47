"""Changes of articles over time, and articles of several pages."""
