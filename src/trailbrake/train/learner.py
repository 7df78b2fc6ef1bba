"""Trains the network of a policy that drives by pictures, with PyTorch."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trailbrake.arrays import Floats
from trailbrake.control.network import NetworkLayer, convolved_size, elect_steer, steer_votes
from trailbrake.errors import UsageError
from trailbrake.observe.image_crop import CropSpec
from trailbrake.train.dataset import Dataset
from trailbrake.train.pytorch import import_torch

STEER_VOTES = 41  # places of steer that are voted for
CONVOLUTIONS = ((16, 5, 2), (24, 3, 2), (32, 3, 2))  # channels, kernel, stride
HIDDEN_UNITS = 64
DROPOUT = 0.2
BATCH_SIZE = 64
LEARNING_RATE, WEIGHT_DECAY = 1.5e-3, 1e-4  # of AdamW
PEDAL_SHARE = 1.0  # of its squared error in the loss, beside the votes' cross entropy

# Augmentation. A car turned by an angle sees its picture shifted sideways, nearly; it then steers back by a share of
# that angle: 2 wheelbase / look-ahead, here 0.4 m / 0.8 m = 0.5 rad of wheel per rad of heading.
MAX_SHIFT = 0.075  # of the picture's width, at most, to either side: 4.6 degrees of Formula Trend's 60.5
STEER_PER_WIDTH = 0.85  # share of the lock: 0.5 * (320 / 274.5) rad per width / 0.698 rad of lock
CONTRAST, BRIGHTNESS = 0.2, 0.15  # at most, of each channel by itself


@dataclass(frozen=True)
class Epoch:
    """How a pass over the data went: losses, and mean errors of steer, learned from and held out; NaN without any."""

    loss: float
    error: float
    held_loss: float
    held_error: float


class Learner:
    """A network in training.

    Args:
        glance: what it sees.
        seed: of the first weights and of the order of pictures.
        threads: of the processor. Layers as small as these gain little by a second one, and on a busy machine lose.
    """

    def __init__(self, crop: CropSpec, seed: int, threads: int = 1) -> None:
        torch = self._torch = import_torch()
        torch.set_num_threads(threads)
        torch.manual_seed(seed)
        self._rng = np.random.default_rng(seed)
        nn, height, width, channels = torch.nn, crop.height, crop.width, 3
        modules: list[Any] = []
        for out, kernel, stride in CONVOLUTIONS:
            modules += [nn.Conv2d(channels, out, kernel, stride), nn.ReLU()]
            height, width, channels = convolved_size(height, kernel, stride), convolved_size(width, kernel, stride), out
        if height < 1 or width < 1:
            raise UsageError("too small a picture for the network", where="--size", expected="32 pixels or more a side",
                             got=f"{crop.width} x {crop.height}")  # fmt: skip
        modules += [nn.Flatten(), nn.Dropout(DROPOUT), nn.Linear(channels * height * width, HIDDEN_UNITS), nn.ReLU(),
                    nn.Linear(HIDDEN_UNITS, STEER_VOTES + 1)]  # fmt: skip
        self._model = nn.Sequential(*modules)

    def export_layers(self) -> list[NetworkLayer]:
        """Return the network as it is now, for NumPy."""
        nn = self._torch.nn
        return [
            NetworkLayer(module.weight.detach().numpy().copy(), module.bias.detach().numpy().copy(),
                  module.stride[0] if isinstance(module, nn.Conv2d) else 1)
            for module in self._model if isinstance(module, nn.Conv2d | nn.Linear)
        ]  # fmt: skip

    def compute_outputs(self, pictures: NDArray[np.uint8]) -> Floats:
        """Return the network's numbers (n, VOTES + 1) for what is seen (n, height, width, 3), without augmentation."""
        torch, model = self._torch, self._model
        model.eval()
        with torch.no_grad():
            parts = [model(self._to_input(pictures[i : i + 512])).numpy() for i in range(0, len(pictures), 512)]
        return np.concatenate(parts) if parts else np.empty((0, STEER_VOTES + 1), np.float32)

    def fit(
        self, data: Dataset, epochs: int, progress: Callable[[float, Epoch | None], bool], rate: float = LEARNING_RATE
    ) -> list[Epoch]:
        """Learn; return how the epochs went.

        Args:
            data: what to learn from.
            epochs: passes over it.
            progress: receives the share done, and each epoch at its end; False stops the training.
            rate: greatest learning rate.
        """
        torch, model = self._torch, self._model
        torch.manual_seed(
            int(self._rng.integers(2**31))
        )  # of dropout: other users of torch's generator must not change the result
        learn = np.flatnonzero(~data.held)
        chance = data.weight[learn] / data.weight[learn].sum()
        batches = max(len(learn) // BATCH_SIZE, 1)
        optimiser = torch.optim.AdamW(model.parameters(), lr=rate, weight_decay=WEIGHT_DECAY)
        schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, rate, total_steps=epochs * batches + 1)
        history: list[Epoch] = []
        for epoch in range(epochs):
            model.train()
            order = self._rng.choice(learn, batches * min(BATCH_SIZE, len(learn)), p=chance)
            loss_sum = error_sum = 0.0
            for number, which in enumerate(np.array_split(order, batches)):
                pictures, steer, pedal = self._augment_batch(data, which)
                found = model(pictures)
                loss = self._compute_loss(found, steer, pedal)
                optimiser.zero_grad()
                loss.backward()
                optimiser.step()
                schedule.step()
                loss_sum += loss.item()
                error_sum += float(np.abs(elect_steer(found.detach().numpy()[:, :-1]) - steer).mean())
                if not progress((epoch + (number + 1) / batches) / epochs, None):
                    return history
            held_loss, held_error = self._held_out_errors(data)
            history.append(Epoch(loss_sum / batches, error_sum / batches, held_loss, held_error))
            progress((epoch + 1) / epochs, history[-1])
        return history

    def _held_out_errors(self, data: Dataset) -> tuple[float, float]:
        held = np.flatnonzero(data.held)
        if not len(held):
            return math.nan, math.nan
        found = self.compute_outputs(data.pictures[held])
        loss = self._compute_loss(self._torch.from_numpy(found), data.steer[held], data.pedal[held]).item()
        return loss, float(np.abs(elect_steer(found[:, :-1]) - data.steer[held]).mean())

    def _compute_loss(self, found: Any, steer: Floats, pedal: Floats) -> Any:
        torch = self._torch
        votes = torch.from_numpy(steer_votes(steer, STEER_VOTES))
        missed = torch.nn.functional.cross_entropy(found[:, :-1], votes)
        return missed + PEDAL_SHARE * torch.nn.functional.mse_loss(found[:, -1], torch.from_numpy(pedal))

    def _to_input(self, pictures: NDArray[np.uint8]) -> Any:
        # As `policy_file.network_input`, many at a time.
        return self._torch.from_numpy(np.ascontiguousarray(pictures.transpose(0, 3, 1, 2))).float() / 127.5 - 1.0

    def _augment_batch(self, data: Dataset, rows: NDArray[np.int64]) -> tuple[Any, Floats, Floats]:
        """Return pictures, steers and pedals: half of them mirrored, all turned a little and lit otherwise."""
        rng, steer = self._rng, data.steer[rows]
        n, width = len(rows), data.pictures.shape[2]
        mirror = rng.random(n) < 0.5
        most = round(MAX_SHIFT * width)
        shift = rng.integers(-most, most + 1, n)
        columns = np.arange(width)[None, :] - shift[:, None]  # content moves right: the car is turned to the left
        columns = np.clip(columns, 0, width - 1)
        columns = np.where(mirror[:, None], width - 1 - columns, columns)
        seen = np.stack([data.pictures[row][:, column] for row, column in zip(rows, columns, strict=True)])
        steer = np.where(mirror, -steer, steer) - STEER_PER_WIDTH * shift / width
        pictures = self._to_input(seen)
        torch = self._torch
        gain = torch.from_numpy(rng.uniform(1.0 - CONTRAST, 1.0 + CONTRAST, (n, 3, 1, 1)).astype(np.float32))
        more = torch.from_numpy(rng.uniform(-BRIGHTNESS, BRIGHTNESS, (n, 1, 1, 1)).astype(np.float32))
        return pictures * gain + more, np.clip(steer, -1.0, 1.0).astype(np.float32), data.pedal[rows]
