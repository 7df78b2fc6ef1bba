"""`map.png`: a track seen from above, white on transparent, and its position in the world.

Source: gro-ove/actools, AcTools.Render/Kn5SpecificSpecial/TrackMapRenderer.cs, the tool that most tracks' maps are made
with: the picture is WIDTH + 2 MARGIN by HEIGHT + 2 MARGIN px, the game's x goes to the right and its z down.
"""

from collections.abc import Sequence
from io import BytesIO

import numpy as np
from numpy.typing import NDArray

from trailbrake.sims.assetto.install.files.map_ini import MapParameters

SIZE = 1000.0  # px, the longer side of the track
MARGIN = 20.0  # px around it
_MIN_ROAD_PX = 3.0  # px: a narrower road is drawn so wide, to be seen
_SUPERSAMPLING = 4  # a pixel is so many by so many while the road is drawn, so that its edges come out soft

Array = NDArray[np.float64]
Strip = tuple[Array, Array]  # left and right edge of a road, (n, 2) x and z each, m, the game's world


def fit_map(strips: Sequence[Strip]) -> MapParameters:
    """Return the parameters of a map that shows all roads."""
    places = np.concatenate([edge for strip in strips for edge in strip])
    (x0, z0), (x1, z1) = places.min(axis=0).tolist(), places.max(axis=0).tolist()
    scale = max(x1 - x0, z1 - z0, 1.0) / SIZE
    width, height = (float(np.ceil((high - low) / scale - 1e-6)) for low, high in ((x0, x1), (z0, z1)))
    edge = MARGIN * scale
    return MapParameters(width, height, x_offset=edge - x0, z_offset=edge - z0, margin=MARGIN, scale_factor=scale)


def encode_map_png(parameters: MapParameters, strips: Sequence[Strip]) -> bytes:
    """Return the picture, as a PNG.

    Args:
        parameters: its size, and where in the world it lies.
        strips: the roads; the last row of a circuit is its first.
    """
    from PIL import Image, ImageDraw

    size = tuple(round(side + 2.0 * parameters.margin) for side in (parameters.width, parameters.height))
    fine = Image.new("L", (_SUPERSAMPLING * size[0], _SUPERSAMPLING * size[1]))
    draw = ImageDraw.Draw(fine)
    for left, right in strips:
        corners = [
            _SUPERSAMPLING * np.column_stack(parameters.to_pixel(edge[:, 0], edge[:, 1])) for edge in (left, right)
        ]
        quads = np.column_stack([corners[0][:-1], corners[0][1:], corners[1][1:], corners[1][:-1]])
        for quad in quads.tolist():
            draw.polygon(quad, fill=255)
        middle = (0.5 * (corners[0] + corners[1])).tolist()
        draw.line(
            [tuple(place) for place in middle], fill=255, width=round(_SUPERSAMPLING * _MIN_ROAD_PX), joint="curve"
        )
        for place in (middle[0], middle[-1]):
            draw.circle(place, 0.5 * _SUPERSAMPLING * _MIN_ROAD_PX, fill=255)
    picture = Image.new("RGBA", (size[0], size[1]), (255, 255, 255, 0))
    picture.putalpha(fine.reduce(_SUPERSAMPLING))
    data = BytesIO()
    picture.save(data, "PNG")
    return data.getvalue()
