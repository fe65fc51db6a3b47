"""Choose the next page and fetch it politely."""
