import ast
import runpy
import socket
from pathlib import Path

import pytest
from helpers.compared_drives import record_laps
from helpers.driver_files import write_driver

from trailbrake import Controls, check_driver, check_simulator, drive
from trailbrake.cars.car_library import load_car
from trailbrake.cli.drive_flags import DriveFlags
from trailbrake.errors import SimulatorError
from trailbrake.record import Recording
from trailbrake.sims.registry import find
from trailbrake.state import Phase
from trailbrake.tracks.track_library import load_track
from trailbrake.world.plant import World

ROOT = Path(__file__).resolve().parent.parent
EXAMPLE = ROOT / "examples" / "ten_line_driver.py"


def code_lines(path):
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    first = tree.body[0].end_lineno if ast.get_docstring(tree) else 0
    return [line for line in text.splitlines()[first:] if line.strip() and not line.strip().startswith("#")]


def test_the_ten_line_driver_has_ten_lines():
    assert len(code_lines(EXAMPLE)) <= 10


def test_the_readme_shows_the_same_driver():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    shown = readme.split("```python\n", 1)[1].split("```", 1)[0]
    assert [line for line in shown.splitlines() if line.strip()] == code_lines(EXAMPLE)


def test_nothing_is_wrong_with_the_ten_line_driver():
    assert check_driver(str(EXAMPLE)) == []


@pytest.mark.slow
def test_the_ten_line_driver_drives_a_valid_lap_from_any_folder(tmp_path):
    # A folder whose name holds ".py": the path must not be cut there.
    own = tmp_path / ".pyenv" / "my_driver.py"
    own.parent.mkdir()
    own.write_text(EXAMPLE.read_text(encoding="utf-8"))
    summary = drive(
        DriveFlags(
            driver=str(own), sim="forza", track="pinegrove", car="gt3", laps=1, out=tmp_path / "out", report=False
        ).make_spec()
    )
    assert summary["ended"] == "done"
    assert [lap["valid"] for lap in summary["laps"]] == [True]
    assert summary["off_track_s"] == 0.0


SIMULATOR = ROOT / "examples" / "newline_json_sim.py"


class Ends:
    """The example's host in front of a world, and its link, in lockstep on a clock of our own."""

    def __init__(self, folder):
        self.simulator = find(str(SIMULATOR))
        options, self.now = self.simulator.make_embedded_options(self.simulator.live_options(), 1), 0.0
        self.plant = World(load_track("pinegrove"), [load_car("hatchback")], period=self.simulator.period(options))
        self.host = self.simulator.make_host(self.plant, options, doors=folder)
        self.host.open(0.0)
        self.link = self.simulator.make_link(self.simulator.live_options(), doors=folder, idle=self.tick)

    def tick(self):
        self.now += self.plant.period
        self.host.tick(self.now)
        return self.now

    def close(self):
        self.link.close()
        self.host.close()


@pytest.fixture
def ends(tmp_path):
    made = Ends(tmp_path)
    made.link.open(0.0)
    yield made
    made.close()


def test_the_example_simulator_is_small():
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef)
    nodes = [node for node in ast.walk(ast.parse(SIMULATOR.read_text())) if isinstance(node, documented)]
    texts = [ast.get_docstring(node, clean=False) or "" for node in nodes[1:]]  # `code_lines` leaves the module's out
    docstrings = sum(bool(line.strip()) for text in texts for line in text.splitlines())
    assert len(code_lines(SIMULATOR)) - docstrings <= 150


def test_nothing_is_wrong_with_the_example_simulator():
    assert check_simulator(str(SIMULATOR)) == []


def test_what_goes_over_the_example_s_wire_comes_back_with_its_signs(ends):
    for _ in range(150):
        ends.link.write(Controls(steer=0.1, throttle=0.6))
        ends.tick()
        seen = ends.link.read(ends.now)
    truth = ends.plant.car_state(0)
    assert truth.yaw_rate > 0.05  # to the left
    for name in ends.simulator.supplies - {"sequence", "age", "phase"}:
        assert getattr(seen, name) == pytest.approx(getattr(truth, name), abs=1e-9), name
    assert (seen.sequence, seen.phase, seen.age) == (150, Phase.DRIVING, 0.0)


