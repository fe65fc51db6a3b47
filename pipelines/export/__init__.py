"""What is stored, to take away: typed records, tables, and files of several formats."""
