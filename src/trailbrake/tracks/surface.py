"""What a wheel stands on: road, kerb or the ground beside it; compiled, one call per wheel.

A kerb's profile, seen across it, rises by a smooth step from the road's edge to `KERB_HEIGHT` over the first part of
its width, and falls by one to the ground over the rest, so that a wheel meets no edge from either side. Its teeth
stand on that: waves along the road which the eye sees as teeth, without their corners. Where a kerb narrows at its
ends, it is lower by the same share.

The edge of the track is the edge of the road. Kerbs are not part of the track, as in motor sport's own rule (FIA
International Sporting Code, appendix L, chapter IV: the white lines are part of the track, the kerbs are not). So a
wheel on a kerb is off the track; but a lap stands while two wheels are on the track (`laps`), and a car that takes
a kerb with two wheels loses nothing.
"""

from trailbrake.kernels import inline, jit
from trailbrake.kernels.maths import cos_turns
from trailbrake.tracks.columns import Column
from trailbrake.tracks.frenet import Array, span
from trailbrake.tracks.kerbs import WIDTH
from trailbrake.tracks.track import SURFACES

KERB_HEIGHT = 0.04  # m; circuits have 25 to 50 mm (FIA's circuit guidelines; the shape is an estimate)
KERB_RISE = 0.65  # share of the width over which a kerb rises; it falls over the rest
KERB_TEETH = 0.006  # m from the foot to the top of a tooth (estimate)
KERB_PITCH = 0.6  # m along the road from one tooth to the next (estimate)
_KERB_GRIP = SURFACES["kerb"].grip
_KERB_SOFT = SURFACES["kerb"].rolling


@inline
def kerb_profile(s: float, across: float, width: float) -> float:
    """As `kerb_height`, compiled into its callers."""
    w = across / width
    rise = min(w * (1.0 / KERB_RISE), (1.0 - w) * (1.0 / (1.0 - KERB_RISE)))
    rise = max(rise, 0.0)
    body = rise * rise * (3.0 - 2.0 * rise) * min(width * (1.0 / WIDTH), 1.0)
    cosine = cos_turns(s * (1.0 / KERB_PITCH))
    return body * (KERB_HEIGHT - KERB_TEETH + KERB_TEETH * (0.5 - 0.5 * cosine))


@jit
def kerb_height(s: float, across: float, width: float) -> float:
    """Return the height (m) of a kerb above the road's plane, continuous with its slope in both directions.

    Args:
        s: m along the road; gives the teeth.
        across: m outward from the road's edge, 0 .. width.
        width: m, of the kerb there, > 0.
    """
    return kerb_profile(s, across, width)


@jit
def surface_between(
    table: Array, i: int, j: int, u: float, s: float, offset: float, off_grip: float, off_soft: float
) -> tuple[float, float, float, bool]:
    """As `surface_at`, for who has the rows i, j and the share u of a place near s already (`frenet.span`).

    u may lie a little outside 0 .. 1: a wheel may be looked up by the rows of its car.
    """
    grip: float = table[i, Column.GRIP] + u * (table[j, Column.GRIP] - table[i, Column.GRIP])
    side = Column.WIDTH_LEFT if offset > 0.0 else Column.WIDTH_RIGHT
    across = abs(offset) - (table[i, side] + u * (table[j, side] - table[i, side]))
    if across <= 0.0:
        return grip, 0.0, 0.0, True
    side = Column.KERB_LEFT if offset > 0.0 else Column.KERB_RIGHT
    kerb = table[i, side] + u * (table[j, side] - table[i, side])
    if across < kerb:
        return grip * _KERB_GRIP, _KERB_SOFT, kerb_height(s, across, kerb), False
    return off_grip, off_soft, 0.0, False


@jit
def surface_at(
    table: Array, spacing: float, closed: bool, s: float, offset: float, off_grip: float, off_soft: float
) -> tuple[float, float, float, bool]:
    """Return what a wheel meets: grip (factor), extra rolling resistance, height (m) above the plane, on the track.

    Args:
        table: the road's table.
        spacing: m between rows.
        closed: whether row n is row 0.
        s: m along the road, wrapped or held at the ends as `frenet.span` does.
        offset: m left of the centreline.
        off_grip: grip of the ground beside road and kerbs, `Track.off_road.grip`.
        off_soft: its extra rolling resistance, drag over load, `Track.off_road.rolling`.

    Returns:
        grip and rolling as in `tracks.track.Surface`; the height is that above the road's banked plane and not 0 on
        kerbs only; on the track means at most at the road's edge, kerbs not counted.
    """
    i, j, u = span(table, spacing, closed, s)
    return surface_between(table, i, j, u, s, offset, off_grip, off_soft)
