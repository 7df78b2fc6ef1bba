from dataclasses import replace

import msgspec
import numpy as np

from trailbrake.train.rl.options import RlOptions
from trailbrake.train.rl.worker_crew import (
    LOOPBACK,
    WorkerOrder,
    digest_arrays,
    find_address,
    pack_arrays,
    pack_options,
    unpack_arrays,
    unpack_options,
)

ARRAYS = {"a": np.arange(6, dtype=np.float32).reshape(2, 3), "rate": np.array(0.5), "none": np.zeros((0, 3))}


def send(value, kind):
    return msgspec.msgpack.decode(msgspec.msgpack.encode(value), type=kind)


def make_order(options, is_remote):
    values, files = pack_options(options, is_remote)
    order = WorkerOrder(rank=0, count=2, options=values, files=files, store=(LOOPBACK, 1), host=LOOPBACK,
                        state=pack_arrays(ARRAYS))  # fmt: skip
    return send(order, WorkerOrder)


def test_arrays_arrive_as_they_were(tmp_path):
    arrays = unpack_arrays(make_order(RlOptions(), False).state)
    assert arrays.keys() == ARRAYS.keys()
    assert all(np.array_equal(arrays[name], ARRAYS[name]) for name in ARRAYS)
    assert all(arrays[name].dtype == ARRAYS[name].dtype for name in ARRAYS)
    arrays["a"][0, 0] = 9.0  # of its own
    assert digest_arrays(arrays) != digest_arrays(ARRAYS)
    assert digest_arrays(unpack_arrays(pack_arrays(ARRAYS))) == digest_arrays(ARRAYS)


def test_options_arrive_as_they_were(tmp_path):
    options = RlOptions(out=tmp_path, grip=(0.9, 1.1), workers=2, on="ray")
    assert unpack_options(make_order(options, True), tmp_path) == options


def test_files_go_with_the_options_to_other_machines(tmp_path):
    car = tmp_path / "mine.toml"
    car.write_text("x = 1", "utf-8")
    options = RlOptions(car=str(car), track="oval,gen:1-2")
    assert unpack_options(make_order(options, False), tmp_path) == replace(options, track="oval,gen:1,gen:2")
    order = make_order(options, True)
    car.unlink()
    placed = unpack_options(order, tmp_path / "placed")
    assert placed.car.startswith(str(tmp_path / "placed"))


def test_a_machine_alone_is_its_own_address():
    assert find_address(msgspec.msgpack.encode(("", 0))) == LOOPBACK.encode()
    assert find_address(msgspec.msgpack.encode((LOOPBACK, 9))) == LOOPBACK.encode()
