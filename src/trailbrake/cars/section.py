"""The base of all sections of a car file, and declarations of value ranges."""

from typing import Annotated

import msgspec
from msgspec import Meta


def positive_value(text: str) -> Meta:
    """Return the declaration of a value above 0; `text` is unit and meaning."""
    return Meta(gt=0.0, description=text)


def non_negative_value(text: str) -> Meta:
    """Return the declaration of a value of 0 or more; `text` is unit and meaning."""
    return Meta(ge=0.0, description=text)


def unit_fraction(text: str) -> Meta:
    """Return the declaration of a value from 0 to 1; `text` is unit and meaning."""
    return Meta(ge=0.0, le=1.0, description=text)


class Section(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A table of a car file. Unknown keys raise an error."""

    source: Annotated[str, Meta(description="where the numbers of this section come from")] = ""
