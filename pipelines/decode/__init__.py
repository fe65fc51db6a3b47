"""From bytes to clean text: character sets, mojibake, characters."""
