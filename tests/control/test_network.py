import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trailbrake.control.network import (
    NetworkLayer,
    convolved_size,
    count_outputs,
    elect_steer,
    run_network,
    steer_bins,
    steer_votes,
)

RNG = np.random.default_rng(3)
COUNT = 41


def random_layer(*shape, stride=1):
    weight = RNG.normal(size=shape).astype(np.float32)
    return NetworkLayer(weight, RNG.normal(size=shape[0]).astype(np.float32), stride)


def by_hand(layer, values):
    """A convolution as its definition says: a sum over channels and places, one number at a time."""
    out, inputs, kernel, _ = layer.weight.shape
    height, width = ((n - kernel) // layer.stride + 1 for n in values.shape[1:])
    result = np.empty((out, height, width))
    for o in range(out):
        for y in range(height):
            for x in range(width):
                total = float(layer.bias[o])
                for c in range(inputs):
                    for j in range(kernel):
                        for i in range(kernel):
                            total += float(layer.weight[o, c, j, i]) * float(
                                values[c, y * layer.stride + j, x * layer.stride + i]
                            )
                result[o, y, x] = total
    return result


@pytest.mark.parametrize(("kernel", "stride"), [(3, 1), (3, 2), (5, 2), (2, 3)])
def test_the_forward_pass_is_the_sum_of_its_definition(kernel, stride):
    conv = random_layer(4, 3, kernel, kernel, stride=stride)
    picture = RNG.normal(size=(3, 11, 14)).astype(np.float32)
    hidden = np.maximum(by_hand(conv, picture), 0.0).reshape(-1)
    dense = random_layer(5, len(hidden))
    last = random_layer(2, 5)
    middle = np.maximum(dense.weight @ hidden + dense.bias, 0.0)
    wanted = last.weight @ middle + last.bias
    assert run_network([conv, dense, last], picture) == pytest.approx(wanted, rel=1e-4, abs=1e-4)


def test_the_last_layer_may_answer_below_zero():
    layer = NetworkLayer(np.array([[-1.0, 0.0]], np.float32), np.zeros(1, np.float32))
    assert run_network([layer], np.array([[[2.0, 1.0]]], np.float32)) == [-2.0]


def test_layers_that_do_not_fit_are_refused_by_their_number():
    conv = random_layer(4, 3, 3, 3, stride=2)
    assert convolved_size(48, 3, 2) == 23
    assert count_outputs([conv, random_layer(7, 4 * 23 * 39)], (3, 48, 80)) == 7
    for layers, number in (
        ([conv, random_layer(7, 5)], 2),
        ([random_layer(4, 1, 3, 3)], 1),
        ([random_layer(4, 3, 60, 60)], 1),
        ([conv, random_layer(7, 4 * 23 * 39), conv], 3),
        ([NetworkLayer(conv.weight, np.zeros(3, np.float32))], 1),
        ([NetworkLayer(conv.weight, conv.bias, 0)], 1),
    ):
        with pytest.raises(ValueError, match=f"layer {number} does not fit"):
            count_outputs(layers, (3, 48, 80))
    with pytest.raises(ValueError, match="no dense layer"):
        count_outputs([conv], (3, 48, 80))


@given(st.lists(st.floats(-0.95, 0.95), min_size=1, max_size=9))
def test_a_steer_that_is_voted_for_is_elected(steers):
    wanted = np.array(steers, np.float32)
    votes = steer_votes(wanted, COUNT)
    assert votes.sum(axis=1) == pytest.approx(1.0, abs=1e-5)
    # The votes of a normal curve, its logits: the mean near its top is its middle but for the places' coarseness.
    assert elect_steer(np.log(votes + 1e-9)) == pytest.approx(wanted, abs=0.026)


def test_of_two_minds_the_one_with_more_votes_wins_and_nothing_between():
    left, right = steer_votes(np.array([0.6, -0.6], np.float32), COUNT)
    assert elect_steer(np.log(0.55 * left + 0.45 * right + 1e-9)[None])[0] == pytest.approx(0.6, abs=0.03)
    assert elect_steer(np.log(0.45 * left + 0.55 * right + 1e-9)[None])[0] == pytest.approx(-0.6, abs=0.03)


def test_a_lone_vote_does_not_beat_a_neighbourhood():
    votes = steer_votes(np.array([0.3], np.float32), COUNT)[0] * 0.8
    lone = np.zeros(COUNT, np.float32)
    lone[2] = votes.max() * 1.2
    assert elect_steer(np.log(votes + lone + 1e-9)[None])[0] == pytest.approx(0.3, abs=0.03)


def test_places_go_from_right_to_left():
    assert steer_bins(5).tolist() == [-1.0, -0.5, 0.0, 0.5, 1.0]


@given(st.lists(st.floats(-80.0, 80.0, width=32), min_size=COUNT, max_size=COUNT))
def test_any_logits_give_a_steer_in_range(logits):
    steer = elect_steer(np.array([logits], np.float32))[0]
    assert -1.0 <= steer <= 1.0
