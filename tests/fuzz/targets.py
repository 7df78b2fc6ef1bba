"""The declared table of all targets."""

from fuzz.file_targets import FILE_TARGETS
from fuzz.fuzz_target import FuzzTarget
from fuzz.wire_targets import WIRE_TARGETS

TARGETS: dict[str, FuzzTarget] = {target.name: target for target in (*WIRE_TARGETS, *FILE_TARGETS)}
