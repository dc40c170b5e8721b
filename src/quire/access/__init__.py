"""Who may ask, how often, and what it came to: keys, scopes, limits, usage."""

from quire.access.gate import Caller, Credentials, Gate
from quire.access.keys import SCOPES, ApiKey, CreatedKey, KeyKind, Keys, Scope
from quire.access.limits import Allowance, Limits
from quire.access.usage import Outcome, Totals, Usage, UsageDay

__all__ = [
    "SCOPES",
    "Allowance",
    "ApiKey",
    "Caller",
    "CreatedKey",
    "Credentials",
    "Gate",
    "KeyKind",
    "Keys",
    "Limits",
    "Outcome",
    "Scope",
    "Totals",
    "Usage",
    "UsageDay",
]
