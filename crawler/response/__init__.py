"""From a fetched page to what is stored: outcomes, found URLs, visits to come."""
