# SPDX-License-Identifier: Apache-2.0
"""Blind faults of what the GPU is given to do, how it is waited for, and its memory."""

import ctypes

from .small_models import Recommender, blind, convolution, decoder, mlp, of, residual
from .common import Skipped, calibrated


@blind("b12", "a request waits for the GPU after each of its 96 blocks, as somebody had timed them one by one",
       "the whole request: torch.cuda.synchronize() after each block")
def _(run):
    torch = run.torch
    width = of(run, 1024, 32)
    blocks = torch.nn.ModuleList(residual(run, width, width, of(run, 96, 6))).to(run.device, torch.bfloat16)
    values = torch.randn(of(run, 6144, 16), width, device=run.device, dtype=torch.bfloat16)

    def request(number, waits=True):
        found = values
        with torch.no_grad():
            for block in blocks:
                found = block(found)
                if waits:
                    torch.cuda.synchronize()

    return run.steps(request, lambda i: request(i, False), "request {}", limit=100)


def memory_functions(run):
    """cudaMalloc and cudaFree of the runtime that PyTorch has loaded; malloc and free without a GPU."""
    if not run.cuda:
        library = ctypes.CDLL(None)
        library.malloc.restype, library.malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
        library.free.argtypes = [ctypes.c_void_p]
        return lambda size: library.malloc(size), library.free
    with open("/proc/self/maps") as file:
        paths = sorted({line.split(maxsplit=5)[5].strip() for line in file if "libcudart.so" in line})
    if not paths:
        raise Skipped("PyTorch has no libcudart of its own here")
    library = ctypes.CDLL(paths[0])
    library.cudaMalloc.argtypes = [ctypes.POINTER(ctypes.c_void_p), ctypes.c_size_t]
    library.cudaFree.argtypes = [ctypes.c_void_p]

    def allocate(size):
        place = ctypes.c_void_p()
        if library.cudaMalloc(ctypes.byref(place), size):
            raise MemoryError(f"cudaMalloc of {size} bytes failed")
        return place

    return allocate, library.cudaFree


@blind("b16", "each block of the model gets a workspace of 192 MB by cudaMalloc in each step and gives it back by cudaFree",
       "the forward pass: cudaMalloc and cudaFree in each block, and the wait for the GPU in cudaFree")
def _(run):
    net = mlp(run, depth=8)
    allocate, free = memory_functions(run)
    active, places = [False], {}

    def before(module, _):
        if active[0]:
            places[module] = allocate(of(run, 192 << 20, 1 << 16))

    def after(module, *_):
        if active[0]:
            free(places.pop(module))

    for block in list(net.model)[:-1]:
        block.register_forward_pre_hook(before)
        block.register_forward_hook(after)

    def step(number):
        active[0] = True
        net.step(number)
        active[0] = False

    return run.steps(step, lambda i: net.step(i), "step {}", limit=120)


@blind("b17", "attention goes over its 16 heads in a Python loop, so that there are thousands of tiny kernels",
       "the whole step: launches in the forward and the backward pass are slower than the kernels")
def _(run):
    torch = run.torch
    looped = [False]

    def attend(q, k, v):
        if not looped[0]:
            return torch.nn.functional.scaled_dot_product_attention(q, k, v)
        found = []
        for head in range(q.shape[1]):
            scores = q[:, head] @ k[:, head].transpose(1, 2) / q.shape[3] ** 0.5
            found.append(torch.softmax(scores, 2) @ v[:, head])
        return torch.stack(found, 1)

    net = decoder(run, layers=6, batch=4, length=256, attend=attend)

    def step(number):
        looped[0] = True
        net.step(number)
        looped[0] = False

    return run.steps(step, lambda i: net.step(i), "step {}", limit=36)


@blind("b18", "the features are whitened by a matrix that came from NumPy, so that this product is in float64",
       "the start of a step: the product in float64, a kernel of several milliseconds")
def _(run):
    import numpy

    net, torch = mlp(run), run.torch
    width = of(run, 4096, 32)
    matrix = torch.from_numpy(numpy.random.default_rng(0).standard_normal((width, width)) / width ** 0.5).to(run.device)
    features = torch.randn(of(run, 8192, 16), width, device=run.device, dtype=torch.bfloat16)
    small = matrix.to(torch.bfloat16)

    def step(number, by=matrix):
        white = features.to(by.dtype) @ by
        net.step(number)
        return white.mean()

    return run.steps(step, lambda i: step(i, small), "step {}")


