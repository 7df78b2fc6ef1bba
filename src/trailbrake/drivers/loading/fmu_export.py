"""Drivers as FMUs: exported for tools that speak FMI 3.0 co-simulation (Simulink, OpenModelica, Dymola, FMPy).

Inputs are the columns of the state that the driver reads (`state.speed`), outputs the columns of its controls
(`controls.steer`), named and with units and frames as in `docs/state.md`; NaN leaves a control alone. Inputs beyond the
driver's NEEDS are optional: NaN until they are set. The driver's gains and the numbers that its constructor takes are
parameters (`driver.speed`), and so are `track` and `car`. One step answers the state of its beginning. The way back, an
FMU as a driver: `drivers/loading/fmu.py`.

The FMU holds Python code and runs it in the interpreter that loads it, which must have trailbrake: `NEEDED_PYTHON`.
Which fields of the state a driver reads is found by a short drive over synthetic states.
"""

import inspect
import math
import re
import tempfile
import zipfile
from collections.abc import Callable
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any, NamedTuple

from trailbrake.cars.car_library import load_car
from trailbrake.drivers.loading.check import find_course_needs, weaving_state
from trailbrake.drivers.loading.driver_registry import (
    declared_commands,
    declared_custom_values,
    declared_needs,
    declared_uses,
    load_driver,
)
from trailbrake.drivers.loading.fmu import OPTIONAL, UNUSED
from trailbrake.drivers.parts.road_return import ROLLING_RADIUS
from trailbrake.errors import DataError, UsageError
from trailbrake.json_types import JsonObject
from trailbrake.planning.course import Course
from trailbrake.roles import Driver, Tunable
from trailbrake.state import CarState, Controls, WheelState
from trailbrake.state.commands import VALUE_NAMES, values_from_command
from trailbrake.state.fields import Quantity, declared_quantities
from trailbrake.state.signals import SignalValues, is_signal_name
from trailbrake.state.tables import (
    CONTROL_COLUMNS,
    STATE_COLUMNS,
    STATE_FIELDS,
    RecordColumn,
    controls_row,
    state_from_row,
)
from trailbrake.tracks.track_library import load_track
from trailbrake.user_files import check_result, write_whole
from trailbrake.version import __version__

NEEDED_PYTHON = f"Python 3.11 or newer with trailbrake {__version__}, in the tool that loads it: docs/fmi.md"
_CONTROLS_BY_NAME = {f"controls.{column.name}": column for column in CONTROL_COLUMNS}
_NOT_COLUMNS = frozenset({"others", "image", "line_ahead"})
_STEP = 0.005  # s, the step that the FMU suggests: BeamNG's default
CLOCK_FIELDS = frozenset({"time", "sequence", "age", "phase"})  # every simulator supplies them
_TICKS = 400
_DT = 1.0 / 333.0
_WHEEL_VALUES = {"load": 3500.0, "pressure": 1.8e5, "core_temperature": 80.0, "on_track": 1.0}


def find_read_fields(driver: Driver, course: Course) -> frozenset[str]:
    """Return the names of STATE_FIELDS that a driver reads, those of the clock left out.

    The driver is reset on `course` and receives states along its road in which every number is filled. Fields that it
    reads in other situations only are not found; a driver declares those in `USES`. The drive ends early where act()
    raises.

    Args:
        driver: a driver; afterwards it needs another reset().
        course: with a road.
    """
    names: set[str] = set()
    recording_state, recording_wheel = _make_recording_classes(names)
    driver.reset(course)
    for tick in range(_TICKS):
        full = weaving_state(course, tick, _DT)
        wheel = dict.fromkeys(declared_quantities(WheelState), 0.0) | _WHEEL_VALUES
        wheel["angular_velocity"] = full.speed / ROLLING_RADIUS
        values: dict[str, Any] = {item.name: getattr(full, item.name) for item in fields(CarState)}
        state = recording_state(**values | {"wheels": [recording_wheel(**wheel) for _ in range(4)]})
        try:
            driver.act(state, _DT if tick else 0.0)
        except (Exception, SystemExit):  # of a driver that cannot drive on these states
            break
    return frozenset(names) & STATE_FIELDS - CLOCK_FIELDS


