"""The forward pass of a small convolutional network in NumPy alone, for machines without a training library.

Layers are unpadded convolutions and dense ones, a ReLU after each but the last. A picture is (channels, height, width)
float32; it is flattened in that order before the first dense layer.

A steer as a distribution over bins between full right and full left, because the mean of two steers may be wrong.

Before a fork both branches are correct, and their mean hits the wall between them. So the steer is the mean of the
votes near the bin that has most of them.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from trailbrake.arrays import Floats

# Multiplications in one matrix product. OpenBLAS starts threads above 262 144. They speed such layers up little, and on
# a busy processor each product waits for the slowest thread: 200 ms a picture instead of 3.
_MAX_PRODUCT = 250_000
VOTE_WIDTH = 0.06  # standard deviation of a label's votes, share of the lock
ELECTION_WIDTH = 0.2  # share of the lock: votes within this distance of the best bin count


@dataclass(frozen=True)
class NetworkLayer:
    """A layer.

    Attributes:
        weight: (out, in, k, k) of a convolution, (out, in) of a dense layer.
        bias: (out,).
        stride: of a convolution.
    """

    weight: Floats
    bias: Floats
    stride: int = 1

    @property
    def is_convolution(self) -> bool:
        """Whether it is a convolution."""
        return self.weight.ndim == 4


def convolved_size(size: int, kernel: int, stride: int) -> int:
    """Return the size (pixels) after an unpadded convolution of `size` pixels."""
    return (size - kernel) // stride + 1


def count_outputs(layers: Sequence[NetworkLayer], shape: tuple[int, int, int]) -> int:
    """Return the number of outputs of the last layer for pictures of `shape`.

    Raises:
        ValueError: the layers do not fit each other or the pictures.
    """
    channels, height, width = shape
    flat = 0
    for number, layer in enumerate(layers, 1):
        weight = layer.weight
        if layer.is_convolution and not flat:
            out, inputs, kernel, other = weight.shape
            fits = inputs == channels and kernel == other and layer.stride >= 1
            height, width = (convolved_size(size, kernel, max(layer.stride, 1)) for size in (height, width))
            fits = fits and height >= 1 and width >= 1
            channels = out
        else:
            fits = weight.ndim == 2 and weight.shape[1] == (flat or channels * height * width)
            flat = out = weight.shape[0]
        if not fits or layer.bias.shape != (out,):
            raise ValueError(f"layer {number} does not fit: weights {weight.shape}, bias {layer.bias.shape}")
    if not flat:
        raise ValueError("no dense layer at the end")
    return flat


def run_network(layers: Sequence[NetworkLayer], picture: Floats) -> Floats:
    """Return the outputs of the last layer for one picture; the layers must fit it (`count_outputs`)."""
    values = picture
    for layer in layers:
        values = _apply_convolution(layer, values) if layer.is_convolution else _apply_dense(layer, values)
        if layer is not layers[-1]:
            np.maximum(values, 0.0, out=values)
    return values


def _apply_dense(layer: NetworkLayer, values: Floats) -> Floats:
    # Not `@`: a product with a vector starts threads from 9 216 multiplications.
    result: Floats = np.einsum("oi,i->o", layer.weight, values.reshape(-1)) + layer.bias
    return result


def _apply_convolution(layer: NetworkLayer, values: Floats) -> Floats:
    out, _, kernel, _ = layer.weight.shape
    windows = np.lib.stride_tricks.sliding_window_view(values, (kernel, kernel), axis=(1, 2))
    windows = windows[:, :: layer.stride, :: layer.stride]
    _, height, width = windows.shape[:3]
    # One column per place: a convolution is a matrix product.
    columns = windows.transpose(0, 3, 4, 1, 2).reshape(-1, height * width)
    weight, result = layer.weight.reshape(out, -1), np.empty((out, height * width), np.float32)
    step = max(_MAX_PRODUCT // weight.size, 1)
    for start in range(0, height * width, step):
        np.matmul(weight, columns[:, start : start + step], out=result[:, start : start + step])
    result += layer.bias[:, None]
    return result.reshape(out, height, width)


def steer_bins(count: int) -> Floats:
    """Return the steers of `count` bins from -1 (right) to 1 (left)."""
    return np.linspace(-1.0, 1.0, count, dtype=np.float32)


def steer_votes(steers: Floats, count: int) -> Floats:
    """Return the votes (n, count) for `steers` (n,): a normal distribution around each, with sum 1."""
    apart = (steer_bins(count)[None, :] - steers[:, None]) / VOTE_WIDTH
    votes = np.exp(-0.5 * apart * apart)
    total: Floats = votes / votes.sum(axis=1, keepdims=True)
    return total.astype(np.float32)


def elect_steer(logits: Floats) -> Floats:
    """Return the steers (n,) that logits (n, count) elect."""
    at = steer_bins(logits.shape[1])
    votes = np.exp(logits - logits.max(axis=1, keepdims=True))
    # Smoothed first: a single bin must not win over a whole neighbourhood.
    apart = (at[None, :] - at[:, None]) / VOTE_WIDTH
    best = at[(votes @ np.exp(-0.5 * apart * apart).astype(np.float32)).argmax(axis=1)]
    votes = np.where(np.abs(at[None, :] - best[:, None]) <= ELECTION_WIDTH, votes, 0.0)
    steers: Floats = ((votes @ at) / votes.sum(axis=1)).astype(np.float32)
    return steers
