"""Settings of the recorder: YAML files in the format of an existing recorder, and flags of the same names.

Source: protocol page forza-data-out, section 4.1. The file takes precedence over the flags; unknown keys are ignored;
every key is optional.
"""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from trailbrake.errors import UsageError, suggest_names
from trailbrake.sims.forza import tables
from trailbrake.sims.forza.codec import ALIASES, LENGTHS
from trailbrake.sims.forza.spec import AUTO
from trailbrake.user_files import parse_yaml, read_user_text

PACKET_FORMATS = (AUTO, *LENGTHS, *ALIASES)
TABLE_FORMATS = ("tsv", "csv")
MAX_BYTES = 100_000  # of a settings file


@dataclass(frozen=True, slots=True)
class RecorderSettings:
    """What a recorder receives and writes.

    Attributes:
        port: UDP port to listen on; None = not set.
        output_filename: the table's file; None = not set.
        format: "tsv" or "csv".
        append: whether to append to an existing file, without a header.
        packet_format: expected format: "sled", "dash", "fh" (or "fh4"), "fm2023", or "auto" for any. Packets are always
            decoded by their length; the recorder warns once if it is another format.
        parameter_list: columns in order; empty = all fields of the format.
    """

    port: int | None = None
    output_filename: Path | None = None
    format: str = "tsv"
    append: bool = False
    packet_format: str = AUTO
    parameter_list: tuple[str, ...] = ()

    @property
    def expected(self) -> str:
        """The expected packet format without aliases; "auto" for any."""
        return ALIASES.get(self.packet_format, self.packet_format)


def load_settings(path: str | Path, flags: RecorderSettings | None = None) -> RecorderSettings:
    """Return the settings of a YAML file; keys that it does not have come from the flags.

    Raises:
        UsageError: the file cannot be read, or a value is not valid for its key.
        DataError: it is not YAML.
    """
    where = str(path)
    values = parse_yaml(read_user_text(path, "settings", MAX_BYTES), where)
    if values is None:
        values = {}
    if not isinstance(values, dict):
        raise UsageError("no settings", where=where, expected="KEY: VALUE lines", got=type(values).__name__)
    return replace(flags or RecorderSettings(), **_check_values(values, where))


def check_settings(settings: RecorderSettings, where: str = "record") -> RecorderSettings:
    """Return the settings of the flags; UsageError for a value that is not valid for its key."""
    given = {name: getattr(settings, name) for name in RecorderSettings.__slots__}
    return replace(settings, **_check_values({k: v for k, v in given.items() if v is not None}, where))


def _check_values(values: dict[Any, Any], where: str) -> dict[str, Any]:
    known: dict[str, Any] = {}
    for key, value in values.items():
        at = f"{where}: {key}"
        if key == "port":
            known[key] = _parse_port(value, at)
        elif key == "output_filename":
            known[key] = Path(str(value))
        elif key == "format":
            known[key] = _parse_choice(value, TABLE_FORMATS, at)
        elif key == "packet_format":
            known[key] = _parse_choice(value, PACKET_FORMATS, at)
        elif key == "append":
            known[key] = _parse_flag(value, at)
        elif key == "parameter_list":
            if not isinstance(value, list | tuple):
                raise UsageError("no list", where=at, expected="lines of - NAME", got=str(value))
            known[key] = tables.check_columns(value, at)
    return known


def _parse_port(value: Any, where: str) -> int:
    text = str(value)
    if isinstance(value, bool) or not text.isdecimal() or len(text) > 5 or int(text) > 65535:
        raise UsageError("no port", where=where, expected="0..65535", got=text[:80])
    return int(value)


def _parse_choice(value: Any, choices: tuple[str, ...], where: str) -> str:
    text = str(value).lower()
    if text not in choices:
        raise UsageError("no such format", where=where, got=str(value), hint=suggest_names(text, choices))
    return text


def _parse_flag(value: Any, where: str) -> bool:
    if isinstance(value, bool):
        return value
    if str(value).lower() in ("true", "false"):
        return str(value).lower() == "true"
    raise UsageError("neither true nor false", where=where, expected="True or False", got=str(value))
