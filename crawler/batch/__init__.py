"""Batch work over stored pages and documents, by partitions on Dask."""
