"""Which page comes next, and fetching it politely."""
