# SPDX-License-Identifier: Apache-2.0
"""Has its stacks read within modules of a model, and prints the modules of each as a line of JSON.

usage: callModules.py LIBRARY FOLDER
       callModules.py LIBRARY FOLDER AGENT CUPTI

FOLDER gets a stand-in of PyTorch's torch/nn/modules/module.py. With "torch" as FOLDER the real PyTorch is used, if this
Python has it. The second has the agent record a node of a CUDA graph in each place, in the order of the stacks, and then a
launch of a graph with copies of all of them.
"""
import collections
import ctypes
import importlib.util
import json
import os
import sys

library = ctypes.CDLL(sys.argv[1])
launches = len(sys.argv) > 3
if launches:
    library.beginCuda.argtypes = [ctypes.c_char_p, ctypes.c_char_p]
    library.captureHere.argtypes = library.launchGraphHere.argtypes = [ctypes.c_uint64]
    library.copyNode.argtypes = [ctypes.c_uint64, ctypes.c_uint64]
    if library.beginCuda(*(argument.encode() for argument in sys.argv[3:5])) != 0:
        sys.exit("no simulated GPU")
else:
    library.stacksHere.restype = ctypes.c_size_t
    library.stacksHere.argtypes = [ctypes.c_char_p, ctypes.c_size_t]

STANDIN = '''
class Module:
    def __init__(self):
        super().__setattr__("training", True)
        super().__setattr__("_parameters", {})
        super().__setattr__("_modules", {})

    def __setattr__(self, name, value):
        modules = self.__dict__.get("_modules")
        if isinstance(value, Module):
            modules[name] = value
        else:
            super().__setattr__(name, value)

    def __getattr__(self, name):
        return self.__dict__["_modules"][name]

    def _apply(self, fn):
        fn()

    def _wrapped_call_impl(self, *args, **kwargs):
        return self._call_impl(*args, **kwargs)

    def _call_impl(self, *args, **kwargs):
        def inner():
            return self.forward(*args, **kwargs)

        return inner()

    __call__ = _wrapped_call_impl


class ModuleList(Module):
    def __init__(self, modules):
        super().__init__()
        for number, module in enumerate(modules):
            self.__dict__["_modules"][str(number)] = module

    def __iter__(self):
        return iter(self._modules.values())
'''


def standin(folder):
    path = os.path.join(folder, "torch/nn/modules/module.py")
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as file:
        file.write(STANDIN)
    spec = importlib.util.spec_from_file_location("module", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


if sys.argv[2] == "torch":
    from torch import nn
else:
    nn = standin(sys.argv[2])


def modules(room=ctypes.create_string_buffer(1 << 18)):
    length = library.stacksHere(room, len(room))
    lines = [line.split("\t") for line in room.raw[:length].decode().splitlines()]
    return [function for file, function, _ in lines
            if file.endswith("torch/nn/modules/module.py") and "_call_impl" not in function
            and not function.endswith("inner")]


class Leaf(nn.Module):
    def forward(self, seen):
        if launches:
            seen.append(None)
            library.captureHere(len(seen))
        else:
            seen.append(modules())


class Twin(Leaf):
    """Its forward is that of another class."""


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = Leaf(), Twin()
        self.largé = Leaf()

    def forward(self, seen):
        for module in (self.first, self.second, self.largé):
            module(seen)


class Many(nn.Module):
    """Has more attributes than a dictionary with shared keys, and lost some."""

    def __init__(self):
        super().__init__()
        for number in range(60):
            setattr(self, f"attribute{number}", number)
        for number in range(40):
            setattr(self, f"module{number}", Leaf())
        for number in range(0, 60, 2):
            delattr(self, f"attribute{number}")

    def forward(self, seen):
        self.module39(seen)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([Block() for _ in range(3)])
        self.many = Many()
        self.kept = [Leaf()]  # not a module of the model

    def forward(self, seen):
        for block in self.layers:
            block(seen)
        self.many(seen)
        self.kept[0](seen)


model, told = Model(), []
for _ in range(1 if launches else 3):
    model(told)
if launches:
    for node in range(1, len(told) + 1):
        library.copyNode(1000 + node, node)
    for _ in range(2):
        for node in range(1, len(told) + 1):
            library.launchGraphHere(1000 + node)
    sys.exit()
# As if a later model had the addresses of this one: its modules change their places and classes.
layers = model.layers._modules
layers["0"], layers["2"] = layers["2"], layers["0"]
for block in layers.values():
    block._modules["first"].__class__, block._modules["second"].__class__ = Twin, Leaf
    block._modules["first"], block._modules["second"] = block._modules["second"], block._modules["first"]
if sys.argv[2] != "torch":
    model._apply(modules)
    model(told)
others = [Model() for _ in range(4)]
for other in others:
    other(told)
print(json.dumps({"told": told, "paths": sys.version_info >= (3, 11) and "free-threading" not in sys.version}))
