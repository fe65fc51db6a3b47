"""What a page says of its article beside the text."""
