"""`data/surfaces.ini`: the surfaces of a track, and whether other programs may drive on it.

Source: protocol page assetto-custom-ai, sections 7 and 8.
"""

import re
from dataclasses import dataclass

from trailbrake.sims.assetto.install import ini

_SURFACE = re.compile(r"SURFACE_[0-9]{1,5}")
PERMISSIONS, ALLOW = "_EXTRA_PERMISSIONS", "ALLOW_CUSTOM_AI_MANIPULATION"
EXTENDED = "extended-"  # before the first surface's WAV_PITCH: extended physics. The game without the patch dies of it.


@dataclass(frozen=True)
class SurfaceSection:
    """One `[SURFACE_k]`: a mesh whose name is a digit and `key` is made of it.

    Attributes:
        key: its name.
        friction: of the ground, 1 = the reference asphalt.
        valid: whether it counts as track.
        pit_lane: whether it is one.
        damping: rolling resistance, as the game counts it.
        wav_pitch: sound pitch; also the request for extended physics.
    """

    key: str
    friction: float
    valid: bool = True
    pit_lane: bool = False
    damping: float = 0.0
    wav_pitch: str = "0"


@dataclass(frozen=True)
class SurfacesFile:
    """A whole file.

    Attributes:
        surfaces: in the order of their numbers.
        allows_custom_ai: whether the permission for Custom AI is granted.
        extended: whether the file requests extended physics.
    """

    surfaces: tuple[SurfaceSection, ...]
    allows_custom_ai: bool
    extended: bool


def decode_surfaces(data: bytes, where: str = "surfaces.ini") -> SurfacesFile:
    """Decode a file; a value that is no number counts as missing.

    Raises:
        DataError: not a text file.
    """
    sections = ini.parse_ini(data, where)
    surfaces = tuple(
        SurfaceSection(
            ini.decode_text(sections[name].get("KEY", "")),
            ini.read_number(sections, name, "FRICTION", 1.0),
            ini.read_number(sections, name, "IS_VALID_TRACK", 1.0) != 0.0,
            ini.read_number(sections, name, "IS_PITLANE", 0.0) != 0.0,
            ini.read_number(sections, name, "DAMPING", 0.0),
            sections[name].get("WAV_PITCH", ""),
        )
        for name in _list_surfaces(sections)
    )
    return SurfacesFile(
        surfaces,
        ini.read_number(sections, PERMISSIONS, ALLOW, 0.0) != 0.0,
        bool(surfaces) and surfaces[0].wav_pitch.lower().startswith(EXTENDED),
    )


def _list_surfaces(sections: ini.Sections) -> list[str]:
    """Return the names of the sections of surfaces in the order of their numbers."""
    return sorted(filter(_SURFACE.fullmatch, sections), key=lambda name: (int(name.partition("_")[2]), name))


def encode_surfaces(surfaces: SurfacesFile) -> bytes:
    """Return the text of the file of `surfaces`, with the line ends of Windows."""
    lines: list[str] = []
    for index, surface in enumerate(surfaces.surfaces):
        pitch = surface.wav_pitch
        if surfaces.extended and index == 0 and not pitch.startswith(EXTENDED):
            pitch = EXTENDED + pitch
        lines += [
            f"[SURFACE_{index}]", f"KEY={surface.key}", f"FRICTION={surface.friction:g}",
            f"DAMPING={surface.damping:g}", "WAV=", f"WAV_PITCH={pitch}", "FF_EFFECT=NULL", "DIRT_ADDITIVE=0",
            f"IS_VALID_TRACK={surface.valid:d}", "BLACK_FLAG_TIME=0", "SIN_HEIGHT=0", "SIN_LENGTH=0",
            f"IS_PITLANE={surface.pit_lane:d}", "VIBRATION_GAIN=0", "VIBRATION_LENGTH=0", "",
        ]  # fmt: skip
    if surfaces.allows_custom_ai:
        lines += [f"[{PERMISSIONS}]", f"{ALLOW}=1", ""]
    return "\r\n".join(lines).encode()


def permit_custom_ai(data: bytes, *, extended: bool, where: str = "surfaces.ini") -> bytes:
    """Return the file with Custom AI permitted; all other bytes stay.

    Args:
        data: the file.
        extended: whether to request extended physics too. It changes the file's checksum either way; this also keeps
            the game from starting without its patch.
        where: the file's name in errors.

    Raises:
        DataError: not a text file.
    """
    data = ini.set_value(data, PERMISSIONS, ALLOW, "1", where)
    now = decode_surfaces(data, where)
    if extended and now.surfaces and not now.extended:
        first = _list_surfaces(ini.parse_ini(data, where))[0]
        data = ini.set_value(data, first, "WAV_PITCH", EXTENDED + (now.surfaces[0].wav_pitch or "0"), where)
    return data
