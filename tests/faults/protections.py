"""What makes the cells green: remove one protection at a time, and its cell must fail.

`python -m tests.faults.protections` runs the cell of each: first as it is, then with an edited module in place of the
one that protects. The tree stays as it is: processes under test import the edited text (`shims/sitecustomize.py`).
Words choose rows by their titles.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

import trailbrake

ROOT = Path(__file__).resolve().parents[2]
SHIMS = Path(__file__).resolve().with_name("shims")
PACKAGE = Path(trailbrake.__file__).resolve().parent


class Protection(NamedTuple):
    """One protection.

    Attributes:
        title: what it does.
        file: below src/trailbrake.
        old, new: the edit that removes it; `old` occurs once.
        cell: wire, end and fault that must fail without it.
    """

    title: str
    file: str
    old: str
    new: str
    cell: tuple


LOOP, RECORD = "run/loop", "record"
PROTECTIONS = (
    Protection(
        "dead man: no new state for 0.25 s brakes", f"{LOOP}/supervisor.py",
        "        stale = state.age > STALE_AFTER_S or state.phase == Phase.LOST\n", "        stale = False\n",
        ("assetto", "client", "telemetry frozen 5 s"),
    ),
    Protection(
        "a driver that raises stops the car", f"{LOOP}/supervisor.py",
        "    except (Exception, SystemExit) as error:\n        supervisor.request_stop(explain_driver_error(error))\n",
        "    except (Exception, SystemExit):\n",
        ("assetto", "client", "driver raises"),
    ),
    Protection(
        "an answer of another type stops the car", f"{LOOP}/supervisor.py",
        '        supervisor.request_stop(f"the driver answered {type(answer).__name__}, expected Controls")\n', "",
        ("forza", "client", "driver answers a wrong type"),
    ),
    Protection(
        "NaN for longer than 0.25 s stops the car", f"{LOOP}/supervisor.py",
        "BAD_CONTROLS_LIMIT_S = 0.25", "BAD_CONTROLS_LIMIT_S = 1e9",
        ("assetto", "client", "driver answers NaN"),
    ),
    Protection(
        "samples that no car can have sent never reach a driver", f"{LOOP}/state_check.py",
        "        if self._undiscovered or self._undiscovered_wheels:\n", "        return True\n        if False:\n",
        ("forza", "client", "garbage"),
    ),
    Protection(
        "Ctrl-C and SIGTERM are requests", "system/signals.py",
        "            previous[number] = signal.signal(number, handle)\n", "            pass\n",
        ("forza", "client", "Ctrl-C"),
    ),
    Protection(
        "a failed write ends the recording, not the drive", f"{RECORD}/threaded_recorder.py",
        "            except Exception as error:  # a dead thread",
        "            except LookupError as error:  # a dead thread",
        ("forza", "client", "disk full while recording"),
    ),
    Protection(
        "the recording is written by a thread of its own", "driving/session/car_session.py",
        '    recorder = ThreadedRecorder(plain) if options.live or options.speed == "real" else plain\n',
        "    recorder = plain\n",
        ("forza", "client", "slow disk"),
    ),
    Protection(
        "what was driven is in the file after half a second", f"{RECORD}/recorder.py",
        "            self.flush()\n            self._flush_at = time + int(CHUNK_SECONDS * _NS)\n",
        "            self._flush_at = time + int(60 * CHUNK_SECONDS * _NS)\n",
        ("forza", "client", "SIGKILL"),
    ),
    Protection(
        "datagrams of a second sender are ignored", "transport/sender_guard.py",
        "        if sender == self.sender or self.sender is None or now - self.heard_at > SILENCE_S:\n",
        "        if True:\n",
        ("forza", "client", "second host"),
    ),
    Protection(
        "a car of Assetto Corsa has one client of ours", "sims/assetto/wire/car_claim.py",
        "        if self._lock is None:\n            raise", "        if False:\n            raise",
        ("assetto", "client", "second client"),
    ),
    Protection(
        "a lower id after 2 s is a restarted simulator", "sims/beamng/link.py",
        "_RESTART_AFTER_S = 2.0", "_RESTART_AFTER_S = 1e9",
        ("beamng", "client", "peer restarted"),
    ),
    Protection(
        "pages of a game that are cut short are not read", "sims/assetto/wire/car_sampler.py",
        "except WireError", "except LookupError",
        ("assetto", "client", "truncated"),
    ),
    Protection(
        "a driver that does not answer for 0.3 s is braked for", f"{LOOP}/driver_watchdog.py",
        "ANSWER_LIMIT_S = 0.3", "ANSWER_LIMIT_S = 1e9",
        ("assetto", "client", "driver hangs in a loop"),
    ),
    Protection(
        "a call that hangs for 10 s is broken off", f"{LOOP}/driver_watchdog.py",
        "\nEND_S = 10.0", "\nEND_S = 1e9",
        ("assetto", "client", "driver hangs in sleep"),
    ),
    Protection(
        "host: torques beyond any car's are limited", "sims/beamng/convert.py",
        "MAX_TORQUE = 1e5", "MAX_TORQUE = 1e308",
        ("beamng", "host", "garbage"),
    ),
    Protection(
        "host: a car whose client was killed is taken from it", "sims/assetto/wire/car_slot.py",
        "        elif self._was_held:\n", "        elif False:\n",
        ("assetto", "host", "peer killed in mid-corner"),
    ),
    Protection(
        "host: a pad that is silent for a second is let go", "sims/forza/host.py",
        "PAD_TIMEOUT_S = 1.0", "PAD_TIMEOUT_S = 1e9",
        ("forza", "host", "telemetry frozen 5 s"),
    ),
    Protection(
        "host: controls that are no numbers are not used", "sims/assetto/wire/car_slot.py",
        "        except WireError as error:\n            counts[\"rejected\"] += 1\n",
        "        except LookupError as error:\n            counts[\"rejected\"] += 1\n",
        ("assetto", "host", "NaN"),
    ),
    Protection(
        "host: reports of another size are not read", "transport/pad_report.py",
        "    if len(data) != SIZE:\n        raise WireError(", "    if False:\n        raise WireError(",
        ("forza", "host", "truncated"),
    ),
    Protection(
        "host: one client at a time", "sims/donkeycar/host.py",
        "        is_taken = self._channel is not None and now - self._heard_at <= _IDLE_AFTER_S\n",
        "        is_taken = False\n",
        ("donkeycar", "host", "second client"),
    ),
    Protection(
        "host: the loop ends after its tick, with a summary", "driving/serve.py",
        "        handle_stop_signals(loop.request_stop),\n", "",
        ("assetto", "host", "SIGTERM"),
    ),
)  # fmt: skip


def run_cell(cell, patience, **environment):
    """Return whether `cell` passes, and the first line that says why not."""
    words = [sys.executable, "-m", "tests.faults", "--patience", str(patience), *cell]
    result = subprocess.run(
        words, cwd=ROOT, env={**os.environ, **environment}, capture_output=True, text=True, timeout=600.0, check=False
    )
    lines = [line.strip() for line in result.stdout.splitlines() if line.startswith("    ")]
    return result.returncode == 0, (lines or result.stderr.splitlines()[-1:] or [""])[0][:160]


def edit_module(protection, folder):
    """Write the module without the protection into `folder`; return the environment that puts it in place."""
    path = PACKAGE / protection.file
    text = path.read_text(encoding="utf-8")
    assert text.count(protection.old) == 1, f"{protection.file} has another text now: {protection.title}"
    edited = Path(folder, "edited.py")
    edited.write_text(text.replace(protection.old, protection.new), encoding="utf-8")
    known = os.environ.get("PYTHONPATH")
    return {"PYTHONPATH": os.pathsep.join([str(SHIMS), *([known] if known else [])]), "TB_EDITED_FILE": str(path),
            "TB_EDITED_TEXT": str(edited)}  # fmt: skip


def main():
    parser = argparse.ArgumentParser(prog="python -m tests.faults.protections", description=__doc__)
    parser.add_argument("words", nargs="*", help="only protections whose titles contain one of these")
    parser.add_argument("--patience", type=float, default=1.0, help="factor on all limits, for a busy machine")
    options = parser.parse_args()
    chosen = [one for one in PROTECTIONS if not options.words or any(word in one.title for word in options.words)]
    print("| protection | cell | with it | without it |\n|---|---|---|---|")
    wrong = 0
    with tempfile.TemporaryDirectory(prefix="trailbrake-protections-") as folder:
        for protection in chosen:
            passes, why_not = run_cell(protection.cell, options.patience)
            without = edit_module(protection, folder)
            passes_without, why = run_cell(protection.cell, options.patience, **without)
            wrong += passes_without or not passes
            seen = "passes: not needed?" if passes_without else f"fails: {why}"
            print(f"| {protection.title} | {' '.join(protection.cell)} | {'passes' if passes else why_not} | {seen} |",
                  flush=True)  # fmt: skip
    print(f"{len(chosen) - wrong} of {len(chosen)} protections hold up a cell")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
