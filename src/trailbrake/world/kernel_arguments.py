"""What the world's kernels take as one argument each: the cars, the road under them, and the length of a step.

Between compiled functions a NamedTuple costs nothing. From Python, bind it with `kernels.bind_entry`.
"""

from typing import NamedTuple

from trailbrake.tracks.frenet import RoadTable
from trailbrake.world.row_layout import Array, Ints


class CarBlocks(NamedTuple):
    """The cars of a `Batch`, in blocks as in `row_layout`.

    Attributes:
        cars: (blocks, ControlRow.COUNT * LANES) state and controls.
        params: (kinds, (AxleRow.COUNT - WorkRow.COUNT) * LANES) the rows from WorkRow.COUNT on of each kind of block.
        kinds: (blocks,) int64, the row of `params` of each block.
        maps: (models, MAP_POINTS) full-throttle torque, N m.
        n: number of cars; the last block may have unused lanes.
        contact_range: m; two cars whose centres of mass are further apart never touch.
    """

    cars: Array
    params: Array
    kinds: Ints
    maps: Array
    n: int
    contact_range: float


class RoadTables(NamedTuple):
    """The road under the cars.

    Attributes:
        table: the road's own table.
        segments: (rows, SegmentColumn.COUNT) values at each row and their change to the next, see `segment_table`.
        off_grip: friction factor beyond road and kerbs.
        off_rolling: additional rolling resistance there.
    """

    table: RoadTable
    segments: Array
    off_grip: float
    off_rolling: float


class StepPlan(NamedTuple):
    """How far one call advances the cars.

    Attributes:
        dt: s, length of a substep.
        period: s, `dt * substeps`.
        substeps: number of substeps; 0 only projects the cars on the road, without contacts.
    """

    dt: float
    period: float
    substeps: int


class BlockShare(NamedTuple):
    """How threads share the blocks of a step. Parts and chunks contain whole groups of cars.

    Attributes:
        part: number of the part that this thread owns.
        parts: number of parts, one for each thread.
        part_blocks: blocks in a part.
        chunk: blocks that a thread takes at once.
        blocks: blocks in all.
    """

    part: int
    parts: int
    part_blocks: int
    chunk: int
    blocks: int
