import sys

import pytest

from trailbrake.drivers.loading import driver_registry
from trailbrake.errors import DataError, DriverError, TrailbrakeError, UsageError

GOOD = """from trailbrake import Controls
class {name}:
    NEEDS = {{"x", "speed"}}
    def reset(self, course):
        self.count = 0
    def act(self, state, dt):
        return Controls(throttle=0.1)
"""


@pytest.fixture
def file(tmp_path):
    """Return file(text, name): writes a driver file and returns its path as text."""

    def write(text, name="own.py"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True, parents=True)
        path.write_text(text, encoding="utf-8")
        return str(path)

    yield write
    for name in [name for name in sys.modules if name.startswith("trailbrake_user_driver_")]:
        del sys.modules[name]


def refused(spec, kind=TrailbrakeError):
    with pytest.raises(kind) as caught:
        driver_registry.load_driver(spec)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_shipped_drivers_load_by_name():
    assert "line_follow" in driver_registry.driver_names()
    assert driver_registry.driver_names() == sorted(driver_registry.driver_names())
    for name in driver_registry.driver_names():
        assert driver_registry.declared_needs(driver_registry.load_driver(name), name)
        assert driver_registry.load_driver(name) is not driver_registry.load_driver(name)


def test_a_misspelled_name_is_told_what_it_may_have_meant():
    assert "did you mean line_follow" in refused("line_folow", UsageError)
    assert "line_follow" in refused("zzzz", UsageError)


@pytest.mark.parametrize(
    "name", ["own.py", "my own driver.py", "fährer π.py", ".pyenv/own.py", "a.py.d/own.py", "x:y/own.py"]
)
def test_any_path_will_do_whole_and_with_a_class(file, name):
    spec = file(GOOD.format(name="Mine"), name)
    assert type(driver_registry.load_driver(spec)).__name__ == "Mine"
    assert type(driver_registry.load_driver(f"{spec}:Mine")).__name__ == "Mine"


def test_relative_paths_count_from_here(file, tmp_path, monkeypatch):
    file(GOOD.format(name="Driver"))
    monkeypatch.chdir(tmp_path)
    assert type(driver_registry.load_driver("own.py")).__name__ == "Driver"


def test_of_several_classes_driver_is_taken_or_the_one_that_is_asked_for(file):
    spec = file(GOOD.format(name="Slow") + GOOD.format(name="Driver") + GOOD.format(name="Fast"))
    assert type(driver_registry.load_driver(spec)).__name__ == "Driver"
    assert type(driver_registry.load_driver(f"{spec}:Fast")).__name__ == "Fast"
    said = refused(f"{spec}:Fats", DataError)
    assert "got Fats" in said
    assert "did you mean Fast" in said


def test_two_classes_and_none_named_driver(file):
    said = refused(file(GOOD.format(name="Slow") + GOOD.format(name="Fast")), DataError)
    assert "holds several drivers" in said
    assert "got Fast, Slow" in said
    assert "FILE.py:Class" in said


def test_classes_that_are_only_imported_do_not_count(file):
    text = "from trailbrake.drivers.line_follow import Driver as Base\n" + GOOD.format(name="Mine")
    assert type(driver_registry.load_driver(file(text))).__name__ == "Mine"


def test_dataclasses_in_a_driver_file_work(file):
    text = "from dataclasses import dataclass\n@dataclass\nclass Gains:\n    steer: 'float' = 1.0\n"
    assert driver_registry.load_driver(file(text + GOOD.format(name="Driver")))


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("x = 1\ndef act(:\n", 2, "invalid syntax"),
        ("x = 1\n\n1 / 0\n", 3, "raised ZeroDivisionError on import: division by zero"),
        ("import nothing_of_that_name\n", 1, "raised ModuleNotFoundError on import"),
        ("def f():\n    raise ValueError('two\\nlines')\nf()\n", 2, "raised ValueError on import: two lines"),
        ("import sys\nsys.exit(4)\n", 2, "raised SystemExit on import: 4"),
        ("import json\njson.loads('no')\n", 2, "raised JSONDecodeError on import"),
    ],
)
def test_a_file_that_does_not_load_is_named_with_its_line(file, tmp_path, monkeypatch, text, line, said):
    spec = file(text)
    assert refused(spec, DataError).startswith(f"{spec}:{line}: {said}")
    monkeypatch.chdir(tmp_path)
    assert refused("own.py", DataError).startswith(f"own.py:{line}: {said}")


