# SPDX-License-Identifier: Apache-2.0
"""Marks the modules of a PyTorch model as ranges: `lanescope.torch.annotate(model)`."""

import torch
from torch.utils._pytree import tree_leaves

from lanescope import marks

__all__ = ["annotate", "shapes"]


def _tensors(values):
    return [value for value in tree_leaves(values) if isinstance(value, torch.Tensor) and value.requires_grad]


class _Backward:
    """The backward of one call of a module: from the first gradient of its results to the last of its inputs."""

    def __init__(self, module, gave, took):
        self._module, self._range, self._left = module, None, len(took)
        for tensor in gave:
            tensor.register_hook(self._begin)
        for tensor in took:
            tensor.register_hook(self._end_one)

    def _begin(self, _):
        if self._range is None:
            self._range = self._module.start()
            # Inputs that need no gradient, as of the first layer: ends with the whole backward.
            torch.autograd.Variable._execution_engine.queue_callback(self._end)

    def _end_one(self, _):
        self._left -= 1
        if self._left == 0:
            self._end()

    def _end(self):
        started, self._range = self._range, None
        marks.end(started)


class _Annotation:
    """The hooks of one module."""

    def __init__(self, name, kind):
        self._range = marks.Module(name, kind)
        self._took = []

    def before(self, module, arguments, named):
        if torch.compiler.is_compiling():
            return
        self._took.append(_tensors((arguments, named)) if torch.is_grad_enabled() else [])
        self._range.__enter__()

    def after(self, module, arguments, named, result):
        # Called also if the forward failed.
        if torch.compiler.is_compiling() or not self._took:
            return
        self._range.__exit__(None, None, None)
        took = self._took.pop()
        if torch.is_grad_enabled():
            gave = _tensors(result)
            if gave:
                _Backward(self._range, gave, took)


def annotate(model, name=None):
    """Marks each module of the model as a range while its forward runs, named by its path ("layer1.0.conv1"), and as a
    range "layer1.0.conv1 backward" while its gradients are computed. The model itself is called `name`, or like its
    class.

    Call it once, before the training; it returns the model. It changes no result, and does nothing if no tool
    records. A model made by `torch.compile` has no modules left to mark.
    """
    if not marks.is_recorded():
        return model
    for path, module in model.named_modules():
        annotation = _Annotation(path or name or type(model).__name__, type(module).__name__)
        module.register_forward_pre_hook(annotation.before, with_kwargs=True)
        module.register_forward_hook(annotation.after, with_kwargs=True, always_call=True)
    return model


def shapes():
    """Returns a context in which each operator is a range with the shapes of its arguments: `with lanescope.torch.shapes():
    step()`. They give `stats -r roofline` and a counted MFU. Operators take longer meanwhile: use it for a few steps. It
    does nothing if no tool records.
    """
    return torch.autograd.profiler.emit_nvtx(enabled=marks.is_recorded() and torch.cuda.is_available(), record_shapes=True)
