"""An FMU as a driver: a controller out of Simulink, OpenModelica, Dymola, or of `trailbrake export-fmu`.

Its inputs and outputs have the names of state and control columns (docs/state.md: `speed`, `fl_load`; `steer`,
`fl_drive_torque`), with or without `state.` and `controls.` before them, and are real numbers in those units and
frames. An input whose description begins with "optional: " may be NaN; the simulator must supply the others. Controls
that are not among its outputs keep their defaults. Text parameters `track` and `car` mean that it plans for these, and
it is refused where they are not known; unless their descriptions begin with "not used: ". Signals of a simulator are
inputs `signals.NAME` (`signals.beamng.fuel`), free values outputs `custom.1`, `custom.2`, ..., and requests beside
driving outputs `command.NAME` with the names of `state.commands.VALUE_NAMES`. FMI 2.0 and 3.0, co-simulation. Needs the
extra "fmi", which is imported on use.
"""

import math
import shutil
import tempfile
import weakref
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from trailbrake.errors import DataError, DriverError, UsageError, suggest_names
from trailbrake.planning.course import Course
from trailbrake.state import CarState, Controls, WheelTorque
from trailbrake.state.commands import VALUE_NAMES, CommandEdges
from trailbrake.state.controls import MAX_CUSTOM_VALUES
from trailbrake.state.signals import is_signal_name
from trailbrake.state.tables import CONTROL_COLUMNS, STATE_COLUMNS, state_row
from trailbrake.user_files import open_user_file

FIRST_STEP = 0.005  # s, the first step of an FMU that suggests none
OPTIONAL = "optional: "  # before the description of an input that may be NaN
UNUSED = "not used: "  # before the description of a parameter `track` or `car` that the driver inside does not need
_REAL = ("Real", "Float64")
_PREFIXES = {"input": "state.", "output": "controls."}  # with these a name may be an input and an output
_STATE_INDEX = {column.name: index for index, column in enumerate(STATE_COLUMNS)}
_CONTROLS = [column.name for column in CONTROL_COLUMNS]
_SIGNAL, _CUSTOM, _COMMAND = "signals.", "custom.", "command."
_OUTPUTS = [
    *_CONTROLS,
    *(f"{_CUSTOM}{number}" for number in range(1, MAX_CUSTOM_VALUES + 1)),
    *(f"{_COMMAND}{name}" for names in VALUE_NAMES.values() for name in names),
]
MAX_UNPACKED = 2_000_000_000  # bytes; the largest FMUs bring an interpreter with its packages for several systems
MAX_DESCRIPTION = 20_000_000  # bytes of modelDescription.xml, which is parsed into some ten times as much memory
MAX_MEMBERS = 50_000
DESCRIPTION = "modelDescription.xml"


def check_archive(path: Path) -> None:
    """Check what an archive says about its members; zipfile unpacks no more than that of each.

    Raises:
        UsageError: the file cannot be read.
        DataError: it is no zip archive, or unpacks to more than an FMU does.
    """
    try:
        with open_user_file(path, "FMU") as file, zipfile.ZipFile(file) as archive:
            sizes = {"": 0} | {member.filename: member.file_size for member in archive.infolist()}
            members, unpacked = len(archive.infolist()), sum(member.file_size for member in archive.infolist())
    # What zipfile raises for damaged archives: besides its own, errors of their offsets, names and methods.
    except (zipfile.BadZipFile, ValueError, RuntimeError, OSError, EOFError) as error:
        raise DataError(f"cannot be read as an FMU: {error}", where=str(path), expected="a zip archive") from error
    for what, limit, got in (
        ("bytes unpacked", MAX_UNPACKED, unpacked),
        ("files", MAX_MEMBERS, members),
        (f"bytes of {DESCRIPTION}", MAX_DESCRIPTION, sizes.get(DESCRIPTION, 0)),
    ):
        if got > limit:
            raise DataError("too large for an FMU", where=str(path), expected=f"{limit} {what} at most", got=str(got))