def _make_recording_classes(names: set[str]) -> tuple[type[CarState], type[WheelState]]:
    """Return CarState and WheelState whose instances add the names of their fields to `names` when they are read."""

    class RecordingState(CarState):
        def __getattribute__(self, name: str) -> Any:
            names.add(name)
            return super().__getattribute__(name)

    class RecordingWheel(WheelState):
        def __getattribute__(self, name: str) -> Any:
            names.add(f"wheels.{name}")
            return super().__getattribute__(name)

    return RecordingState, RecordingWheel


class DriverModel:
    """A driver as a block with named inputs, outputs and parameters.

    Args:
        driver: what `--driver` takes.
        track: what `--track` takes.
        car: what `--car` takes.
        optional: names of STATE_FIELDS beyond the driver's NEEDS that become inputs too.

    Attributes:
        columns: the inputs.
        optional: the names of those among them that may be left out.
        signals: {name: value} of the next step, of the signals that the driver needs; inputs as well.
        inputs: {name: value} of the next step. Until they are set, optional ones are NaN and the others 0.
        outputs: {name: value} of the last step, NaN where the driver leaves something alone: `controls.steer`, its free
            values `controls.custom.1`, its requests `command.time_scale`.
        parameters: {name: value}: the driver's gains, and numbers that its constructor takes.
        places: {"track": ..., "car": ...}.
        time: s, of the last step.

    Raises:
        UsageError: no such driver; or it needs what is no number (camera images, other cars).
    """

    def __init__(self, driver: str, track: str, car: str, optional: frozenset[str] = frozenset()) -> None:
        subject = load_driver(driver)
        needs = declared_needs(subject, driver) - CLOCK_FIELDS
        odd = sorted(needs & _NOT_COLUMNS)
        if odd:
            raise UsageError("an FMU's inputs are numbers", where=driver, got=", ".join(odd))
        self._construct: Callable[..., Driver] = type(subject)
        self.about = " ".join((type(subject).__doc__ or "").split("\n\n")[0].split())
        self.columns: list[RecordColumn] = [
            column for column in STATE_COLUMNS if _needs_name(column) in needs | optional
        ]
        self.optional = frozenset(column.name for column in self.columns if _needs_name(column) not in needs)
        self.inputs = {column.name: math.nan if column.name in self.optional else 0.0 for column in self.columns}
        self.signals = dict.fromkeys(sorted(filter(is_signal_name, needs)), 0.0)
        self._signal_positions = {name: place for place, name in enumerate(self.signals)}
        self._commands = [f"command.{value}" for name in sorted(declared_commands(subject, driver) & set(VALUE_NAMES))
                          for value in VALUE_NAMES[name]]  # fmt: skip
        self._custom_names = [f"controls.custom.{n + 1}" for n in range(declared_custom_values(subject, driver))]
        self.outputs = self._read_outputs(Controls())
        cls: object = type(subject)
        self._gains = cls.Gains if isinstance(cls, Tunable) else None
        self._gain_quantities = {} if self._gains is None else declared_quantities(self._gains)
        self.parameters: dict[str, float] = ({} if self._gains is None else asdict(self._gains())) | {
            name: float(parameter.default)
            for name, parameter in inspect.signature(self._construct).parameters.items()
            if isinstance(parameter.default, float)
        }
        self.places = {"track": track, "car": car}
        self.time = 0.0

    def describe_parameter(self, name: str) -> str:
        """Return the unit and the meaning of a parameter."""
        return (
            _describe_quantity(self._gain_quantities[name])
            if name in self._gain_quantities
            else "of the driver's constructor"
        )

    def find_optional_fields(self) -> frozenset[str]:
        """Return the fields that the driver declares in USES or reads on a short drive, without those it needs."""
        driver = self._make_driver()
        needs = declared_needs(driver, "driver") | CLOCK_FIELDS
        return (declared_uses(driver, "driver") | find_read_fields(driver, self._load_course())) - needs

    def reset_driver(self) -> None:
        """Make the driver with the parameters as they are now, and let it plan."""
        self._driver = self._make_driver()
        self._driver.reset(self._load_course())
        self._last = math.nan
        self._steps = 0

    def _make_driver(self) -> Driver:
        values = dict(self.parameters)
        if self._gains is None:
            return self._construct(**values)
        return self._construct(self._gains(**{name: values.pop(name) for name in self._gain_quantities}), **values)

    def _load_course(self) -> Course:
        return Course(load_track(self.places["track"]), load_car(self.places["car"]))

    def step(self, time: float) -> None:
        """Answer the inputs, which are those of `time` (s)."""
        given = {**self.inputs, "time": time, "sequence": float(self._steps), "age": 0.0, "phase": 0.0}
        state = state_from_row([given.get(column.name, math.nan) for column in STATE_COLUMNS])
        state.signals = SignalValues(self._signal_positions, tuple(self.signals.values()))
        dt = time - self._last
        answer = self._driver.act(state, dt if dt > 0.0 else 0.0)  # NaN on the first step
        self._last = self.time = time
        self._steps += 1
        self.outputs = self._read_outputs(answer)

    def _read_outputs(self, controls: Controls) -> dict[str, float]:
        row = dict(zip((f"controls.{c.name}" for c in CONTROL_COLUMNS), controls_row(controls), strict=True))
        row |= dict.fromkeys(self._custom_names, 0.0) | dict(zip(self._custom_names, controls.custom, strict=False))
        if self._commands:
            values = values_from_command(controls.command)
            row |= {name: values[name.removeprefix("command.")] for name in self._commands}
        return row

    def describe_output(self, name: str) -> str:
        """Return the unit and the meaning of an output."""
        column = _CONTROLS_BY_NAME.get(name)
        if column is not None:
            return _describe_column(column)
        return (
            "a free value" if name.startswith("controls.custom.") else "a request to the simulator, see docs/state.md"
        )


