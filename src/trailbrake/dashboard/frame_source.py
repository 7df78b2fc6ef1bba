"""The frames of a page; `FrameHistory`: those of the last half minute, for pages that are opened later.

What a page requests beside driving: pause, another speed, another place of a recording, another gain.
"""

import math
import struct
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from trailbrake.errors import DataError, WireError
from trailbrake.state import Image, OtherCar
from trailbrake.user_files import parse_json

HISTORY_S = 30.0  # s of simulator time: what a chart shows
HISTORY_INTERVAL = 1.0 / 30.0  # s of simulator time between kept frames
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


class Frame(NamedTuple):
    """One frame: the row that `page_messages.frame_row` returns, the other cars with the ghosts, the camera's image."""

    row: list[float]
    others: Sequence[OtherCar]
    image: Image | None


class FrameHistory:
    """Rows of numbers, the first of which is simulator time, s."""

    def __init__(self) -> None:
        self._rows: deque[tuple[float, bytes]] = deque()

    def add_row(self, row: Sequence[float]) -> None:
        """Keep a row, where enough time has passed since the last one; a clock that runs back begins anew."""
        time, last = row[0], self._rows[-1][0] if self._rows else -1.0
        if time < last:
            self._rows.clear()
        elif not time - last >= HISTORY_INTERVAL:  # false for NaN too
            return
        self._rows.append((time, struct.pack(f"<{len(row)}d", *row)))
        while self._rows[0][0] < time - HISTORY_S:
            self._rows.popleft()

    def encode_rows(self) -> bytes:
        """Return the rows, oldest first, as little-endian doubles."""
        return b"".join(data for _, data in self._rows)
