"""What a target is: a decoder or a loader that receives any bytes and may raise nothing but its declared errors."""

import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from trailbrake.errors import TrailbrakeError

SEEDS = Path(__file__).with_name("seeds")
MOST_LINE = 1500  # characters of an error's line
MOST_CPU_S = 5.0  # of one case; a few kilobytes take milliseconds
_FOLDERS: list[tempfile.TemporaryDirectory[str]] = []  # removed when the process ends


class FindingError(AssertionError):
    """A case that raised something undeclared, said too much, or took too long."""


@dataclass(frozen=True)
class FuzzTarget:
    """One decoder or loader.

    Attributes:
        name: also of the folder of its seeds.
        run: processes the bytes of a case.
        tokens: pieces of its format, which are put into cases.
        max_bytes: of a case.
        quick_cases: of the test that draws cases.
        errors: what it may raise.
    """

    name: str
    run: Callable[[bytes], Any]
    tokens: tuple[bytes, ...] = ()
    max_bytes: int = 4096
    quick_cases: int = 30
    errors: tuple[type[BaseException], ...] = (TrailbrakeError,)

    def read_seeds(self) -> dict[str, bytes]:
        """Return the seeds by the names of their files; those of former findings begin with `found`."""
        return {path.name: path.read_bytes() for path in sorted((SEEDS / self.name).iterdir())}

    def run_case(self, data: bytes) -> bool:
        """Run one case; return whether it was accepted. Raises FindingError.

        A case that takes long is run again: the first one may have compiled kernels.
        """
        accepted, seconds = self._measure_case(data)
        if seconds > MOST_CPU_S and (seconds := self._measure_case(data)[1]) > MOST_CPU_S:
            raise FindingError(f"{self.name}: took {seconds:.1f} s of CPU for {len(data)} bytes")
        return accepted

    def _measure_case(self, data: bytes) -> tuple[bool, float]:
        begin = time.process_time()
        try:
            self.run(data)
        except self.errors as error:
            line = str(error).removesuffix(getattr(error, "hint", ""))  # which may list all the names there are
            if "\n" in line or len(line) > MOST_LINE:
                raise FindingError(f"{self.name}: an error of {len(line)} characters, {line[:80]!r}") from error
            accepted = False
        except Exception as error:
            raise FindingError(f"{self.name}: {type(error).__name__}: {str(error)[:200]}") from error
        else:
            accepted = True
        return accepted, time.process_time() - begin


@cache
def scratch_folder() -> Path:
    """Return a folder for the files of cases, made on the first call."""
    _FOLDERS.append(tempfile.TemporaryDirectory(prefix="trailbrake-fuzz-"))
    return Path(_FOLDERS[-1].name)


def with_file(name: str, load: Callable[[Path], Any]) -> Callable[[bytes], Any]:
    """Return a function that writes its bytes to a file `name` and loads that; `name` may have folders before it."""

    @cache
    def make_path() -> Path:
        path = scratch_folder() / name
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def run(data: bytes) -> Any:
        path = make_path()
        path.write_bytes(data)
        return load(path)

    return run