def _needs_name(column: RecordColumn) -> str:
    """Return the name by which NEEDS calls a column."""
    return f"wheels.{column.path.split('.')[1]}" if column.path.startswith("wheels[") else column.name


class DriverSlave:
    """The part of an exported FMU that is ours; the other part is PythonFMU3's `Fmi3Slave`.

    The script inside the FMU sets DRIVER, TRACK, CAR, OPTIONAL (fields that the driver uses beyond its NEEDS) and PLANS
    (what it needs of the course); names of files are those of copies beside it.
    """

    DRIVER = TRACK = CAR = ""
    OPTIONAL: tuple[str, ...] = ()
    PLANS: tuple[str, ...] = ("car", "track")

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        from pythonfmu3 import DefaultExperiment, Float64, Fmi3Causality, Fmi3Initial, Fmi3Variability, String

        folder = Path(kwargs["resources"])
        driver, track, car = (_local_path(folder, spec) for spec in (self.DRIVER, self.TRACK, self.CAR))
        self.model = model = DriverModel(driver, track, car, frozenset(self.OPTIONAL))
        model.places = {"track": self.TRACK, "car": self.CAR}
        self._folder = folder
        self.author, self.description = "trailbrake", model.about
        self.default_experiment = DefaultExperiment(start_time=0.0, step_size=_STEP)
        register = self.register_variable  # type: ignore[attr-defined]
        register(Float64("time", causality=Fmi3Causality.independent, variability=Fmi3Variability.continuous,
                         description="s: simulator time", getter=lambda: model.time), nested=False)  # fmt: skip
        for column in model.columns:
            register(Float64(
                f"state.{column.name}", causality=Fmi3Causality.input,
                description=(OPTIONAL if column.name in model.optional else "") + _describe_column(column),
                variability=Fmi3Variability.discrete, **_input_accessors(model.inputs, column.name),
            ), nested=False)  # fmt: skip
        for name in model.signals:
            register(Float64(
                f"signals.{name}", causality=Fmi3Causality.input, description="a signal of the simulator",
                variability=Fmi3Variability.discrete, **_input_accessors(model.signals, name),
            ), nested=False)  # fmt: skip
        for name in model.outputs:
            register(Float64(
                name, causality=Fmi3Causality.output, description=model.describe_output(name),
                variability=Fmi3Variability.discrete, initial=Fmi3Initial.calculated,
                getter=lambda name=name: model.outputs[name],
            ), nested=False)  # fmt: skip
        fixed = {"causality": Fmi3Causality.parameter, "variability": Fmi3Variability.fixed}
        for name in model.parameters:
            register(Float64(f"driver.{name}", description=model.describe_parameter(name), **fixed,
                             **_value_accessors(model.parameters, name)), nested=False)  # fmt: skip
        for name in model.places:
            about = ("" if name in self.PLANS else UNUSED) + f"what --{name} takes"
            register(String(name, description=about, **fixed, **_value_accessors(model.places, name)), nested=False)

    def exit_initialization_mode(self) -> None:
        """Plan with the parameters as they are now."""
        places = self.model.places
        self.model.places = {name: _local_path(self._folder, spec) for name, spec in places.items()}
        self.model.reset_driver()

    def do_step(self, current_time: float, step_size: float) -> Any:
        """Answer the inputs."""
        from pythonfmu3 import Fmi3StepResult

        self.model.step(current_time)
        return Fmi3StepResult()


