"""The wire: requests and responses of the HTTP API (and of `--json`), by subject."""
