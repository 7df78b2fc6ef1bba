"""What every section of a car file has, and short words for the ranges of its values."""

from typing import Annotated

import msgspec
from msgspec import Meta


def positive(text: str) -> Meta:
    """Return the declaration of a value above 0; `text` is unit and meaning."""
    return Meta(gt=0.0, description=text)


def not_negative(text: str) -> Meta:
    """Return the declaration of a value of 0 or more; `text` is unit and meaning."""
    return Meta(ge=0.0, description=text)


def share(text: str) -> Meta:
    """Return the declaration of a value from 0 to 1; `text` is unit and meaning."""
    return Meta(ge=0.0, le=1.0, description=text)


class Section(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A table of a car file. Keys that are not declared are refused."""

    source: Annotated[str, Meta(description="where the numbers of this section come from")] = ""
