"""Stores of what is learned of sites and hosts."""
