"""`export`: a recording in another format; `export-fmu`: a driver for tools that speak FMI.

`report`: a recording as one HTML file.
"""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from trailbrake.cli.output import JsonFlag, OpenFlag, open_page, print_json, print_notice
from trailbrake.cli.runs import find_recording
from trailbrake.cli.terminal_progress import TaskProgress

if TYPE_CHECKING:
    from trailbrake.record.recording_reader import Recording

Format = Literal["csv", "driving_log", "parquet", "motec", "rerun", "foxglove_layout"]
_SUFFIX: dict[Format, str] = {
    "parquet": ".parquet", "motec": ".ld", "rerun": ".rrd", "foxglove_layout": ".foxglove.json",
}  # fmt: skip


def export(recording: str, *, format: Format | None = None, out: Path | None = None, json: JsonFlag = False) -> None:
    """Convert a recording. CSV columns are time_s, x_m, y_m, ... as declared in the state tables.

    driving_log is a folder with driving_log.csv and IMG/, as camera simulators record; one that is there is added to.
    parquet has the columns of the CSV, motec writes .ld and .ldx, rerun a .rrd file, foxglove_layout a layout for the
    recording.

    Args:
        recording: an .mcap file, a run by its id, `last`, `best`, a table of Forza packets, or laps of another tool.
        format: the format to write; default: by the suffix of --out, else CSV.
        out: file or folder; default: CSV to standard output, others beside the recording.
        json: print one JSON object on stdout; needs --out for CSV.
    """
    from trailbrake.driving.drive_files import open_drive
    from trailbrake.errors import UsageError

    format = _choose_format(format, out)
    if format == "csv" and json and out is None:
        raise UsageError(
            "the CSV and the JSON cannot both go to standard output", where="--json", hint="give --out FILE"
        )
    file = find_recording(recording)
    if format == "driving_log":
        _export_driving_log(file, out, json)
        return
    opened = open_drive(file, say=print_notice)
    if format in _SUFFIX and out is None:
        out = file.with_suffix(_SUFFIX[format])
    if out is not None:
        opened.check_output(out, "export")
    # Without a file the rows themselves go to the terminal.
    with TaskProgress("exporting", wanted=not json and out is not None) as show:
        opened.show_share = show.show_share
        rows = _write_export(opened, format, out)
    if opened.truncated:
        print(f"trailbrake: {file}: the recording was cut off; this is what is left", file=sys.stderr)
    if json:
        print_json({"recording": str(file), "out": str(out), "rows": rows})
    elif out is not None:
        print(out)


def _choose_format(format: Format | None, out: Path | None) -> Format:
    from trailbrake.errors import UsageError

    suffixes: dict[Format, str] = {"csv": ".csv", **_SUFFIX}
    named = next((name for name, suffix in suffixes.items() if out is not None and out.name.endswith(suffix)), None)
    if format and named and named != format:
        raise UsageError("a file of one format with the suffix of another", where=f"--format {format} --out {out}",
                         expected=suffixes.get(format, "a folder"), got=suffixes[named])  # fmt: skip
    if not format and not named and out is not None and out.suffix not in ("", ".txt"):
        raise UsageError("no format has this suffix", where=f"--out {out}", expected=", ".join(suffixes.values()),
                         got=out.suffix, hint="or name the --format")  # fmt: skip
    return format or named or "csv"


def _write_export(opened: "Recording", format: Format, out: Path | None) -> int:
    """Write one file, or CSV to standard output where `out` is None; return the number of rows."""
    if format == "csv" or out is None:
        from trailbrake.record.csv_files import export_csv

        return export_csv(opened, out if out is not None else sys.stdout)
    if format == "parquet":
        from trailbrake.record.run_frame import export_parquet

        return export_parquet(opened, out)
    if format == "motec":
        from trailbrake.record.motec_export import export_motec

        return export_motec(opened, out)
    from trailbrake.record import viewer_exports

    if format == "rerun":
        return viewer_exports.export_rerun(opened, out)
    viewer_exports.export_foxglove_layout(out)
    return 0


def _export_driving_log(recording: Path, out: Path | None, json: bool) -> None:
    from trailbrake.errors import UsageError
    from trailbrake.record.driving_log import export_driving_log
    from trailbrake.record.recording_reader import Recording

    if out is None:
        raise UsageError("a driving log is a folder", where="--format driving_log", hint="give --out FOLDER")
    result: dict[str, Any] = export_driving_log(Recording.open(recording), out)
    if json:
        print_json({"recording": str(recording), "out": str(out), **result})
    else:
        print(f"{result['rows']} rows added to {result['log']}")


def export_fmu(
    driver: str, *, track: str = "proving_ground", car: str = "hatchback", out: Path = Path(), json: JsonFlag = False
) -> None:
    """Write a driver as a co-simulation FMU (FMI 3.0) for Simulink, OpenModelica, Dymola or FMPy.

    Its inputs are the fields of the state that the driver reads, its outputs the controls, named as in docs/state.md;
    its gains are parameters. It runs in the Python that loads it, which must have trailbrake installed.

    Args:
        driver: a driver's name, FILE.py or FILE.py:Class.
        track: what it plans for; a parameter of the FMU.
        car: whose model it plans with; a parameter of the FMU.
        out: file or folder to write.
        json: print one JSON object on stdout.
    """
    from trailbrake.drivers.loading.fmu_export import NEEDED_PYTHON
    from trailbrake.drivers.loading.fmu_export import export_fmu as write

    made = write(driver, out, track, car)
    if made.missing:
        print(f"trailbrake: {driver} also uses {', '.join(made.missing)}, which cannot be inputs of an FMU: it drives "
              "without", file=sys.stderr)  # fmt: skip
    if json:
        print_json({"driver": driver, "track": track, "car": car, "fmu": str(made.path), "inputs": made.inputs,
                    "optional_inputs": made.optional, "missing": made.missing, "needs": NEEDED_PYTHON})  # fmt: skip
    else:
        print(made.path)
        print(f"inputs    {', '.join(made.inputs)}")
        if made.optional:
            print(f"optional  {', '.join(made.optional)} (unknown until set)")
        print(f"needs     {NEEDED_PYTHON}")


def report(
    recording: str, *, out: Path | None = None, rate: float = 0.0, open: OpenFlag = False, json: JsonFlag = False
) -> None:
    """Write the report of a recording: one HTML file that needs no network.

    Args:
        recording: an .mcap file, a run by its id, `last`, `best`, a table of Forza packets, or laps of another tool.
        out: where to write; default beside the recording.
        rate: rows a second of a table without a column of time; 0 = 60.
        open: open the report in the browser.
        json: print one JSON object on stdout.
    """
    from trailbrake.analysis.report import write_report
    from trailbrake.driving.drive_files import open_drive

    file = find_recording(recording)
    opened = open_drive(file, rate, print_notice)
    with TaskProgress("reading", wanted=not json) as show:
        opened.show_share = show.show_share
        path = write_report(opened, out or file.with_name(file.name.removesuffix(".gz")).with_suffix(".html"))
    if opened.truncated:
        print_notice(f"trailbrake: {file}: the recording was cut off; the report holds what is left")
    _print_path(file, path, open, json)


def _print_path(recording: Path, path: Path, open: bool, json: bool) -> None:
    open_page(path, open)
    if json:
        print_json({"recording": str(recording), "report": str(path)})
    else:
        print(path)
