"""A heat as a task: `supervise_heat` from bytes to bytes, with the files that it names and those that come of it."""

import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from trailbrake.errors import OsErrors, SimulatorError
from trailbrake.race.heat_supervisor import HeatOutcome, keep_file, keep_files, supervise_heat
from trailbrake.race.schedule import Heat, rename_heat_files
from trailbrake.tasks.sent_files import collect_files, place_files, rename_files, rename_files_in_pair
from trailbrake.tasks.task_pool import Stopped, TaskPool
from trailbrake.user_files import read_user_file

HEAT_TASK = "trailbrake.race.heat_task:run_heat_task"
MAX_RETURNED = 2 << 30  # bytes of a recording


class HeatSending(msgspec.Struct, frozen=True, kw_only=True):
    """A heat to run elsewhere.

    Attributes:
        heat: what; paths in it are whole.
        report: whether to write reports.
        files: contents of the files that the heat names, by the text that names them.
    """

    heat: Heat
    report: bool
    files: dict[str, bytes]


class HeatReturn(msgspec.Struct, frozen=True):
    """What came of a heat; files are named without a folder, and their contents come with it."""

    outcome: HeatOutcome
    files: dict[str, bytes]


def is_portable(heat: Heat) -> bool:
    """Return whether a heat can run elsewhere: programs and what they need are on this machine alone."""
    return not any(entry.command for entry in heat.grid)


def run_heats_on_pool(
    heats: Sequence[Heat], out: Path, report: bool, pool: TaskPool, stopped: Stopped
) -> Iterator[tuple[int, HeatOutcome]]:
    """Yield the index of each heat with its outcome, as they come; their files lie in `out` then.

    Args:
        heats: without programs; paths in them are whole.
        out: where recordings, reports and logs go; never over a file that is there.
        report: whether to write reports.
        pool: of processes.
        stopped: tested now and then.

    Raises:
        KeyboardInterrupt: stopped.
        SimulatorError: a heat could not be run.
        UsageError: nothing can be written there.
    """
    sent = [msgspec.msgpack.encode(_pack_heat(heat, report)) for heat in heats]
    for index, answer in pool.run_tasks(HEAT_TASK, sent, stopped):
        if answer.error:
            raise SimulatorError("a heat could not be run", where=f"race {heats[index].race}", got=answer.error,
                                 hint="the same command runs it again")  # fmt: skip
        yield index, store_return(msgspec.msgpack.decode(answer.value, type=HeatReturn), out)


def _pack_heat(heat: Heat, report: bool) -> HeatSending:
    words = [heat.track, heat.car, *(pair.partition("=")[2] for pair in heat.host)]
    words += [text for entry in heat.grid for text in (entry.driver, entry.config)]
    return HeatSending(heat=heat, report=report, files=collect_files(words))


def place_heat(sending: HeatSending, folder: Path) -> Heat:
    """Return a heat whose files are those that were sent with it, as `place_files` says."""
    names = place_files(sending.files, folder)
    heat = rename_heat_files(sending.heat, lambda text: rename_files(text, names))
    return msgspec.structs.replace(heat, host=tuple(rename_files_in_pair(pair, names) for pair in heat.host))


def run_heat_task(argument: bytes) -> bytes:
    """Run the heat of an encoded `HeatSending` and return an encoded `HeatReturn`."""
    sending = msgspec.msgpack.decode(argument, type=HeatSending)
    with tempfile.TemporaryDirectory(prefix="trailbrake-heat-") as folder:
        heat = place_heat(sending, Path(folder) / "files")
        outcome = supervise_heat(heat, Path(folder), Path(folder) / "out", sending.report, lambda: False)
        return msgspec.msgpack.encode(_pack_outcome(outcome))


def _pack_outcome(outcome: HeatOutcome) -> HeatReturn:
    files: dict[str, bytes] = {}

    def pack(text: str) -> str:
        if text:
            files[Path(text).name] = read_user_file(Path(text), "file of a heat", MAX_RETURNED)
        return Path(text).name

    results = [
        msgspec.structs.replace(result, recording=pack(result.recording), report=pack(result.report))
        for result in outcome.results
    ]
    return HeatReturn(HeatOutcome(results, pack(outcome.log)), files)


def store_return(returned: HeatReturn, out: Path) -> HeatOutcome:
    """Write the files of a heat that ran elsewhere into a folder, and return its outcome with their paths.

    Raises:
        UsageError: they cannot be written.
    """
    with OsErrors("cannot write what came of a heat", where=str(out)):
        out.mkdir(parents=True, exist_ok=True)
        out = out.resolve()
        with tempfile.TemporaryDirectory(prefix=".heat-", dir=out) as folder:
            for name, data in returned.files.items():
                (Path(folder) / Path(name).name).write_bytes(data)
            results = [keep_files(result, Path(folder), out) for result in returned.outcome.results]
            log = returned.outcome.log
            return HeatOutcome(results, keep_file(Path(folder) / log, out / log) if log else "")
