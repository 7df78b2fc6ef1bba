"""`export-fmu`: a driver for tools that speak FMI."""

import sys
from pathlib import Path

from trailbrake.cli.output import JsonFlag, print_json


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
