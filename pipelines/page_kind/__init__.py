"""Kinds of pages: article, list, thread, form ... by evidence of the whole page."""