def _describe_column(column: RecordColumn) -> str:
    return _describe_quantity(column.quantity)


def _describe_quantity(quantity: Quantity) -> str:
    return f"{quantity.unit}: {quantity.meaning}" if quantity.unit != "1" else quantity.meaning


def _value_accessors(values: JsonObject, name: str) -> JsonObject:
    return {"getter": lambda: values[name], "setter": lambda value: values.__setitem__(name, value)}


def _input_accessors(values: dict[str, float], name: str) -> JsonObject:
    """Return getter and setter of an input; what is NaN reads as 0, because an FMU's file can hold no NaN."""
    accessors = _value_accessors(values, name)
    return accessors | {"getter": lambda: 0.0 if math.isnan(values[name]) else values[name]}


def _local_path(folder: Path, spec: str) -> str:
    """Return `spec` as the path of the copy in `folder` where there is one; FILE.py:Class too."""
    file, _, cls = spec.partition(":")
    if not (folder / file).is_file():
        return spec
    return str(folder / file) + (f":{cls}" if cls else "")


class ExportedFmu(NamedTuple):
    """An FMU that has been written.

    Attributes:
        path: the file.
        inputs: the names of its inputs that the driver needs.
        optional: the names of its inputs that the driver uses, and drives without.
        missing: fields that the driver uses and that cannot be inputs, because they are no numbers.
    """

    path: Path
    inputs: tuple[str, ...]
    optional: tuple[str, ...]
    missing: tuple[str, ...]


