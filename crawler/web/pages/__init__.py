"""The web pages: a function for each, which reads the database and renders a template."""