@blind("b20", "each of 48 times the model asks whether an expert has any token, the answer of which only the GPU knows",
       "the whole request: `if mask.any()` (aten::is_nonzero, .item()) waits for the GPU, four times a layer")
def _(run):
    torch, nn = run.torch, run.torch.nn
    torch.manual_seed(8)
    width, rows, experts = of(run, 1024, 32), of(run, 24576, 32), 4
    layers = nn.ModuleList([nn.ModuleList([nn.Sequential(nn.Linear(width, width), nn.GELU(), nn.Linear(width, width))
                                           for _ in range(experts)]) for _ in range(12)]).to(run.device, torch.bfloat16)
    values = torch.randn(rows, width, device=run.device, dtype=torch.bfloat16)
    chosen = torch.arange(experts, device=run.device).repeat_interleave(rows // experts)

    def request(number, asks=True):
        found = values
        with torch.no_grad():
            for layer in layers:
                parts = []
                for which, expert in enumerate(layer):
                    mask = chosen == which
                    if not asks or mask.any():
                        parts.append(expert(found[which * rows // experts : (which + 1) * rows // experts]))
                found = found + torch.cat(parts)

    return run.steps(request, lambda i: request(i, False), "request {}", limit=100)


@blind("b25", "most rows of a table are looked up by the one index of the padding, and the gradient of table[ids] adds them "
       "up one after the other",
       "the backward pass: the one kernel of the backward of indexing (index_put_ that accumulates)")
def _(run):
    net, torch = Recommender(run), run.torch
    table = torch.zeros(of(run, 20000, 50), 64, device=run.device, requires_grad=True)
    features = run.pinned(torch.randn(net.rows, net.dense).to(torch.bfloat16)).to(run.device)

    def make(size):
        ids = torch.zeros(size, dtype=torch.long, device=run.device)
        ids[::8] = torch.arange(len(ids[::8]), device=run.device) % len(table)
        return ids, lambda look: torch.autograd.grad(look(ids).sum(), table)

    by_index = lambda ids: table[ids]
    by_layer = lambda ids: torch.nn.functional.embedding(ids, table)
    parts = {}

    def timed(size):
        parts["ids"], parts["gradient"] = make(size)
        return lambda: parts["gradient"](by_index)

    calibrated(run, timed, 8, of(run, 1 << 13, 64), of(run, 1 << 20, 256))

    def step(number, look=by_index):
        net.step(features, look(parts["ids"]).mean())
        table.grad = None

    return run.steps(step, lambda i: step(i, by_layer), "step {}")


@blind("b33", "a cache of 1 GB is made by torch.zeros anew for each of 12 parts of a request, though it is written before "
       "it is read", "the whole request: memset or fill kernels of 1 GB")
def _(run):
    net, torch = decoder(run, layers=8, batch=8), run.torch
    size = of(run, 1 << 30, 1 << 12)
    parts = [torch.randint(0, 64, net.batches[0][0].shape, device=run.device) for _ in range(3)]

    def request(number, anew=True):
        with torch.no_grad():
            for part in range(3):
                for _ in range(4):
                    cache = torch.zeros(size, dtype=torch.uint8, device=run.device) if anew else None
                    del cache
                net.model(parts[part])

    return run.steps(request, lambda i: request(i, False), "request {}", limit=160)


@blind("b39", "cudnn.benchmark is on while the images of each batch have another size, so that cuDNN tries its algorithms anew "
       "in each step", "the convolutions of a step: cuDNN's trials of many kernels, workspaces and waits")
def _(run):
    net, torch = convolution(run, norm=False, depth=6), run.torch
    target = net.batches[0][1].to(run.device)
    count = len(target)

    def step(number, trials=True):
        torch.backends.cudnn.benchmark = trials
        height, width = of(run, 56, 8) + number % 16, of(run, 56, 8) + number // 16 % 16
        images = torch.zeros(count, 3, height, width, device=run.device, dtype=torch.bfloat16)
        net.step(number, (images.to(memory_format=torch.channels_last), target))

    return run.steps(step, lambda i: step(i, False), "step {}", limit=60)
