"""Reading: a small model that finds the answering sentence, and knows when there is none."""

from quire.reading.port import Evidence, Readable, Reader, Reading, as_readable

__all__ = ["Evidence", "Readable", "Reader", "Reading", "as_readable"]
