"""The web pages: a function for each, which reads and renders a template."""