class FmuDriver:
    """Steps an FMU once per state: its inputs are fields of the state, its outputs are the controls.

    Args:
        path: the file.
        constants: {name: value} of its real parameters, with or without `driver.` before the name.

    Raises:
        UsageError: no such file or parameter, or FMPy is missing.
        DataError: the file is no co-simulation FMU, is too large, or has unknown inputs or outputs.
    """

    def __init__(self, path: Path, constants: Mapping[str, float] | None = None) -> None:
        if not path.is_file():
            raise UsageError("no such driver file", where=str(path), hint="give the path of an FMU")
        try:
            import fmpy
        except ImportError as error:
            raise UsageError("FMUs need FMPy", where=str(path), hint='pip install "trailbrake[fmi]"') from error
        check_archive(path)
        try:
            self._about: Any = fmpy.read_model_description(str(path))
        except Exception as error:  # a zip or XML reader may raise anything
            raise DataError(f"cannot be read as an FMU: {error}", where=str(path)) from error
        if self._about.coSimulation is None:
            raise DataError("is no co-simulation FMU", where=str(path), expected="FMI 2.0 or 3.0 co-simulation",
                            hint="export it again with a solver inside")  # fmt: skip
        self._path = path
        variables = self._about.modelVariables
        self._constants = self._map_constants(variables, constants or {})
        inputs = self._map_variables(variables, "input", list(_STATE_INDEX))
        outputs = self._map_variables(variables, "output", _OUTPUTS)
        self._signals = {name: place for name, place in inputs.items() if name not in _STATE_INDEX}
        self._inputs = {name: place for name, place in inputs.items() if name in _STATE_INDEX}
        self._outputs = outputs
        if not set(outputs) & set(_CONTROLS):
            raise DataError("has no outputs that control a car", where=str(path), hint="name them as docs/state.md")
        self._input_indices = [_STATE_INDEX[name] for name in self._inputs]
        optional = {v.name.removeprefix("state.") for v in variables if (v.description or "").startswith(OPTIONAL)}
        clock = {"time", "sequence", "age", "phase"}
        self.COMMANDS = frozenset(
            field for field, names in VALUE_NAMES.items() if {f"{_COMMAND}{name}" for name in names} & set(outputs)
        )
        self.CUSTOM = max((int(name.removeprefix(_CUSTOM)) for name in outputs if name.startswith(_CUSTOM)), default=0)
        signals = {name.removeprefix(_SIGNAL) for name in self._signals}
        self.NEEDS = _field_names(name for name in self._inputs if name not in optional) - clock | signals
        self.COURSE_NEEDS = frozenset(
            v.name for v in variables
            if v.causality == "parameter" and v.type == "String" and v.name in ("track", "car")
            and not (v.description or "").startswith(UNUSED)
        )  # fmt: skip
        self.USES = _field_names(name for name in self._inputs if name in optional) - clock
        folder = tempfile.mkdtemp(prefix="trailbrake-fmu-")
        self._remove_folder = weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        try:
            self._folder = fmpy.extract(str(path), unzipdir=folder)
        except Exception as error:  # a zip reader may raise anything; a disk may be full
            raise DataError(f"cannot be unpacked: {error}", where=str(path)) from error
        self._fmu: Any = None

    def _map_constants(self, variables: Any, constants: Mapping[str, float]) -> dict[int, float]:
        """Return {value reference: value} of the parameters that `constants` names."""
        known = {
            v.name.removeprefix("driver."): v.valueReference
            for v in variables
            if v.causality == "parameter" and v.type in _REAL
        }
        named = {name.removeprefix("driver."): value for name, value in constants.items()}
        for name in named:
            if name not in known:
                raise UsageError(f"the FMU has no real parameter {name}", where=str(self._path),
                                 hint=suggest_names(name, list(known)) if known else "it has none")  # fmt: skip
        return {known[name]: float(value) for name, value in named.items()}

    def _map_variables(self, variables: Any, causality: str, known: list[str]) -> dict[str, int]:
        """Return {name: value reference} of the real variables of one causality; all must be known names."""
        found = {}
        for variable in variables:
            if variable.causality != causality:
                continue
            name = variable.name.removeprefix(_PREFIXES[causality])
            meant = name in known or (causality == "input" and is_signal_name(name.removeprefix(_SIGNAL)))
            if not meant or variable.type not in _REAL:
                raise DataError(f"has an {causality} that means nothing here", where=str(self._path),
                                expected="a real number with a name out of docs/state.md",
                                got=f"{variable.type} {variable.name}", hint=suggest_names(name, known))  # fmt: skip
            found[name] = variable.valueReference
        return found

    def reset(self, course: Course) -> None:
        """Start a new instance of the FMU; the course is not used."""
        import fmpy
        from fmpy.fmi2 import FMU2Slave
        from fmpy.fmi3 import FMU3Slave

        self._end_instance()
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
            if self._constants:
                self._set(list(self._constants), list(self._constants.values()))
            fmu.enterInitializationMode()
            fmu.exitInitializationMode()
        except Exception as error:  # FMPy's own, and the loader's where there is no binary for this system
            systems = ", ".join(fmpy.supported_platforms(str(self._path)))
            raise DriverError(f"the FMU does not start: {error}", where=str(self._path),
                              hint=f"it has code for: {systems}") from error  # fmt: skip
        self._fmu = fmu
        # After an error the FMU must not be called again, but a collected driver must close its library.
        self._release = weakref.finalize(self, _free_instance, fmu)
        suggested = about.defaultExperiment.stepSize if about.defaultExperiment is not None else None
        step = float(suggested) if suggested else FIRST_STEP
        self._step = step if 0.0 < step < math.inf else FIRST_STEP
        self._time = 0.0
        self._edges = CommandEdges()

    def act(self, state: CarState, dt: float) -> Controls:
        """Return the controls for one state: set inputs, step by `dt` (s; at first the FMU's own), read outputs."""
        row = state_row(state)
        if dt > 0.0:
            self._step = dt
        if self._inputs:
            self._set(list(self._inputs.values()), [row[place] for place in self._input_indices])
        if self._signals:
            wanted = [state.signals[name.removeprefix(_SIGNAL)] for name in self._signals]
            self._set(list(self._signals.values()), wanted)
        self._fmu.doStep(currentCommunicationPoint=self._time, communicationStepSize=self._step)
        self._time += self._step
        values = dict(zip(self._outputs, self._get(list(self._outputs.values())), strict=True))
        controls = _controls_from_values(values)
        if self.CUSTOM:
            given = (values.get(f"{_CUSTOM}{number}", 0.0) for number in range(1, self.CUSTOM + 1))
            controls.custom = tuple(0.0 if math.isnan(value) else value for value in given)
        if self.COMMANDS:
            controls.command = self._edges.read_command(
                {name.removeprefix(_COMMAND): v for name, v in values.items() if name.startswith(_COMMAND)}
            )
        return controls

    def _end_instance(self) -> None:
        if self._fmu is not None:
            self._fmu = None
            self._release()


def _field_names(columns: Iterable[str]) -> frozenset[str]:
    """Return the names by which NEEDS calls columns of the state."""
    paths = [STATE_COLUMNS[_STATE_INDEX[name]].path for name in columns]
    return frozenset(f"wheels.{path.split('.')[1]}" if "." in path else path for path in paths)


def _free_instance(fmu: Any) -> None:
    fmu.terminate()
    fmu.freeInstance()


def _controls_from_values(values: dict[str, float]) -> Controls:
    """Return the controls with `values` by column name; NaN and missing ones keep their defaults."""
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
