"""`export-fmu`: a driver for tools that speak FMI."""

from pathlib import Path

from trailbrake.cli.output import Json, print_json


def export_fmu(
    driver: str, *, track: str = "proving_ground", car: str = "hatchback", out: Path = Path(), json: Json = False
) -> None:
    """Write a driver as a co-simulation FMU (FMI 3.0) for Simulink, OpenModelica, Dymola or FMPy.

    Its inputs are the state that the driver needs, its outputs the controls, named as in docs/state.md. It runs in the
    Python that loads it, which must have trailbrake installed.

    Args:
        driver: a driver's name, or FILE.py, or FILE.py:Class.
        track: what it plans for; a parameter of the FMU.
        car: whose model it plans with; a parameter of the FMU.
        out: the file to write, or a folder; default: the present one.
        json: print one JSON object on stdout.
    """
    from trailbrake.run.fmi import export_fmu as write

    path = write(driver, out, track, car)
    if json:
        print_json({"driver": driver, "track": track, "car": car, "fmu": str(path)})
    else:
        print(path)
