"""Harmful pages: gambling, porn, fraud, abuse, adverts, hijacked ones."""
