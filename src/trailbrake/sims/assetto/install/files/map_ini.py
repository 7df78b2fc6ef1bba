"""`data/map.ini`: position and scale of the picture `map.png` of a track.

Source: protocol page assetto-custom-ai, section 7, where the rule from metres to pixels is inferred; the tool that
`map_png` names writes files by the same rule, and its WIDTH and HEIGHT are without the margins.
"""

from dataclasses import astuple, dataclass, fields
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

SECTION = "PARAMETERS"
Metres = TypeVar("Metres", float, NDArray[np.float64])


@dataclass(frozen=True)
class MapParameters:
    """The parameters, named as in the file.

    Attributes:
        width: of the picture without its margins, px.
        height: of the picture without its margins, px.
        x_offset: m, added to the game's x.
        z_offset: m, added to the game's z.
        margin: px around the track, on every side.
        scale_factor: m per px.
        drawing_size: px, of the dots that the game draws.
    """

    width: float
    height: float
    x_offset: float
    z_offset: float
    margin: float = 20.0
    scale_factor: float = 1.0
    drawing_size: float = 10.0

    def to_pixel(self, x: Metres, z: Metres) -> tuple[Metres, Metres]:
        """Return the pixel (from the left and the top edge) of the point x, z (m, the game's world)."""
        return (x + self.x_offset) / self.scale_factor, (z + self.z_offset) / self.scale_factor


def encode_map_ini(parameters: MapParameters) -> bytes:
    """Return the text of a file, with the line ends of Windows."""
    pairs = zip(fields(MapParameters), astuple(parameters), strict=True)
    lines = [f"[{SECTION}]", *(f"{field.name.upper()}={value:.6g}" for field, value in pairs), ""]
    return "\r\n".join(lines).encode()
