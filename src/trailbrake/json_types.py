"""Names for values that become JSON."""

from typing import Any, TypeAlias

JsonObject: TypeAlias = dict[str, Any]  # a JSON object: summaries, counters, what a recording says about itself
