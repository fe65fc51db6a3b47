"""Learned models: their files, arrays in them, and dense networks; the shipped ones are the JSON files here."""
