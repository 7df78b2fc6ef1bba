"""A drive at a glance, for a notebook: the road with the path of the best lap, and its speed, as SVG."""

import numpy as np
from numpy.typing import NDArray

from trailbrake.pages.svg_chart import ChartFrame, draw_polyline, find_range
from trailbrake.record import Recording
from trailbrake.units import KMH

MOST_POINTS = 600  # of a curve
_SIZE, _MARGIN = 250.0, 8.0  # pixels of the map
_STYLE = """<style>.trailbrake { display: flex; flex-wrap: wrap; } .trailbrake figure { margin: 0 12px 0 0; }
.trailbrake polyline { fill: none; stroke: #d55e00; stroke-width: 2; }
.trailbrake .edge { stroke: #888; stroke-width: 1; } .trailbrake .grid { stroke: #8884; }
.trailbrake text { fill: currentColor; font-size: 12px; }</style>"""


def draw_recording(recording: Recording) -> str:
    """Return HTML: the road and the path of the best lap, or of the whole drive without laps, and the speed over time.

    "" where the simulator supplied neither places nor speeds.
    """
    rows = slice(0, len(recording))
    name = "the drive"
    if recording.laps:
        best = recording.laps.best()
        rows, name = slice(best.first, best.row), f"lap {best.number}"
    step = max(1, (rows.stop - rows.start) // MOST_POINTS)
    state = recording.read_rows(slice(rows.start, rows.stop, step), ("x", "y", "speed", "time"), ()).state
    time, speed = state["time"] - state["time"][:1], state["speed"] / KMH
    frame = ChartFrame(find_range([time]), (0.0, max(find_range([speed])[1], 1.0)))
    chart = frame.draw_figure(f"speed of {name}, km/h over s", frame.draw_curve("one", time, speed))
    parts = [_draw_map(recording, np.column_stack([state["x"], state["y"]]), f"path of {name}")]
    parts += [chart] if np.isfinite(speed).any() else []
    return f'{_STYLE}<div class="trailbrake">{"".join(parts)}</div>' if any(parts) else ""


def _draw_map(recording: Recording, path: NDArray[np.float64], title: str) -> str:
    road = recording.road_map
    edges = [] if road is None else [np.vstack([edge, edge[: int(road.closed)]]) for edge in (road.left, road.right)]
    lines = [("edge", edge) for edge in edges] + [("one", path)]
    points = np.concatenate([line for _, line in lines])
    points = points[np.isfinite(points).all(axis=1)]
    if not len(points):
        return ""
    low, extent = points.min(axis=0), max(float(np.ptp(points, axis=0).max()), 1.0)
    scale = (_SIZE - 2.0 * _MARGIN) / extent
    drawn = "".join(
        draw_polyline(style, _MARGIN + (line[:, 0] - low[0]) * scale, _SIZE - _MARGIN - (line[:, 1] - low[1]) * scale)
        for style, line in lines
    )
    return (f'<figure><svg width="{_SIZE:g}" height="{_SIZE:g}" role="img" aria-label="{title}">{drawn}</svg>'
            f"<figcaption>{title}</figcaption></figure>")  # fmt: skip
