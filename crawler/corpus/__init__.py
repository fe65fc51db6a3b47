"""Pages read again: saved files, archives and stored pages, and the work done on them."""
