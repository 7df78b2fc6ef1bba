"""`data/map.ini`: how the picture `map.png` of a track lies in the world.

Source: protocol page assetto-custom-ai, section 7, where the rule from metres to pixels is inferred; the tool that
`map_png` names writes files by the same rule, and its WIDTH and HEIGHT are without the margins.
"""

from dataclasses import astuple, dataclass, fields
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from trailbrake.errors import DataError
from trailbrake.sims.assetto.files import ini

SECTION = "PARAMETERS"
Metres = TypeVar("Metres", float, NDArray[np.float64])


@dataclass(frozen=True)
class Map:
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

    def pixel(self, x: Metres, z: Metres) -> tuple[Metres, Metres]:
        """Return where in the picture (px from its left and top edge) the place x, z (m, the game's world) is."""
        return (x + self.x_offset) / self.scale_factor, (z + self.z_offset) / self.scale_factor


def decode(data: bytes, where: str = "map.ini") -> Map:
    """Decode a file.

    Raises:
        DataError: no text file, or a parameter is missing or no number.
    """
    sections = ini.parse(data, where)
    values = []
    for field in fields(Map):
        key = field.name.upper()
        value = ini.number(sections, SECTION, key, float("nan"))
        if not abs(value) < 1e9 or (field.name == "scale_factor" and value <= 0.0):
            got = ini.text(sections.get(SECTION, {}).get(key, "nothing"))
            raise DataError("a parameter of the map is no number", where=f"{where}: {key}", got=got)
        values.append(value)
    return Map(*values)


def encode(parameters: Map) -> bytes:
    """Return the text of a file, with the line ends of Windows."""
    pairs = zip(fields(Map), astuple(parameters), strict=True)
    lines = [f"[{SECTION}]", *(f"{field.name.upper()}={value:.6g}" for field, value in pairs), ""]
    return "\r\n".join(lines).encode()
