"""The forward pass of a small convolutional network, in NumPy alone: it must run where nothing was trained.

Layers are unpadded convolutions and dense ones, a ReLU after each but the last. A picture is (channels, height, width)
float32; it is flattened in that order before the first dense layer.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
# Multiplications in one matrix product. OpenBLAS calls its threads for more than 262 144; for such layers they bring
# little, and where the processor is busy each product waits for the last of them: 200 ms a picture instead of 3.
_MOST = 250_000


@dataclass(frozen=True)
class Layer:
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
    def convolves(self) -> bool:
        """Whether it is a convolution."""
        return self.weight.ndim == 4


def size_after(size: int, kernel: int, stride: int) -> int:
    """Return how many pixels of `size` a convolution leaves."""
    return (size - kernel) // stride + 1


def outputs_of(layers: Sequence[Layer], shape: tuple[int, int, int]) -> int:
    """Return how many numbers come out of the last layer for pictures of `shape`.

    Raises:
        ValueError: the layers do not fit each other or the pictures.
    """
    channels, height, width = shape
    flat = 0
    for number, layer in enumerate(layers, 1):
        weight = layer.weight
        if layer.convolves and not flat:
            out, inputs, kernel, other = weight.shape
            fits = inputs == channels and kernel == other and layer.stride >= 1
            height, width = (size_after(size, kernel, max(layer.stride, 1)) for size in (height, width))
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


def forward(layers: Sequence[Layer], picture: Floats) -> Floats:
    """Return the last layer's numbers for one picture; the layers fit it (`outputs_of`)."""
    values = picture
    for layer in layers:
        values = _convolved(layer, values) if layer.convolves else _dense(layer, values)
        if layer is not layers[-1]:
            np.maximum(values, 0.0, out=values)
    return values


def _dense(layer: Layer, values: Floats) -> Floats:
    # Not `@`: a product with a vector calls the threads from 9 216 multiplications on.
    result: Floats = np.einsum("oi,i->o", layer.weight, values.reshape(-1)) + layer.bias
    return result


def _convolved(layer: Layer, values: Floats) -> Floats:
    out, _, kernel, _ = layer.weight.shape
    windows = np.lib.stride_tricks.sliding_window_view(values, (kernel, kernel), axis=(1, 2))
    windows = windows[:, :: layer.stride, :: layer.stride]
    _, height, width = windows.shape[:3]
    # One column per place: a convolution is a matrix product.
    columns = windows.transpose(0, 3, 4, 1, 2).reshape(-1, height * width)
    weight, result = layer.weight.reshape(out, -1), np.empty((out, height * width), np.float32)
    step = max(_MOST // weight.size, 1)
    for start in range(0, height * width, step):
        np.matmul(weight, columns[:, start : start + step], out=result[:, start : start + step])
    result += layer.bias[:, None]
    return result.reshape(out, height, width)
