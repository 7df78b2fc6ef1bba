"""Copies of results on shared storage: a folder, or an object store by fsspec."""
