"""The Model Context Protocol: the book as tools and resources for other assistants."""

from quire.mcp.server import create_server, speaking_for

__all__ = ["create_server", "speaking_for"]
