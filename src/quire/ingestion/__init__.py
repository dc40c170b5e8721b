"""Ingestion: from a tree of pages to a sound index."""
