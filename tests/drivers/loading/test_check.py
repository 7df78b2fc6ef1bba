from copy import copy
from pathlib import Path

import numpy as np
import pytest

from trailbrake import Controls, check_driver
from trailbrake.cars.car_library import load_car
from trailbrake.drivers.loading.check import RehearsableDriver, weaving_state
from trailbrake.drivers.loading.driver_registry import driver_names, load_driver
from trailbrake.planning.course import Course
from trailbrake.tracks.track_library import load_track

EXAMPLE = Path(__file__).resolve().parents[3] / "examples" / "ten_line_driver.py"
REHEARSABLE = [name for name in driver_names() if isinstance(load_driver(name), RehearsableDriver)]


class Good:
    NEEDS = frozenset({"x", "y", "yaw", "speed"})

    def reset(self, course):
        self.count = 0

    def act(self, state, dt):
        self.count += 1
        return Controls(steer=0.01 * state.yaw, throttle=self.count % 2)


def only(driver):
    problems = check_driver(driver)
    assert len(problems) == 1
    assert "\n" not in problems[0]
    return problems[0]


def test_good_drivers_pass():
    assert check_driver(Good()) == []
    assert check_driver(str(EXAMPLE)) == []


def test_a_wrong_name_or_file_is_said_not_raised():
    assert "no such driver" in only("line_folow")
    assert "no such driver file" in only("none.py")


class Rehearses(Good):
    def rehearse(self, state, dt):
        return copy(self).act(state, dt)


def test_a_rehearsal_must_answer_the_same_and_change_nothing():
    class Counts(Rehearses):
        def rehearse(self, state, dt):
            return self.act(state, dt)

    class Drifts(Rehearses):
        """Its rehearsals spend a list that copies share; the answers show it only much later."""

        def reset(self, course):
            super().reset(course)
            self.left = [None] * 600

        def act(self, state, dt):
            if self.left:
                self.left.pop()
            return Controls(throttle=float(bool(self.left)))

    class Silent(Rehearses):
        def rehearse(self, state, dt):
            pass

    class Fails(Rehearses):
        def rehearse(self, state, dt):
            raise ValueError("not today")

    assert check_driver(Rehearses()) == []
    for wrong in (Counts, Drifts, Silent):
        assert "rehearse() must answer what act() would" in only(wrong())
    assert "rehearse(state, dt) raised ValueError: not today at tick 0" in only(Fails())


def test_an_object_without_act_or_needs():
    class NoAct:
        NEEDS = frozenset({"x"})

        def reset(self, course):
            pass

    class NoNeeds(Good):
        NEEDS = None

    assert "has no act()" in only(NoAct())
    assert "NEEDS is missing" in only(NoNeeds())


def test_raising_is_said_with_the_place():
    class Resets(Good):
        def reset(self, course):
            raise ValueError("no map\nat all")

    class Acts(Good):
        def act(self, state, dt):
            return Controls(steer=1.0 / (self.__dict__["count"] - 0.0))

    class Leaves(Good):
        def act(self, state, dt):
            raise SystemExit(1)

    assert f"{__file__}:" in only(Resets())
    assert "reset(course) raised ValueError: no map at all" in only(Resets())
    assert "act(state, dt) raised ZeroDivisionError: " in only(Acts())
    assert only(Acts()).endswith("at tick 0")
    assert "raised SystemExit" in only(Leaves())


def test_wrong_arguments():
    class Driver(Good):
        def act(self, state):
            return Controls()

    assert "raised TypeError" in only(Driver())


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (None, "act() answered NoneType, expected trailbrake.Controls"),
        ({"steer": 0.0}, "act() answered dict"),
        (Controls(steer=float("nan")), "steer is nan, expected a finite number"),
        (Controls(throttle=float("inf")), "throttle is inf, expected a finite number"),
        (Controls(brake=None), "brake is None, expected a finite number"),
        (Controls(steer="left"), "steer is 'left', expected a finite number"),
        (Controls(steer=1.5), "steer is 1.5, expected -1 to 1"),
        (Controls(throttle=-0.1), "throttle is -0.1, expected 0 to 1"),
        (Controls(gear=2.5), "gear is 2.5, expected a whole number or None"),
        (Controls(gear="two"), "gear is 'two', expected a whole number or None"),
    ],
)
def test_bad_answers(answer, said):
    class Driver(Good):
        def act(self, state, dt):
            return answer if state.sequence >= 3 else Controls()

    assert only(Driver()).startswith(said)
    assert only(Driver()).endswith("at tick 3")


