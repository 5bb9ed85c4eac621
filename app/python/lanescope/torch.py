# SPDX-License-Identifier: Apache-2.0
"""Marks the modules of a PyTorch model as ranges, `lanescope.torch.annotate(model)`, and its operators, `shapes()`."""

import contextlib
import functools

import torch
from torch.utils._python_dispatch import TorchDispatchMode
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


# Names as in files of torch.profiler: "c10::Float8_e4m3fn", "float".
_TYPES = {each: f"c10::{str(each)[6:].capitalize()}" for each in vars(torch).values() if isinstance(each, torch.dtype)}
_TYPES.update({torch.bfloat16: "c10::BFloat16", torch.float16: "c10::Half", torch.float32: "float", torch.float64: "double",
               torch.int64: "long int", torch.int32: "int", torch.int16: "short int", torch.int8: "signed char",
               torch.uint8: "unsigned char", torch.bool: "bool", torch.complex64: "c10::complex<float>"})


@functools.lru_cache(maxsize=None)
def _operator(function):
    """Returns (name, [(argument, default)], is composite), or None for an operator that does no work on a GPU."""
    if not isinstance(function, torch._ops.OpOverload) or function.is_view or function.namespace == "profiler":
        return None
    schema = function._schema
    arguments = [(each.name, each.default_value) for each in schema.arguments if not each.is_out]
    return schema.name, arguments, torch._C._dispatch_has_kernel_for_dispatch_key(function.name(), "CompositeImplicitAutograd")


def _facts(value):
    """Returns sizes, type and value of an argument. Tensors of a list, as of an optimizer, are one of all elements."""
    if isinstance(value, torch.Tensor) and not value.is_nested:
        return value.shape, value.dtype, ""
    if isinstance(value, (list, tuple)):
        if all(type(each) in (int, bool) for each in value):
            return (), None, f"{[*value[:8]]}"
        if all(isinstance(each, torch.Tensor) and each.dtype == value[0].dtype for each in value):
            return (sum(each.numel() for each in value),), value[0].dtype, ""
    # Other numbers, which are in no formula, would make many different names.
    return (), None, str(value) if isinstance(value, bool) else _TYPES[value] if isinstance(value, torch.dtype) else ""


@functools.lru_cache(maxsize=1 << 14)
def _range(name, *facts):
    sizes, types, values = zip(*facts) if facts else ((), (), ())
    lists = {"types": [_TYPES.get(each, "") for each in types], "values": values}
    texts = [f", {what} = [{', '.join(each)}]" for what, each in lists.items() if any(each)]
    return marks.range(f"{name}, sizes = {[[*each] for each in sizes]}{''.join(texts)}")


class _Shapes(TorchDispatchMode):
    """Makes a range of each operator, below autograd: "aten::mm, sizes = [[8, 4], [4, 2]], types = [float, float]"."""

    supports_higher_order_operators = True
    ignore_compile_internals = classmethod(lambda cls: True)

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        is_special = types and any(each.__torch_dispatch__ is not torch._C._disabled_torch_dispatch_impl for each in types)
        if is_special and torch._C._len_torch_dispatch_stack() == 0:
            return NotImplemented  # Sharded tensors, for example, call operators on their parts.
        operator = None if is_special else _operator(function)
        if operator is None:
            return function(*args, **kwargs)
        name, arguments, is_composite = operator
        if is_composite:  # in inference mode
            with self:
                return function.decompose(*args, **kwargs)
        values = [*args, *(kwargs.get(key, default) for key, default in arguments[len(args):])]
        with _range(name, *map(_facts, values)):
            return function(*args, **kwargs)


def shapes():
    """Returns a context in which each operator is a range with shapes and types: `with lanescope.torch.shapes(): step()`.
    They give `stats -r roofline` and a counted MFU. Operators take longer meanwhile: use it for a few steps. It does
    nothing if no tool records. Fused kernels of `torch.compile` have no operator.
    """
    return _Shapes() if marks.is_recorded() else contextlib.nullcontext()
