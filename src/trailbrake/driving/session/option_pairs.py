"""`change_options`: options as KEY=VALUE texts, for flags that carry the options of something else."""

from collections.abc import Sequence
from dataclasses import asdict, fields, is_dataclass, replace
from pathlib import Path
from typing import TypeVar

from trailbrake.errors import UsageError, suggest_names

Options = TypeVar("Options")


def change_options(base: Options, pairs: Sequence[str], flag: str, owner: str) -> Options:
    """Return a dataclass of options with the values of `pairs`, converted to the types of its fields.

    Args:
        base: the dataclass.
        pairs: KEY=VALUE; in keys, - stands for _.
        flag: where the pairs come from, for errors.
        owner: what has the options, for errors.

    Raises:
        UsageError: no such option, or a value that it cannot have.
    """
    import msgspec

    assert is_dataclass(base)
    assert not isinstance(base, type)
    known = [item.name for item in fields(base)]
    values = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        name = name.replace("-", "_")
        if not equals or name not in known:
            raise UsageError(f"no such option of {owner}", where=f"{flag} {pair}",
                             expected="KEY=VALUE", hint=suggest_names(name, known))  # fmt: skip
        values[name] = value
    try:
        converted = msgspec.convert(values, type(base), strict=False, dec_hook=_convert_path)  # numbers come as text
    except msgspec.ValidationError as error:
        raise UsageError(str(error), where=f"{flag} {' '.join(pairs)}") from error
    given = asdict(converted)
    changed: Options = replace(base, **{name: given[name] for name in values})
    return changed


def _convert_path(wanted: type, value: object) -> object:
    """Return the path of a text; TypeError for another type that msgspec does not know."""
    if wanted is Path and isinstance(value, str):
        return Path(value)
    raise TypeError(f"Expected `{wanted.__name__}`, got `{type(value).__name__}`")
