"""The page transaction: articles, their duplicates, signatures and parts."""
