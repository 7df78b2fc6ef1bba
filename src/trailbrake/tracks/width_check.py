"""Whether a car fits on a track: checked before a drive, with the narrowest place in the error."""

from trailbrake.errors import DataError
from trailbrake.tracks.road_columns import RoadColumn
from trailbrake.tracks.track import Track

SIDE_MARGIN = 0.2  # m, the least room on either side of the car


def narrowest_width(track: Track) -> tuple[float, float]:
    """Return s (m) and the width (m, edge to edge) of the narrowest place of the track's road."""
    road = track.road
    width = road.column(RoadColumn.WIDTH_LEFT) + road.column(RoadColumn.WIDTH_RIGHT)
    row = int(width.argmin())
    return row * road.spacing, float(width[row])


def check_car_fits(track: Track, width: float, where: str) -> None:
    """Raise DataError for a road that is somewhere narrower than a car and `SIDE_MARGIN` on either side.

    Args:
        track: to drive on.
        width: m, of the widest car.
        where: names the car and the track in the error.

    Raises:
        DataError: naming the narrowest place and what to try.
    """
    s, found = narrowest_width(track)
    if not found >= width + 2.0 * SIDE_MARGIN:
        raise DataError(
            f"track {track.name} is too narrow for the car",
            where=where,
            expected=f"{width + 2.0 * SIDE_MARGIN:.2f} m or more (the car is {width:.2f} m wide)",
            got=f"{found:.2f} m at s = {s:.0f} m",
            hint="take a narrower car, or mend the widths of the track there",
        )
