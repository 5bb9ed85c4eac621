# SPDX-License-Identifier: Apache-2.0
"""Marks the steps of a training by Lightning: `Trainer(callbacks=[lanescope.lightning.Callback()])`."""

from lanescope._open_ranges import OpenRanges
from lanescope.marks import range, step

try:
    from lightning.pytorch.callbacks import Callback as _Base
except ImportError:
    from pytorch_lightning.callbacks import Callback as _Base

__all__ = ["Callback"]


class Callback(_Base):
    """Marks each batch of training as a step, with its forward, backward and optimizer as ranges in it, and validation
    as one range. Does nothing if no tool records."""

    def __init__(self):
        self._ranges = OpenRanges()
        self._batches = 0

    def on_train_batch_start(self, *_, **__):
        self._ranges.leave()
        self._ranges.enter(step(self._batches))
        self._ranges.enter(range("forward"))
        self._batches += 1

    def on_before_backward(self, *_, **__):
        self._ranges.leave(1)
        self._ranges.enter(range("backward"))

    def on_after_backward(self, *_, **__):
        self._ranges.leave(1)

    def on_before_optimizer_step(self, *_, **__):
        self._ranges.leave(1)
        self._ranges.enter(range("optimizer"))

    def on_train_batch_end(self, *_, **__):
        self._ranges.leave()

    def on_validation_start(self, *_, **__):
        self._ranges.enter(range("validation"))

    def on_validation_end(self, *_, **__):
        self._ranges.leave()

    def on_exception(self, *_, **__):
        self._ranges.leave()