NOISE = [b"", b"[]", b"\xff", b"[" * 60_000, b'{"kind": "drive"}', b'{"kind": "drive", "steer": "x"}',
         b'{"kind": "drive", "steer": NaN, "throttle": 0.3, "brake": 0, "gear": null}',
         b'{"kind": "drive", "steer": 0, "throttle": 0, "brake": 0, "gear": 1e999}']  # fmt: skip


def test_noise_on_the_example_s_wire_is_counted(ends):
    port = ends.host._socket.port
    ends.link.read(0.0)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other:
        for noise in NOISE:
            other.sendto(noise, ("127.0.0.1", port))
            ends.host._socket.send(noise, ends.host._client)
    time = ends.plant.car_state(0).time
    assert not ends.link.has_new_sample()
    assert ends.link.counters.torn == len(NOISE)
    ends.tick()
    assert ends.host.read_counters()["rejected"] == len(NOISE)
    assert ends.plant.car_state(0).time == time  # no command: the world waits


def test_the_example_s_link_says_where_nothing_answers(tmp_path):
    clock = iter(range(100))
    simulator = find(str(SIMULATOR))
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as silent:
        silent.bind(("127.0.0.1", 0))
        where = f"127.0.0.1:{silent.getsockname()[1]}"
        link = simulator.make_link(simulator.live_options(connect=where), idle=lambda: float(next(clock)))
        with pytest.raises(SimulatorError, match=f"{where}: no simulator answers"):
            link.open(0.0)


@pytest.mark.slow
def test_a_lap_in_the_example_simulator_is_driven_recorded_and_reported(tmp_path):
    summary = drive(
        DriveFlags(sim=str(SIMULATOR), track="pinegrove", car="hatchback", laps=1, out=tmp_path).make_spec()
    )
    assert (summary["sim"], summary["ended"]) == ("newline_json", "done")
    assert [lap["valid"] for lap in summary["laps"]] == [True]
    assert Recording.open(summary["recording"]).about["sim"] == "newline_json"
    assert "newline_json" in Path(summary["report"]).read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def recorded_drives(tmp_path_factory):
    folder = tmp_path_factory.mktemp("drives")
    fast, _ = record_laps(folder / "fast.mcap", rate=30.0, laps=2)
    slow, _ = record_laps(folder / "slow.mcap", rate=30.0, laps=2, early=(0.0, 25.0))
    return fast, slow


def run_example(name, *words):
    names = runpy.run_path(str(ROOT / "examples" / f"{name}.py"))
    names["main"](*map(str, words))


@pytest.mark.parametrize(
    "name", ["lap_statistics", "friction_use", "where_time_is_lost", "second_opinion", "export_best_lap"]
)
def test_an_example_without_its_arguments_says_what_it_takes(name, monkeypatch):
    pytest.importorskip("polars")
    monkeypatch.setattr("sys.argv", [name])
    with pytest.raises(SystemExit, match=rf"{name}\.py [A-Z]"):
        runpy.run_path(str(ROOT / "examples" / f"{name}.py"), run_name="__main__")


