"""For the process that programs of tests are forked from: it has driven, so that its copies need not load kernels."""

import gc
import os
import tempfile
from contextlib import ExitStack, redirect_stderr, redirect_stdout

from trailbrake.cli.main import run_command_line

with ExitStack() as stack:
    folder = stack.enter_context(tempfile.TemporaryDirectory())
    nowhere = stack.enter_context(open(os.devnull, "w"))
    stack.enter_context(redirect_stdout(nowhere))
    stack.enter_context(redirect_stderr(nowhere))
    run_command_line(["drive", "--seconds=0.05", "--laps=0", "--no-report", "--track=kartwerk", f"--out={folder}"])
gc.freeze()  # no copy looks through what all have
