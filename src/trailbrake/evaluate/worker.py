"""A process that drives cells: `python -m trailbrake.evaluate.worker`, one JSON job a line in, one result a line out.

A process of its own for each job at a time: a driver that ends the interpreter or never answers costs one cell.
"""

import os
import sys
from pathlib import Path

import msgspec

from trailbrake.evaluate.cell_drive import drive_cell
from trailbrake.evaluate.plan import Cell


class CellJob(msgspec.Struct, frozen=True):
    """A cell to drive, and the file of its recording, "" for none."""

    cell: Cell
    recording: str = ""


def serve_jobs() -> None:
    """Drive the cells of standard input until it ends."""
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb", buffering=0)
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what drivers print goes to the log

    def say(text: str) -> None:
        print(text, file=sys.stderr, flush=True)

    for line in sys.stdin.buffer:
        job = msgspec.json.decode(line, type=CellJob)
        result = drive_cell(job.cell, Path(job.recording) if job.recording else None, say)
        answers.write(msgspec.json.encode(result) + b"\n")


if __name__ == "__main__":
    serve_jobs()
