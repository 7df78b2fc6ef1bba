"""An FMU as a driver: a controller out of Simulink, OpenModelica, Dymola, or of `trailbrake export-fmu`.

Its inputs and outputs bear the names of state and control columns (docs/state.md: `speed`, `fl_load`; `steer`,
`fl_drive_torque`), with `state.` and `controls.` before them or without, real numbers in those units and frames. What
it has not among its outputs is left alone. FMI 2.0 and 3.0, co-simulation. Needs the extra "fmi"; imported where it is
used.
"""

import math
import shutil
import tempfile
import weakref
from pathlib import Path
from typing import Any

from trailbrake.errors import DataError, DriverError, UsageError, near
from trailbrake.planning.course import Course
from trailbrake.state import CarState, Controls, WheelTorque
from trailbrake.state.tables import CONTROL_COLUMNS, STATE_COLUMNS, state_row

FIRST_STEP = 0.005  # s, the first step of an FMU that suggests none
_REAL = ("Real", "Float64")
_PREFIXES = {"input": "state.", "output": "controls."}  # with these a name may be an input and an output
_STATE_PLACES = {column.name: index for index, column in enumerate(STATE_COLUMNS)}
_CONTROLS = [column.name for column in CONTROL_COLUMNS]


class FmuDriver:
    """Steps an FMU once per state: its inputs are those of the state, its outputs the answer.

    Args:
        path: the file.

    Raises:
        UsageError: no such file, or FMPy is missing.
        DataError: the file is no co-simulation FMU, or has inputs or outputs that mean nothing here.
    """

    def __init__(self, path: Path) -> None:
        if not path.is_file():
            raise UsageError("no such driver file", where=str(path), hint="give the path of an FMU")
        try:
            import fmpy
        except ImportError as error:
            raise UsageError("FMUs need FMPy", where=str(path), hint='pip install "trailbrake[fmi]"') from error
        try:
            self._about: Any = fmpy.read_model_description(str(path))
        except Exception as error:  # whatever a zip or XML reader may raise
            raise DataError(f"cannot be read as an FMU: {error}", where=str(path)) from error
        if self._about.coSimulation is None:
            raise DataError("is no co-simulation FMU", where=str(path), expected="FMI 2.0 or 3.0 co-simulation",
                            hint="export it again with a solver inside")  # fmt: skip
        self._path = path
        variables = self._about.modelVariables
        self._inputs = self._named(variables, "input", list(_STATE_PLACES))
        self._outputs = self._named(variables, "output", _CONTROLS)
        if not self._outputs:
            raise DataError("has no outputs that control a car", where=str(path), hint="name them as docs/state.md")
        self._places = [_STATE_PLACES[name] for name in self._inputs]
        paths = [STATE_COLUMNS[place].path for place in self._places]
        clock = {"time", "sequence", "age", "phase"}
        self.NEEDS = frozenset(f"wheels.{p.split('.')[1]}" if "." in p else p for p in paths) - clock
        folder = tempfile.mkdtemp(prefix="trailbrake-fmu-")
        self._tidy = weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        self._folder = fmpy.extract(str(path), unzipdir=folder)
        self._fmu: Any = None

    def _named(self, variables: Any, causality: str, known: list[str]) -> dict[str, int]:
        """Return {name: value reference} of the real variables of one causality; all must be known names."""
        found = {}
        for variable in variables:
            if variable.causality != causality:
                continue
            name = variable.name.removeprefix(_PREFIXES[causality])
            if name not in known or variable.type not in _REAL:
                raise DataError(f"has an {causality} that means nothing here", where=str(self._path),
                                expected="a real number with a name out of docs/state.md",
                                got=f"{variable.type} {variable.name}", hint=near(name, known))  # fmt: skip
            found[name] = variable.valueReference
        return found

    def reset(self, course: Course) -> None:
        """Begin with a new instance of the FMU; it does not hear of the course."""
        import fmpy
        from fmpy.fmi2 import FMU2Slave
        from fmpy.fmi3 import FMU3Slave

        self._end()
        about = self._about
        three = about.fmiVersion.startswith("3")
        identity = {
            "guid": about.guid, "unzipDirectory": self._folder, "instanceName": self._path.stem,
            "modelIdentifier": about.coSimulation.modelIdentifier,
        }  # fmt: skip
        try:
            fmu = (FMU3Slave if three else FMU2Slave)(**identity)
            fmu.instantiate()
            self._get = fmu.getFloat64 if three else fmu.getReal
            self._set = fmu.setFloat64 if three else fmu.setReal
            if not three:
                fmu.setupExperiment(startTime=0.0)
            fmu.enterInitializationMode()
            fmu.exitInitializationMode()
        except Exception as error:  # FMPy's own, and the loader's where there is no binary for this system
            systems = ", ".join(fmpy.supported_platforms(str(self._path)))
            raise DriverError(f"the FMU does not start: {error}", where=str(self._path),
                              hint=f"it has code for: {systems}") from error  # fmt: skip
        self._fmu = fmu
        # After an error it must not be called again, but a collected driver must not leave its library open.
        self._release = weakref.finalize(self, _free, fmu)
        suggested = about.defaultExperiment.stepSize if about.defaultExperiment is not None else None
        self._step = float(suggested) if suggested else FIRST_STEP
        self._time = 0.0

    def act(self, state: CarState, dt: float) -> Controls:
        """Answer one state: set the inputs, step by `dt` (s; at first by the FMU's own step), read the outputs."""
        row = state_row(state)
        if dt > 0.0:
            self._step = dt
        if self._inputs:
            self._set(list(self._inputs.values()), [row[place] for place in self._places])
        self._fmu.doStep(currentCommunicationPoint=self._time, communicationStepSize=self._step)
        self._time += self._step
        return _controls(dict(zip(self._outputs, self._get(list(self._outputs.values())), strict=True)))

    def _end(self) -> None:
        if self._fmu is not None:
            self._fmu = None
            self._release()


def _free(fmu: Any) -> None:
    fmu.terminate()
    fmu.freeInstance()


def _controls(values: dict[str, float]) -> Controls:
    """Return the controls with `values` by column name; NaN and what is missing stay as they are by default."""
    controls = Controls()
    wheels = [WheelTorque() for _ in range(4)]
    torque = False
    for column in CONTROL_COLUMNS:
        value = values.get(column.name, math.nan)
        if math.isnan(value):
            continue
        if column.path.startswith("wheels["):
            setattr(wheels[int(column.path[7])], column.path[10:], value)
            torque = True
        elif column.name == "gear":
            controls.gear = round(value)
        else:
            setattr(controls, column.name, value)
    if torque:
        controls.wheels = (wheels[0], wheels[1], wheels[2], wheels[3])
    return controls
