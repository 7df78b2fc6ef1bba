import numpy as np
import pytest

from trailbrake.control.network import run_network

torch = pytest.importorskip("torch")
from trailbrake.train.rl.networks import (  # noqa: E402
    build_network,
    export_adam,
    export_arrays,
    export_layers,
    import_adam,
    import_arrays,
)

pytestmark = pytest.mark.train


def make(seed=0):
    return build_network([6, 8, 8, 2], torch.Generator().manual_seed(seed), 0.01)


def learn(network, optimiser, steps):
    inputs = torch.linspace(-1.0, 1.0, 12).reshape(2, 6)
    for _ in range(steps):
        loss = (network(inputs) - 1.0).square().mean()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()


def test_layers_for_numpy_compute_what_the_network_does():
    network, seen = make(), np.linspace(-2.0, 2.0, 6, dtype=np.float32)
    expected = network(torch.from_numpy(seen)).detach().numpy()
    assert run_network(export_layers(network), seen) == pytest.approx(expected, abs=1e-6)
    assert np.abs(expected).max() < 0.1  # by the small gain of the last layer


def test_first_weights_depend_on_the_seed_alone():
    torch.manual_seed(1)
    first = make(5)[0].weight
    torch.manual_seed(2)
    assert torch.equal(first, make(5)[0].weight)
    assert not torch.equal(first, make(6)[0].weight)


def test_weights_and_optimiser_go_on_to_the_bit():
    network = make()
    optimiser = torch.optim.Adam(network.parameters(), lr=0.01)
    learn(network, optimiser, 5)
    arrays = export_arrays(network.state_dict(), "net.") | export_adam(optimiser, "adam.")
    again = make(9)
    other = torch.optim.Adam(again.parameters(), lr=0.01)
    import_arrays(again, arrays, "net.")
    import_adam(other, arrays, "adam.")
    learn(network, optimiser, 5)
    learn(again, other, 5)
    assert all(torch.equal(a, b) for a, b in zip(network.parameters(), again.parameters(), strict=True))
