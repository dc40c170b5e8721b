"""The vector store: a port, and one adapter for each place it can live."""