def export_fmu(driver: str, out: Path, track: str, car: str) -> ExportedFmu:
    """Write a driver as a co-simulation FMU (FMI 3.0, for Linux and Windows) and return what it has become.

    Args:
        driver: what `--driver` takes; a file of the user's own goes into the FMU.
        out: the file to write, or a folder.
        track: what `--track` takes; can be changed in the FMU. Files go into it.
        car: what `--car` takes; as `track`.

    Raises:
        UsageError: PythonFMU3 or FMPy is missing, or there is no such driver, track or car.
        TrailbrakeError: one of them cannot be used.
    """
    try:
        import fmpy  # noqa: F401 - judges what was built
        from pythonfmu3 import FmuBuilder
    except ImportError as error:
        raise UsageError("exporting FMUs needs PythonFMU3 and FMPy", where="export-fmu",
                         hint='pip install "trailbrake[fmi]"') from error  # fmt: skip
    # Errors of the driver are one line here and many in the builder.
    used = DriverModel(driver, track, car).find_optional_fields()
    model = DriverModel(driver, track, car, used - _NOT_COLUMNS)
    packed = [_packed_name(spec) for spec in (driver, track, car)]
    fields: dict[str, object] = dict(zip(("DRIVER", "TRACK", "CAR"), (name for name, _ in packed), strict=True))
    fields["PLANS"] = tuple(sorted(find_course_needs(load_driver(driver), driver)))
    fields["OPTIONAL"] = tuple(sorted(used - _NOT_COLUMNS))
    name = _c_identifier(driver)
    target = out / f"{name}.fmu" if out.is_dir() or not out.suffix else out
    check_result(target, ".fmu")
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / f"fmu_{name}.py"
        script.write_text(_slave_script(name, fields), encoding="utf-8")
        built = FmuBuilder.build_FMU(
            script, dest=Path(folder) / "built", project_files=[file for _, file in packed if file]
        )
        _mend_description(Path(built))
        _validate_fmu(Path(built))
        target.parent.mkdir(parents=True, exist_ok=True)
        write_whole(target, Path(built).read_bytes(), "the FMU")
    needed = (*(name for name in model.inputs if name not in model.optional),
              *(f"signals.{name}" for name in model.signals))  # fmt: skip
    optional = tuple(name for name in model.inputs if name in model.optional)
    return ExportedFmu(target, needed, optional, tuple(sorted(used & _NOT_COLUMNS)))


def _mend_description(path: Path) -> None:
    """Write a model description as the standard has it.

    Gains that are NaN are `NaN` of XML Schema, not Python's `nan`; names with a part that begins with a digit
    (`signals.beamng.custom.1`) are not of the structured naming convention.
    """
    with zipfile.ZipFile(path) as archive:
        members = {info: archive.read(info) for info in archive.infolist()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for info, data in members.items():
            if info.filename == "modelDescription.xml":
                data = data.replace(b'start="nan"', b'start="NaN"').replace(b'start="inf"', b'start="INF"')
                if re.search(rb' name="[^"]*[.][0-9]', data):
                    data = data.replace(b'NamingConvention="structured"', b'NamingConvention="flat"')
            archive.writestr(info, data)


def _validate_fmu(path: Path) -> None:
    """Have FMPy judge a built file against the standard; DataError where it finds something."""
    from fmpy.validation import validate_fmu

    problems = validate_fmu(str(path))
    if problems:
        more = f", and {len(problems) - 1} more" if len(problems) > 1 else ""
        raise DataError("the FMU that was built is not valid FMI 3.0", where=path.name,
                        got=" ".join(problems[0].split()) + more)  # fmt: skip


def _packed_name(spec: str) -> tuple[str, Path | None]:
    """Return how `spec` is called inside the FMU, and the file that has to go along."""
    file, colon, cls = spec.rpartition(":") if ".py:" in spec else (spec, "", "")
    return (Path(file).name + colon + cls, Path(file)) if Path(file).is_file() else (spec, None)


def _c_identifier(driver: str) -> str:
    """Return a name that C and Python take: the driver's, or its file's."""
    stem = Path(driver.partition(".py")[0]).name
    name = "".join(letter if letter.isascii() and (letter.isalnum() or letter == "_") else "_" for letter in stem)
    return name if name[:1].isalpha() else f"driver_{name}"


def _slave_script(name: str, fields: dict[str, object]) -> str:
    """Return the script of an FMU; without trailbrake it raises once instantiated: PythonFMU3 reports that alone."""
    body = "\n".join(f"    {key} = {value!r}" for key, value in fields.items())
    return f"""import sys

from pythonfmu3 import Fmi3Slave

try:
    from trailbrake.drivers.loading.fmu_export import DriverSlave
except ImportError as error:
    reason = f"{name}.fmu needs {NEEDED_PYTHON}; this is Python {{sys.version.split()[0]}} in {{sys.prefix}}: {{error}}"

    class DriverSlave:
        def __init__(self, **kwargs):
            raise ImportError(reason)


class {name}(DriverSlave, Fmi3Slave):
{body}
"""
