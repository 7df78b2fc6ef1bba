"""What a page requests beside driving: pause, another speed, another place of a recording, another gain."""

import math
from dataclasses import dataclass

from trailbrake.errors import DataError, WireError
from trailbrake.user_files import parse_json

MAX_VALUES = 16
MAX_ACTION_LENGTH = 40  # characters


@dataclass(frozen=True, slots=True)
class PageRequest:
    """One request.

    Attributes:
        action: what to do, as "seek".
        values: finite numbers; what they mean depends on the action.
        name: of what, as of a gain.
    """

    action: str
    values: tuple[float, ...] = ()
    name: str = ""


def decode_request(text: str) -> PageRequest:
    """Return the request in a page's message: {"action": text, "values": [numbers], "name": text}.

    Raises:
        WireError: it is none.
    """
    try:
        data = parse_json(text, "request of a page")
    except DataError as error:
        raise WireError("no request of a page", expected="a JSON object") from error
    if not isinstance(data, dict) or not data.keys() <= {"action", "values", "name"}:
        raise WireError("no request of a page", expected="an object of action, values and name")
    action, values, name = data.get("action"), data.get("values", []), data.get("name", "")
    if not all(isinstance(word, str) and len(word) <= MAX_ACTION_LENGTH for word in (action, name)):
        raise WireError("no request of a page", expected="action and name in some letters")
    if not isinstance(values, list) or len(values) > MAX_VALUES or not all(map(_is_finite_number, values)):
        raise WireError("no request of a page", expected=f"up to {MAX_VALUES} finite numbers")
    return PageRequest(str(action), tuple(float(value) for value in values), str(name))


def _is_finite_number(value: object) -> bool:
    # A whole number of hundreds of digits is no float.
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e15 and math.isfinite(value)
