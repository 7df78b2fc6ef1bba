"""Settings of the recorder: the YAML files that the recorder of others made usual, and flags of the same names.

Source: protocol page forza-data-out, section 4.1. What the file says goes before the flags; keys that nobody knows are
left alone; every key may be missing.
"""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from trailbrake.errors import UsageError, near
from trailbrake.sims.forza import columns
from trailbrake.sims.forza.codec import ALIASES, LENGTHS
from trailbrake.sims.forza.spec import AUTO

PACKET_FORMATS = (AUTO, *LENGTHS, *ALIASES)
TABLE_FORMATS = ("tsv", "csv")


@dataclass(frozen=True, slots=True)
class Settings:
    """What a recorder writes.

    Attributes:
        port: UDP port to listen on; None: not said.
        output_filename: the table's file; None: not said.
        format: "tsv" or "csv".
        append: whether to go on in a file that is there, without a header.
        packet_format: what is expected: "sled", "dash", "fh" (or "fh4"), "fm2023", or "auto" for whatever comes.
            Packets are always decoded by their length; where it contradicts, that is said once.
        parameter_list: columns in order; empty: all fields of the format.
    """

    port: int | None = None
    output_filename: Path | None = None
    format: str = "tsv"
    append: bool = False
    packet_format: str = AUTO
    parameter_list: tuple[str, ...] = ()

    @property
    def expected(self) -> str:
        """The packet format under its own name; "auto" for any."""
        return ALIASES.get(self.packet_format, self.packet_format)


def load(path: str | Path, flags: Settings | None = None) -> Settings:
    """Return the settings of a YAML file, over those of the flags.

    Raises:
        UsageError: there is no such file, it is not YAML, or a value is not what its key takes.
    """
    import yaml

    where = str(path)
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except OSError as error:
        raise UsageError("cannot read the settings", where=where, got=error.strerror or str(error)) from error
    except UnicodeDecodeError as error:
        raise UsageError("the settings are not text", where=where, expected="UTF-8") from error
    try:
        values = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise UsageError(f"not YAML: {' '.join(str(error).split())}", where=where) from error
    if values is None:
        values = {}
    if not isinstance(values, dict):
        raise UsageError("no settings", where=where, expected="KEY: VALUE lines", got=type(values).__name__)
    return replace(flags or Settings(), **_checked(values, where))


def check(settings: Settings, where: str = "record") -> Settings:
    """Return settings that were made of flags; UsageError where a value is not what its key takes."""
    given = {name: getattr(settings, name) for name in Settings.__slots__}
    return replace(settings, **_checked({k: v for k, v in given.items() if v is not None}, where))


def _checked(values: dict[Any, Any], where: str) -> dict[str, Any]:
    known: dict[str, Any] = {}
    for key, value in values.items():
        at = f"{where}: {key}"
        if key == "port":
            known[key] = _port(value, at)
        elif key == "output_filename":
            known[key] = Path(str(value))
        elif key == "format":
            known[key] = _choice(value, TABLE_FORMATS, at)
        elif key == "packet_format":
            known[key] = _choice(value, PACKET_FORMATS, at)
        elif key == "append":
            known[key] = _flag(value, at)
        elif key == "parameter_list":
            if not isinstance(value, list | tuple):
                raise UsageError("no list", where=at, expected="lines of - NAME", got=str(value))
            known[key] = columns.check(value, at)
    return known


def _port(value: Any, where: str) -> int:
    if isinstance(value, bool) or not str(value).isdecimal() or not 0 <= int(value) <= 65535:
        raise UsageError("no port", where=where, expected="0..65535", got=str(value))
    return int(value)


def _choice(value: Any, choices: tuple[str, ...], where: str) -> str:
    text = str(value).lower()
    if text not in choices:
        raise UsageError("no such format", where=where, got=str(value), hint=near(text, choices))
    return text


def _flag(value: Any, where: str) -> bool:
    if isinstance(value, bool):
        return value
    if str(value).lower() in ("true", "false"):
        return str(value).lower() == "true"
    raise UsageError("neither true nor false", where=where, expected="True or False", got=str(value))
