"""Kept blocks as text, HTML and Markdown, and pages explained."""
