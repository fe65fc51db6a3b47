"""Exports: typed records, tables and files of stored articles, links and sites."""
