# SPDX-License-Identifier: Apache-2.0
"""Faults of how the data comes: loading, copies, their memory. Functions have no telling names, since lines and functions
are part of what is recorded."""

import os
import tempfile
import time

from .common import Net, busy, program


def rows_of(run, shape, work_ms, count=1 << 20):
    """A data set whose rows cost the loading process `work_ms` of Python each."""

    class Rows(run.torch.utils.data.Dataset):
        def __init__(self):
            self.base = run.torch.randn(shape).to(run.torch.bfloat16)

        def __len__(self):
            return count

        def __getitem__(self, index):
            busy(work_ms)
            return self.base

    return Rows()


def loader_of(run, net, work_ms, workers, count=1 << 20, pieces=8, **options):
    """A loader of batches of `pieces` rows, each of which is an eighth of the batch and costs `work_ms`."""
    data = rows_of(run, (net.rows // pieces, net.inputs), work_ms, count * pieces)
    if workers:
        options.setdefault("prefetch_factor", 4)
        options.setdefault("persistent_workers", True)
    return run.torch.utils.data.DataLoader(data, batch_size=pieces, num_workers=workers, pin_memory=run.cuda, **options)


def shaped(run, net, batch):
    return batch.reshape(net.rows, net.inputs).to(run.device, non_blocking=True)


@program("pageable-input", "each step's input of 128 MB is copied from pageable memory, slowly and with the thread waiting",
         "the copy to the GPU at the start of a step: aten::to / cudaMemcpyAsync from pageable memory")
def _(run):
    net = Net(run, inputs=8192)
    free = [run.torch.empty(net.rows, net.inputs, dtype=net.dtype).fill_(0.5) for _ in range(4)]
    return run.steps(lambda i: net.step(i, free[i % 4].to(run.device)), lambda i: net.step(i), "step {}")


@program("main-thread-loading", "the loader has no workers, so the main thread makes each batch while the GPU waits",
         "between the steps: the DataLoader's next() in the main thread")
def _(run):
    net = Net(run)
    batches = iter(loader_of(run, net, 4, 0))
    ready = net.batches[0]
    return run.steps(lambda i: net.step(i, shaped(run, net, next(batches))),
                     lambda i: net.step(i, shaped(run, net, ready)))


@program("slow-workers", "two loader workers need 80 ms a batch, so the main thread waits for data each step",
         "between the steps: the DataLoader's next() waits for its workers")
def _(run):
    net = Net(run)
    batches = iter(loader_of(run, net, 10, 2))
    ready = net.batches[0]
    return run.steps(lambda i: net.step(i, shaped(run, net, next(batches))),
                     lambda i: net.step(i, shaped(run, net, ready)), "train_step {}")


@program("disk-read", "each batch is read from a file that is not in memory, in the main thread, while the GPU waits",
         "between the steps: os.pread in the main thread")
def _(run):
    net = Net(run)
    folder = tempfile.TemporaryDirectory(dir=os.environ.get("FAULTS_DISK") or "/var/tmp")
    path = os.path.join(folder.name, "data")
    block, blocks = os.urandom(1 << 20), 96 if run.cuda else 8
    with open(path, "wb") as file:
        for _ in range(blocks):
            file.write(block)
        file.flush()
        os.fsync(file.fileno())
    file, place = os.open(path, os.O_RDONLY), [0]

    def read(pieces):
        for _ in range(pieces):
            place[0] = (place[0] + 7919 * 4096) % ((blocks << 20) - (64 << 10))
            os.posix_fadvise(file, place[0] & ~4095, 64 << 10, os.POSIX_FADV_DONTNEED)
            os.pread(file, 64 << 10, place[0] & ~4095)

    os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
    begin = time.perf_counter()
    read(32)
    pieces = max(4, int(32 * 30e-3 / (time.perf_counter() - begin)))

    def step(number):
        read(pieces)
        net.step(number)

    run.extra = {"bytesPerStep": pieces << 16}
    return run.steps(step, lambda i: net.step(i), "step {}")


@program("cpu-preprocess", "the main thread augments each batch in Python for 30 ms before it launches anything",
         "at the start of a step: Python of the main thread, outside of any CUDA call")
def _(run):
    net = Net(run)

    def prepare(number):
        busy(30)
        return net.batch(number)

    def step(number):
        net.step(number, prepare(number))

    return run.steps(step, lambda i: net.step(i), "iteration {}")


@program("copy-not-overlapped", "512 MB of pinned input are copied on the stream of the kernels, which wait for them",
         "the copy to the GPU at the start of a step, on the compute stream")
def _(run):
    net, torch = Net(run), run.torch
    whole = [run.pinned(torch.empty(run.size(512 << 20), dtype=torch.uint8)) for _ in range(2)]
    there = torch.empty(run.size(512 << 20), dtype=torch.uint8, device=run.device)

    def step(number):
        there.copy_(whole[number % 2], non_blocking=True)
        net.step(number)

    return run.steps(step, lambda i: net.step(i), "step {}")


@program("small-copies", "a batch comes in 400 copies of some kB, one for each sample, instead of one",
         "the start of a step: 400 copies to the GPU")
def _(run):
    net = Net(run)
    count = run.size(400)
    samples = [run.pinned(run.torch.randn(net.rows // count, net.inputs).to(net.dtype)) for _ in range(count)]

    def step(number):
        inputs = run.torch.cat([each.to(run.device) for each in samples])
        net.model(inputs)
        net.step(number)

    def good(number):
        net.model(net.batch(number))
        net.step(number)

    return run.steps(step, good, "step {}", limit=60)


@program("large-dtoh", "all outputs of 64 MB are copied to the CPU at the end of each step, and the thread waits",
         "the end of a step: .cpu() of the outputs, a copy to pageable memory")
def _(run):
    net, torch = Net(run), run.torch
    outputs = torch.randn(run.size(8192), run.size(2048), device=run.device)
    kept = []

    def step(number):
        net.step(number)
        kept[:] = [outputs.cpu()]

    return run.steps(step, lambda i: net.step(i))


@program("layer-logging", "a hook moves 8 MB of the output of each layer to the CPU for statistics, every step",
         "the forward pass: .cpu() after each of the layers, copies DtoH that the thread waits for")
def _(run):
    net = Net(run)
    watched, seen = [False], []

    def hook(module, inputs, output):
        if watched[0]:
            seen.append(float(output.detach()[:1024].cpu()[0].float().mean()))

    for layer in net.model:
        if isinstance(layer, run.torch.nn.Linear):
            layer.register_forward_hook(hook)

    def step(number):
        watched[0] = True
        net.step(number)
        seen.clear()

    return run.steps(step, lambda i: net.step(i), "train step {}")


@program("ping-pong", "the same activation of 256 MB goes to the CPU and back in each step, though it is needed on the GPU only",
         "the middle of a step: a copy DtoH and then a copy HtoD of the same bytes")
def _(run):
    net, torch = Net(run), run.torch
    held_values = torch.randn(run.size(1 << 26), device=run.device)
    host = run.pinned(torch.empty(held_values.shape))

    def step(number):
        loss = net.backward(net.batch(number))
        host.copy_(held_values, non_blocking=True)
        held_values.copy_(host, non_blocking=True)
        net.update()
        return loss

    return run.steps(step, lambda i: net.step(i), "step {}")


@program("offloaded-optimizer", "the optimizer works on the CPU: gradients go there and parameters come back in each step",
         "the end of a step: copies DtoH of all gradients, the optimizer on the CPU, copies HtoD of all parameters")
def _(run):
    net, torch = Net(run, width=2048, depth=4), run.torch
    there = [each.detach().float().cpu() for each in net.model.parameters()]
    work = torch.optim.SGD(there, lr=1e-6, momentum=0.9, foreach=False)

    def step(number):
        net.backward(net.batch(number))
        for mine, theirs in zip(net.model.parameters(), there):
            theirs.grad = mine.grad.cpu().float()
            mine.grad = None
        work.step()
        with torch.no_grad():
            for mine, theirs in zip(net.model.parameters(), there):
                mine.copy_(theirs)

    return run.steps(step, lambda i: net.step(i), "step {}", limit=60)


@program("epoch-workers", "each epoch of 15 batches starts four new loader workers, and the GPU waits for their start",
         "every 15th step: next() of a new DataLoader iterator starts processes and waits for their first batch")
def _(run):

    net, spent = Net(run), []
    data = loader_of(run, net, 2, 4, count=15, persistent_workers=False)
    state = [iter(())]

    def step(number):
        batch = next(state[0], None)
        if batch is None:
            run.sync()
            begin = time.perf_counter()
            state[0] = iter(data)
            batch = next(state[0])
            spent.append((time.perf_counter() - begin) * 1e3)
        net.step(number, shaped(run, net, batch))

    truth = run.steps(step, None)
    each = sum(spent[1:]) / max(len(spent) - 1, 1)
    return {**truth, "every": 15, "costOfOneMs": round(each, 3), "costMs": round(each / 15, 3)}


@program("uneven-loader", "the one loader worker needs 150 ms for every 8th batch and has no room to work ahead",
         "every 8th step: next() of the DataLoader waits for its worker")
def _(run):
    torch = run.torch
    net = Net(run)

    class Rows(torch.utils.data.Dataset):
        base = torch.randn(net.rows, net.inputs).to(net.dtype)

        def __len__(self):
            return 1 << 20

        def __getitem__(self, index):
            busy(150 if index % 8 == 7 else 2)
            return self.base


    batches = iter(torch.utils.data.DataLoader(Rows(), batch_size=None, num_workers=1, prefetch_factor=2,
                                               pin_memory=run.cuda))
    waits = []

    def step(number):
        begin = time.perf_counter()
        batch = next(batches)
        waits.append((time.perf_counter() - begin) * 1e3)
        net.step(number, shaped(run, net, batch))

    truth = run.steps(step, None, "step {}")
    return {**truth, "every": 8, "costMs": round(sum(waits[10:]) / len(waits[10:]), 3)}
