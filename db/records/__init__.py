"""Rows, enums and identifiers that every layer shares; the standard library only."""