def test_a_syntax_error_in_an_imported_file_names_that_file(file, tmp_path, monkeypatch):
    file("x = 1\nfor\n", "broken_helper.py")
    monkeypatch.syspath_prepend(tmp_path)
    assert refused(file("import broken_helper\n"), DataError).startswith(f"{tmp_path / 'broken_helper.py'}:2: ")


@pytest.mark.parametrize("data", [b"x = 1\0\n", b"x = '\xe9'\n", b"\xff\xfe\x00"])
def test_a_file_that_is_no_text_is_one_line(file, tmp_path, data):
    spec = file("")
    (tmp_path / "own.py").write_bytes(data)
    assert refused(spec, DataError).startswith(spec)


def test_a_missing_file_a_folder_and_an_empty_file(file, tmp_path):
    assert "no such driver file" in refused(str(tmp_path / "none.py"), UsageError)
    (tmp_path / "folder.py").mkdir()
    assert "no such driver file" in refused(str(tmp_path / "folder.py"), UsageError)
    assert "holds no driver" in refused(file("x = 1\n"), DataError)


BROKEN = [
    ('    NEEDS = {"x", "speed"}\n', "", "NEEDS is missing"),
    ('{"x", "speed"}', '"speed"', "NEEDS is no set of texts"),
    ('{"x", "speed"}', "5", "NEEDS is no set of texts"),
    ('{"x", "speed"}', "[1, 2]", "NEEDS is no set of texts"),
    ('{"x", "speed"}', '{"x", "sped"}', "got sped; did you mean speed"),
    ("def reset", "def start", "the driver has no reset()"),
]


@pytest.mark.parametrize(("old", "new", "said"), BROKEN)
def test_a_driver_of_the_wrong_shape_is_told_what_is_missing(file, old, new, said):
    text = GOOD.format(name="Driver")
    assert old in text
    spec = file(text.replace(old, new))
    line = refused(spec, DriverError)
    assert line.startswith(spec)
    assert said in line


def test_a_class_without_act_is_no_driver(file):
    text = GOOD.format(name="Driver").replace("def act", "def answer")
    assert "act(state, dt)" in refused(file(text), DataError)


def test_a_constructor_that_raises_is_named_with_its_line(file):
    spec = file(GOOD.format(name="Driver") + "    def __init__(self):\n        self.a = {}['gain']\n")
    assert refused(spec, DriverError).startswith(f"{spec}:9: the constructor raised KeyError: 'gain'")
    spec = file(GOOD.format(name="Driver") + "    def __init__(self, gain):\n        pass\n")
    assert "the constructor raised TypeError" in refused(spec, DriverError)


@pytest.mark.parametrize(
    ("declared", "said"),
    [('"teleport"', "OPTIONAL_COMMANDS is no set of texts"), ('{"teleprt"}', "did you mean teleport")],
)
def test_optional_commands_are_names_of_commands(file, declared, said):
    good = driver_registry.load_driver(file(GOOD.format(name="Driver") + '    OPTIONAL_COMMANDS = {"teleport"}\n'))
    assert driver_registry.declared_optional_commands(good, "here") == {"teleport"}
    assert driver_registry.declared_optional_commands(object(), "here") == frozenset()
    wrong = driver_registry.load_driver(file(GOOD.format(name="Driver") + f"    OPTIONAL_COMMANDS = {declared}\n"))
    with pytest.raises(DriverError, match=said):
        driver_registry.declared_optional_commands(wrong, "here")
