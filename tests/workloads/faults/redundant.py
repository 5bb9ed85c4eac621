# SPDX-License-Identifier: Apache-2.0
"""Faults of work that is not needed: copies on the GPU, memory asked of the driver, hooks, trials."""

import ctypes

from .common import Net, Skipped, program


def runtime(run):
    """The CUDA runtime that PyTorch has loaded."""
    if not run.cuda:
        raise Skipped("needs a GPU")
    with open("/proc/self/maps") as file:
        paths = sorted({line.split(maxsplit=5)[5].strip() for line in file if "libcudart.so" in line})
    if not paths:
        raise Skipped("PyTorch has no libcudart of its own here")
    return ctypes.CDLL(paths[0])


@program("driver-allocations", "each layer gets a workspace of 192 MB by cudaMalloc in each step and returns it by cudaFree",
         "the forward pass: cudaMalloc and cudaFree around each layer, and the wait for the GPU in cudaFree")
def _(run):
    net, library, active, places = Net(run), runtime(run), [False], {}
    library.cudaMalloc.argtypes = [ctypes.POINTER(ctypes.c_void_p), ctypes.c_size_t]
    library.cudaFree.argtypes = [ctypes.c_void_p]

    def before(module, _):
        if active[0]:
            places[module] = ctypes.c_void_p()
            if library.cudaMalloc(ctypes.byref(places[module]), 192 << 20):
                raise MemoryError("cudaMalloc failed")

    def after(module, *_):
        if active[0]:
            library.cudaFree(places.pop(module))

    for layer in net.model:
        if isinstance(layer, run.torch.nn.Linear):
            layer.register_forward_pre_hook(before)
            layer.register_forward_hook(after)

    def step(number, allocates=True):
        active[0] = allocates
        net.step(number)

    return run.steps(step, lambda i: step(i, False), "step {}", limit=120)


@program("pinned-again", "the memory of each batch of 160 MB is pinned in each step and released at its end",
         "the start and the end of a step: cudaHostRegister and cudaHostUnregister")
def _(run):
    net, torch = Net(run), run.torch
    raw = [torch.ones(run.size(160 << 20), dtype=torch.uint8) for _ in range(2)]
    fixed, calls = run.pinned(raw[0].clone()), torch.cuda.cudart() if run.cuda else None

    def step(number, again=True):
        batch = raw[number % 2] if again else fixed
        if again and calls:
            calls.cudaHostRegister(batch.data_ptr(), batch.nbytes, 0)
        batch.to(run.device, non_blocking=True)
        net.step(number)
        if again and calls:
            run.sync()
            calls.cudaHostUnregister(batch.data_ptr())

    return run.steps(step, lambda i: step(i, False), "step {}", limit=90)


@program("growing-hooks", "each step adds forward hooks that nothing removes, so that each step is slower than the one before",
         "the forward pass: the hooks `watch`, eight more of them in each step")
def _(run):
    net, seen = Net(run, width=1024, depth=16), {}

    def watch(module, inputs, found):
        seen[id(module)] = found.detach().float().norm()

    def step(number):
        for layer in net.model[:8]:
            layer.register_forward_hook(watch)
        net.step(number)

    return run.steps(step, lambda i: net.step(i), "step {}", limit=100)


@program("copies-on-gpu", "a memory of 4 GB is moved on by a few rows in each step, for which all of it is copied twice",
         "the start of a step: copies DtoD of clone() and copy_()")
def _(run):
    net, torch = Net(run), run.torch
    rows, new = run.size(1 << 20), run.size(2048)
    memory = torch.zeros(rows, run.size(4096), dtype=torch.uint8, device=run.device)
    fresh = torch.ones(new, memory.shape[1], dtype=torch.uint8, device=run.device)

    def step(number, moves=True):
        if moves:
            memory[:-new].copy_(memory[new:].clone())
        memory[-new:] = fresh
        net.step(number)

    return run.steps(step, lambda i: step(i, False), "step {}", limit=110)


@program("growing-cache", "torch.cat copies the 3 GB of a cache of keys and values for each token",
         "the whole request: the kernels of torch.cat")
def _(run):
    net, torch = Net(run, rows=512), run.torch
    cache = torch.zeros(run.size(1536), run.size(1 << 20), dtype=torch.bfloat16, device=run.device)
    new = cache[:1].clone()

    def request(number, copies=True):
        with torch.no_grad():
            for _ in range(4):
                if copies:
                    torch.cat([cache, new])
                else:
                    cache[-1:] = new
                net.model(net.batch(number))

    return run.steps(request, lambda i: request(i, False), "request {}", limit=90)


@program("dense-gradient", "the gradient of a table of 4 million rows is dense: it is filled with zeros, and all of the table is "
         "updated for the 16 thousand rows of a batch", "backward and optimizer: the filling and the update of the whole table")
def _(run):
    net, torch = Net(run), run.torch
    table = torch.zeros(run.size(4_000_000), 256, device=run.device).requires_grad_()
    optimizer = torch.optim.SGD([table], lr=1e-3)
    seen = torch.randint(0, table.shape[0], (run.size(16384),), device=run.device)

    def step(number, dense=True):
        if dense:
            torch.nn.functional.embedding(seen, table).square().mean().backward()
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
        else:
            table.detach().index_add_(0, seen, table.detach().index_select(0, seen), alpha=-1e-3)
        net.step(number)

    return run.steps(step, lambda i: step(i, False), "step {}", limit=110)