def test_the_examples_of_recordings_print_what_they_promise(recorded_drives, tmp_path, capsys):
    pytest.importorskip("pandas", exc_type=ImportError)
    pytest.importorskip("polars", exc_type=ImportError)
    pytest.importorskip("pyarrow", exc_type=ImportError)
    fast, slow = recorded_drives
    run_example("where_time_is_lost", fast, slow)
    assert ": T2 +" in capsys.readouterr().out.splitlines()[0]
    run_example("lap_statistics", fast)
    assert "top km/h" in capsys.readouterr().out
    run_example("friction_use", fast)
    # The synthetic bends are driven at 38 m/s on 118.5 m: 1.2 g.
    assert "125 km/h: 1." in capsys.readouterr().out
    run_example("second_opinion", fast, write_driver(tmp_path / "still.py", "return Controls(brake=1.0)"))
    assert "brake by 0." in capsys.readouterr().out
    run_example("export_best_lap", fast.parent, tmp_path / "out")
    assert capsys.readouterr().out.startswith("fast: best lap")
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"best.ld", "best.ldx", "best.parquet", "best.html"}


def load_example(name):
    return runpy.run_path(str(ROOT / "examples" / "rl" / name), run_name="example")


@pytest.mark.rl
def test_random_search_improves_two_cars_of_pettingzoo():
    _, scores = load_example("train_pettingzoo.py")["train"](8)
    assert scores == sorted(scores)
    assert scores[-1] > scores[0] + 1.0  # 25 m a car more than a standstill


@pytest.mark.rl
@pytest.mark.filterwarnings("ignore:actions outside")
def test_a_loop_in_one_file_learns():
    pytest.importorskip("torch")
    _, returns = load_example("train_cleanrl.py")["train"](120_000)
    assert returns[-40:].mean() > returns[:40].mean() + 2.0  # 100 m


@pytest.mark.rl
@pytest.mark.filterwarnings("ignore:actions outside")
def test_processes_that_drive_and_a_learner_learn(monkeypatch):
    pytest.importorskip("torch")
    monkeypatch.syspath_prepend(ROOT / "examples" / "rl")  # spawned processes import it by its name
    import train_async

    _, rewards = train_async.train(80)
    assert sum(rewards[-10:]) > sum(rewards[:10]) + 0.05


@pytest.mark.rl
def test_rllib_trains():
    pytest.importorskip("ray.rllib", reason="RLlib is not installed")
    import ray

    ray.init(num_cpus=1, include_dashboard=False, log_to_driver=False)
    try:
        results = list(load_example("train_rllib.py")["train"](2, workers=1, steps=500, limit=5.0))
    finally:
        ray.shutdown()
    assert [
        result["env_runners"]["num_env_steps_sampled_lifetime"] >= 500 * k for k, result in enumerate(results, 1)
    ] == [True] * 2


@pytest.mark.rl
@pytest.mark.filterwarnings("ignore")  # of the library
def test_default_settings_of_stable_baselines_learn_to_drive_a_lap():
    pytest.importorskip("stable_baselines3")
    """Within 100 000 to 300 000 steps for each of three seeds, docs/figures.md; here within 500 000."""
    example = load_example("train_sb3.py")
    policy = example["train"](100_000, seed=1)
    while not any(end["is_success"] for end in example["drive"](policy)):
        assert policy.num_timesteps < 500_000
        policy.learn(50_000, reset_num_timesteps=False)


@pytest.mark.documents
def test_the_notebook_runs_without_a_screen(tmp_path, monkeypatch):
    nbformat = pytest.importorskip("nbformat")
    client = pytest.importorskip("nbclient", reason="nbclient and ipykernel are not installed")
    monkeypatch.setenv("TRAILBRAKE_RECORDINGS", str(tmp_path))
    notebook = nbformat.read(ROOT / "examples" / "first_lap.ipynb", 4)
    assert not any(cell.get("outputs") for cell in notebook.cells), "outputs are kept out of the repository"
    client.NotebookClient(notebook, timeout=600, resources={"metadata": {"path": str(tmp_path)}}).execute()
    outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    pages = [output["data"].get("text/html", "") for output in outputs if "data" in output]
    assert any("<progress" in page for page in pages)
    assert any("path of lap 1" in page and "<svg" in page for page in pages)
    printed = "".join(output["text"] for output in outputs if output.output_type == "stream")
    assert float(printed.rsplit(" s gained")[0].split()[-1]) > 0.5
