"""What a fetched page becomes: extraction, duplicates, storage."""
