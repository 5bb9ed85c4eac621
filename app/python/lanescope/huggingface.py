# SPDX-License-Identifier: Apache-2.0
"""Marks the steps of a training by Hugging Face's Trainer: `Trainer(...,
callbacks=[lanescope.huggingface.Callback()])`."""

from transformers import TrainerCallback

from lanescope._open_ranges import OpenRanges
from lanescope.marks import range, step

__all__ = ["Callback"]


class Callback(TrainerCallback):
    """Marks each step of the optimizer as a step, with the optimizer's own work as a range in it. Does nothing if no
    tool records."""

    def __init__(self):
        self._ranges = OpenRanges()

    def on_step_begin(self, args, state, control, **_):
        self._ranges.leave()
        self._ranges.enter(step(state.global_step))

    def on_pre_optimizer_step(self, args, state, control, **_):
        self._ranges.enter(range("optimizer"))

    def on_optimizer_step(self, args, state, control, **_):
        self._ranges.leave(1)

    def on_step_end(self, args, state, control, **_):
        self._ranges.leave()

    def on_train_end(self, args, state, control, **_):
        self._ranges.leave()
