"""Log lines for people or programs, each with its trace id; never a question or a key."""

from __future__ import annotations

import json
import logging
import sys
from datetime import UTC, datetime
from typing import Any

from quire.api.tracing import request_trace_id
from quire.settings import Settings

# Libraries that put messages, and so questions, into their debug lines.
_QUIET = ("mcp", "openai", "httpx", "httpcore", "sqlalchemy", "procrastinate", "aiosqlite")
_EXTRAS = ("method", "route", "status", "duration_ms")


class JsonFormatter(logging.Formatter):
    """One JSON object per line."""

    def format(self, record: logging.LogRecord) -> str:
        """Time, level, logger, message, trace id, and what the request was."""
        line: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            "trace_id": request_trace_id(),
        }
        line |= {name: getattr(record, name) for name in _EXTRAS if hasattr(record, name)}
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False)


class HumanFormatter(logging.Formatter):
    """Time, level, message and trace id on one line."""

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)-7s %(message)s", datefmt="%H:%M:%S")

    def format(self, record: logging.LogRecord) -> str:
        """The line, with the request's trace id at its end."""
        trace_id = request_trace_id()
        text = super().format(record)
        return f"{text}  [{trace_id}]" if trace_id else text


def configure(settings: Settings) -> None:
    """Set logging up for a process that serves or works."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonFormatter() if settings.log_format == "json" else HumanFormatter())
    logging.basicConfig(level=settings.log_level.upper(), handlers=[handler], force=True)
    quieten()


def quieten() -> None:
    """Keep libraries from writing what readers ask into the log."""
    for name in _QUIET:
        logging.getLogger(name).setLevel(logging.WARNING)
