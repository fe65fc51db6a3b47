"""From a fetched page to what is stored of it."""
