"""The world on a graphics card does what the world does: by numba's simulator of one, a process of its own."""

import sys
from types import SimpleNamespace

import pytest
from helpers.simulated_card import run_card_process

from trailbrake import kernels
from trailbrake.errors import UsageError
from trailbrake.kernels import cuda_compiler

COMPARE = """
import sys
from types import SimpleNamespace
import numpy as np
from helpers.simulated_card import prepare_simulated_card
from trailbrake.cars.car_library import load_car
from trailbrake.tracks.road_columns import RoadColumn
from trailbrake.tracks.track_library import load_track
from trailbrake.world.batch import Batch
from trailbrake.world.cuda import CudaBatch
from trailbrake.world.row_layout import ControlRow, StateRow

prepare_simulated_card()
equal = sys.argv[1] == "equal"
gt3 = load_car("gt3")
track, models = load_track("hartmoor"), [gt3, gt3, load_car("sports_awd"), load_car("hatchback")]
if equal:
    models = [gt3]


def compare(single):
    precision = "single" if single else "double"
    n, rng = 4, np.random.default_rng(3)
    tracks = [load_track("pinegrove"), track]  # all cars are on the second one
    batches = [
        Batch(track, models, n, group_size=2, single_precision=single),
        CudaBatch(tracks, models, [1] * n, [k % len(models) for k in range(n)], group_size=2, single_precision=single),
    ]
    # Two cars side by side that touch at once, one towards the wall, one on the straight.
    beside = track.road.column(RoadColumn.WIDTH_LEFT).min() + 4.0
    places = track.road.points([50.0, 51.0, 300.0, 600.0], [0.0, 1.7, beside, 0.0])
    yaw = places[:, 3] + [0.1, -0.1, 0.9, 0.0]
    for batch in batches:
        batch.place_cars(np.arange(n), places[:, 0], places[:, 1], yaw, [30.0, 31.0, 35.0, 45.0])
    for look in range(6):
        pedal = rng.uniform(-1.0, 1.0, n)
        for batch in batches:
            batch.set_row(ControlRow.STEER, 0.3 * np.sin(0.5 * look + np.arange(n)))
            batch.set_row(ControlRow.THROTTLE, np.maximum(pedal, 0.0))
            batch.set_row(ControlRow.BRAKE, np.maximum(-pedal, 0.0))
            batch.step(0.001, 10)
    for row in "X Y VX VY YAW_RATE ENGINE_SPEED HEAVE ROLL S OFFSET CONTACTS DAMAGE GEAR".split():
        a, b = (batch.get_row(StateRow[row]) for batch in batches)
        print(precision, row, np.abs(a - b).max() / max(1.0, np.abs(a).max()), np.abs(a).max())
    # Without substeps nothing moves; projection and ground follow what was written.
    for batch in batches:
        batch.set_row(StateRow.X, batch.get_row(StateRow.X) + 0.5)
        batch.step(0.0, 0)
    a, b = (batch.get_row(0, int(StateRow.COUNT)) for batch in batches)
    print(precision, "ALL", (np.abs(a - b).max(axis=1) / np.maximum(1.0, np.abs(a).max(axis=1))).max(), np.abs(a).max())
    again = batches[1]
    again.place_cars([2], places[:1, 0], places[:1, 1], yaw[:1])
    print(precision, "PLACED", abs(again.get_row(StateRow.X)[2] - places[0, 0]), abs(again.get_row(StateRow.VX)[1]))


for single in False, True:
    compare(single)
"""


FAR = {"double": 1e-9, "single": 2e-3}


def judge_differences(cars, simulated=True, far=FAR):
    """Run the comparison in both precisions and hold its differences against `far`."""
    if kernels.BACKEND != "numba":
        pytest.skip("plain Python kernels")
    said = run_card_process("-c", COMPARE, cars, simulated=simulated)
    found = {"double": {}, "single": {}}
    for precision, name, a, b in (line.split() for line in said.splitlines()):
        found[precision][name] = float(a), float(b)
    for precision, rows in found.items():
        assert rows["CONTACTS"][1] >= 1.0
        assert rows["DAMAGE"][1] > 100.0
        assert rows["PLACED"][1] > 1.0  # placing one car leaves the others
        for name, (difference, _) in rows.items():
            assert difference <= far[precision], (precision, name, difference)


@pytest.mark.slow
def test_card_and_processor_agree_to_rounding():
    judge_differences("different")


@pytest.mark.slow
@pytest.mark.parametrize("cars", ["different", "equal"])  # equal parameters are in constant memory
def test_so_does_a_real_card(cars):
    if not pytest.importorskip("numba.cuda").is_available():
        pytest.skip("no graphics card here")
    judge_differences(cars, False, FAR | {"double": 1e-6})


def test_without_a_card_one_line_says_so(monkeypatch):
    monkeypatch.setattr(cuda_compiler, "BACKEND", "numba")
    numba_cuda = pytest.importorskip("numba.cuda")
    if numba_cuda.is_available():
        pytest.skip("there is a graphics card here")
    with pytest.raises(UsageError, match="no graphics card that numba can use"):
        cuda_compiler.require_cuda()


@pytest.mark.parametrize(
    ("driver", "names", "words"),
    [
        ((12, 4), ["NVIDIA L4"], "CUDA: the driver of the graphics card is too old, expected CUDA 13.0, got CUDA 12.4"),
        ((13, 1), ["NVIDIA L4", b"NVIDIA T4"], "CUDA: graphics cards of different kinds, got NVIDIA L4, NVIDIA T4"),
    ],
)
def test_old_drivers_and_mixed_cards_are_named_in_one_line(monkeypatch, driver, names, words):
    card = SimpleNamespace(
        is_available=lambda: True,
        config=SimpleNamespace(ENABLE_CUDASIM=0),
        cudadrv=SimpleNamespace(driver=SimpleNamespace(get_version=lambda: driver)),
        runtime=SimpleNamespace(get_version=lambda: (13, 0)),
        gpus=[SimpleNamespace(name=name) for name in names],
    )
    monkeypatch.setattr(cuda_compiler, "BACKEND", "numba")
    monkeypatch.setitem(sys.modules, "numba.cuda", card)
    monkeypatch.setattr("numba.cuda", card, raising=False)
    with pytest.raises(UsageError) as refused:
        cuda_compiler.require_cuda()
    assert words in str(refused.value)


def test_kernels_are_launched_on_the_stream_that_is_wanted(monkeypatch):
    cuda_kernels, launched = pytest.importorskip("trailbrake.world.cuda_kernels"), []

    class Kernel:
        def __getitem__(self, configuration):
            return lambda *arguments: launched.append((configuration[-1], arguments))

    monkeypatch.setattr(cuda_kernels, "cuda", SimpleNamespace(external_stream=lambda handle: f"stream {handle}"))
    cuda_kernels.launch(Kernel(), 70, "a")
    with cuda_kernels.launch_on(12):
        cuda_kernels.launch(Kernel(), 70, "b")
    cuda_kernels.launch(Kernel(), 70, "c")
    assert launched == [(0, ("a",)), ("stream 12", ("b",)), (0, ("c",))]
