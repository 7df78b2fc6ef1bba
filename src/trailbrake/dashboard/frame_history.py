"""`FrameHistory`: the frames of the last half minute, for pages that are opened later."""

import struct
from collections import deque
from collections.abc import Sequence

HISTORY_S = 30.0  # s of simulator time: what a chart shows
HISTORY_INTERVAL = 1.0 / 30.0  # s of simulator time between kept frames


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