def test_numpy_numbers_are_numbers():
    class Driver(Good):
        def act(self, state, dt):
            return Controls(steer=np.float32(0.1), throttle=np.float64(0.5), brake=np.int64(0), gear=np.int64(2))

    assert check_driver(Driver()) == []


def test_fields_that_are_not_asked_for_are_not_there():
    class Driver(Good):
        NEEDS = frozenset({"x", "y"})

        def act(self, state, dt):
            return Controls(throttle=0.01 * state.speed)

    assert only(Driver()).startswith("throttle is nan")


def test_the_fields_of_wheels_are_there_when_asked_for():
    class Driver(Good):
        NEEDS = frozenset({"wheels.load"})

        def act(self, state, dt):
            return Controls(throttle=min(1.0, state.wheels[2].load))

    assert check_driver(Driver()) == []


def test_state_that_outlives_reset_is_found():
    class Driver(Good):
        total = 0

        def act(self, state, dt):
            self.total += 1
            return Controls(steer=self.total / 1000.0)

    assert "reset() must forget everything" in only(Driver())


def test_the_first_dt_is_nothing_and_then_the_period():
    seen = []

    class Driver(Good):
        def act(self, state, dt):
            seen.append(dt)
            return Controls()

    assert check_driver(Driver()) == []
    assert seen[0] == 0.0
    assert set(seen[1:400]) == {1.0 / 333.0}
    assert seen[400] == 0.0


def test_signals_commands_and_free_values_that_are_declared(tmp_path):
    path = tmp_path / "extra.py"
    path.write_text(
        "from trailbrake import Controls, Pose, SimCommand\n"
        "class Driver:\n"
        "    NEEDS = {'speed', 'beamng.fuel'}\n"
        "    COMMANDS = {'teleport'}\n"
        "    CUSTOM = 2\n"
        "    def reset(self, course): pass\n"
        "    def act(self, state, dt):\n"
        "        return Controls(custom=(state.signals['beamng.fuel'], 1.0),\n"
        "                        command=None if dt else SimCommand(teleport=Pose(0.0, 0.0)))\n"
    )
    assert check_driver(str(path)) == []


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        ("Controls(command=SimCommand(pause=True))", "command pause: expected one of none"),
        ("Controls(custom=(1.0,))", "expected up to CUSTOM = 0 finite numbers"),
    ],
)
def test_what_is_sent_without_a_declaration_is_named(tmp_path, answer, problem):
    path = tmp_path / "extra.py"
    path.write_text(
        "from trailbrake import Controls, SimCommand\n"
        "class Driver:\n"
        "    NEEDS = {'speed'}\n"
        "    def reset(self, course): pass\n"
        f"    def act(self, state, dt): return {answer}\n"
    )
    assert problem in check_driver(str(path))[0]


def test_the_driver_of_the_default_drive_can_be_rehearsed():
    assert "line_follow" in REHEARSABLE


@pytest.mark.parametrize("name", REHEARSABLE)
def test_a_rehearsal_returns_the_controls_and_changes_nothing(name):
    course = Course(load_track("pinegrove"), load_car("gt3"))
    plain, rehearsed = load_driver(name), load_driver(name)
    plain.reset(course)
    rehearsed.reset(course)
    for tick in range(100, 140):
        state, dt = weaving_state(course, tick, 0.003), 0.003
        dry = [rehearsed.rehearse(state, dt) for _ in range(2)]
        assert dry == [plain.act(state, dt)] * 2
        assert rehearsed.act(state, dt) == dry[0]
