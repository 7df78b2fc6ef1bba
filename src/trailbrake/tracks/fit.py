"""Whether a car fits on a track: checked before anything moves, with the narrowest place in the error."""

from trailbrake.errors import DataError
from trailbrake.tracks.columns import Column
from trailbrake.tracks.track import Track

MARGIN = 0.2  # m on either side of the car that a road must leave


def narrowest(track: Track) -> tuple[float, float]:
    """Return s (m) and the width (m, edge to edge) of the narrowest place of the track's road."""
    road = track.road
    width = road.column(Column.WIDTH_LEFT) + road.column(Column.WIDTH_RIGHT)
    row = int(width.argmin())
    return row * road.spacing, float(width[row])


def check_fit(track: Track, width: float, where: str) -> None:
    """Refuse a road that is narrower somewhere than a car and `MARGIN` on either side.

    Args:
        track: where to drive.
        width: m, of the widest car.
        where: what to name in the error: the car and the track that were asked for.

    Raises:
        DataError: naming the narrowest place and what to try.
    """
    s, found = narrowest(track)
    if not found >= width + 2.0 * MARGIN:
        raise DataError(
            f"track {track.name} is too narrow for the car",
            where=where,
            expected=f"{width + 2.0 * MARGIN:.2f} m or more (the car is {width:.2f} m wide)",
            got=f"{found:.2f} m at s = {s:.0f} m",
            hint="take a narrower car, or mend the widths of the track there",
        )
