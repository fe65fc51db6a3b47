"""DUST rules: shapes and normal forms of URLs, and the learning of rules."""
