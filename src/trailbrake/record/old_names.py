"""A DataFrame of pandas that still takes the names of columns before version 0.4: `speed_mps` for `speed`."""

import warnings
from typing import Any

import pandas


class OldNamesFrame(pandas.DataFrame):
    """A table whose `attrs["old_names"]` has the present name of each old one."""

    @property
    def _constructor(self) -> Any:
        return OldNamesFrame

    def __getitem__(self, key: Any) -> Any:
        old_names = self.attrs.get("old_names", {})
        keys = key if isinstance(key, list) else [key]
        used = [name for name in keys if isinstance(name, str) and name in old_names and name not in self.columns]
        if used:
            changed = ", ".join(f"{name} is {old_names[name]}" for name in used)
            warnings.warn(f"columns have other names now: {changed}", FutureWarning, stacklevel=2)
            keys = [old_names[name] if name in used else name for name in keys]
            key = keys if isinstance(key, list) else keys[0]
        return super().__getitem__(key)
