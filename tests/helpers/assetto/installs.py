"""Made-up installations of the game."""

from pathlib import Path

SURFACES = (
    b"[SURFACE_0]\r\nKEY=ROAD\r\nFRICTION=0.98\r\nWAV_PITCH=0\r\nIS_VALID_TRACK=1\r\n\r\n"
    b"[SURFACE_1]\r\nKEY=GRASS\r\nFRICTION=0.6\r\nIS_VALID_TRACK=0\r\n"
)
BEHAVIOUR = (
    b"\xef\xbb\xbf[BASIC]\r\nENABLED=1 ; Active ; boolean\r\n\r\n[CUSTOM_AI]\r\nENABLED=0 ; Let in ; boolean\r\n"
)


def put(path: Path, data: bytes = b"") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def game(root: Path, *, patch=True, behaviour=BEHAVIOUR) -> Path:
    """An installation with two tracks, one of which has layouts."""
    put(root / "acs.exe")
    if patch:
        put(root / "dwrite.dll")
        put(root / "extension" / "config" / "data_manifest.ini", b"[VERSION]\r\nSHADERS_PATCH=0.2.8\r\n")
    if behaviour is not None and patch:
        put(root / "extension" / "config" / "new_behaviour.ini", behaviour)
    put(root / "content" / "tracks" / "imola" / "data" / "surfaces.ini", SURFACES)
    for layout in ("gp", "sprint"):
        put(root / "content" / "tracks" / "nur" / layout / "data" / "surfaces.ini", SURFACES)
    return root


def steam(folder: Path, *libraries: Path, at="steamapps") -> Path:
    """A folder of Steam whose list names libraries."""
    entries = "".join(
        f'\t"{i}"\n\t{{\n\t\t"path"\t\t"{str(path).replace(chr(92), chr(92) * 2)}"\n\t\t"apps"\n\t\t{{\n'
        f'\t\t\t"244210"\t\t"20000000000"\n\t\t}}\n\t}}\n'
        for i, path in enumerate(libraries)
    )
    put(folder / at / "libraryfolders.vdf", f'"libraryfolders"\n{{\n{entries}}}\n'.encode())
    return folder


def tree(root: Path) -> dict[str, bytes]:
    return {p.relative_to(root).as_posix(): p.read_bytes() for p in sorted(root.rglob("*")) if p.is_file()}
