"""The present moment; ``TRUNKLINE_TODAY`` overrides its day, for tests and documentation."""

from __future__ import annotations

import datetime

from trunkline.demos.finance.ledger.environment import environment
from trunkline.errors import ConfigurationError


def now() -> datetime.datetime:
    """Give the present moment, with its zone."""
    moment = datetime.datetime.now(datetime.UTC).astimezone()
    given = environment().get("TRUNKLINE_TODAY")
    if not given:
        return moment
    try:
        day = datetime.date.fromisoformat(given)
    except ValueError:
        raise ConfigurationError(f"TRUNKLINE_TODAY={given} is no day: write it as YYYY-MM-DD") from None
    return datetime.datetime.combine(day, moment.timetz())
