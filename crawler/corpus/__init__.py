"""Pages read again: from saved files, archives and databases."""
