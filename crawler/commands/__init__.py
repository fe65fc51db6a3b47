"""Commands of `scrapy` in this project: one module each, named as it is typed."""
