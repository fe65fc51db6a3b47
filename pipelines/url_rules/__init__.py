"""Rules by which several URLs are one page (DUST): shapes and normal forms of URLs, and how rules are learned."""
