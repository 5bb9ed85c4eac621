# SPDX-License-Identifier: Apache-2.0
"""Blind programs in which nothing is wrong, by what goes on beside the steps: loading, evaluation, saving, fetching."""

import os
import queue
import tempfile
import threading

from .small_models import blind_clean, convolution, decoder, mlp, of


@blind_clean("b35")
def _(run):
    """Batches of three sizes in turn, each large enough."""
    net = mlp(run, rows=8192)
    rows = [len(net.batches[0][1]) * part // 4 for part in (4, 3, 2)]

    def step(number):
        values, target = net.batches[0]
        count = rows[number % 3]
        net.step(number, (values[:count].to(run.device, non_blocking=True), target[:count].to(run.device, non_blocking=True)))

    return run.steps(step, step_range="step {}")


@blind_clean("b36")
def _(run):
    """After each 30 steps two batches are evaluated, whose sum stays on the GPU."""
    net, torch = convolution(run), run.torch
    total = torch.zeros((), device=run.device)

    def step(number):
        with run.range(f"step {number}"):
            net.step(number)
        if number % 30 == 29:
            with run.range("evaluation"), torch.no_grad():
                for part in range(2):
                    total.add_(net.model(net.batch(part)[0]).float().mean())

    return run.steps(step)


@blind_clean("b38")
def _(run):
    """Activations are computed anew in the backward pass instead of being kept."""
    from torch.utils.checkpoint import checkpoint

    net = mlp(run, depth=6, rows=8192)

    def step(number):
        values, target = net.batch(number)
        for block in net.model:
            values = checkpoint(block, values, use_reentrant=False, preserve_rng_state=False)
        net.loss(values, target).backward()
        net.update()

    return run.steps(step, step_range="step {}")


@blind_clean("b40")
def _(run):
    """Every 40th step the parameters are fetched beside the next step's work, and a thread writes them."""
    torch, net = run.torch, mlp(run, depth=4, rows=12288)
    side, orders = torch.cuda.Stream(), queue.Queue()
    mine = list(net.model.parameters())
    here = [run.pinned(torch.empty(each.shape, dtype=each.dtype)) for each in mine]
    fetched = [None]

    def write(folder):
        while True:
            event = orders.get()
            if event is None:
                return
            event.synchronize()
            with open(os.path.join(folder, "model"), "wb", buffering=0) as file:
                for each in here:
                    file.write(each.view(torch.int16).numpy())

    def step(number):
        net.backward(*net.batch(number))
        if fetched[0]:
            torch.cuda.current_stream().wait_event(fetched[0])
            fetched[0] = None
        net.update()
        if number % 40 == 39:
            side.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(side), torch.no_grad():
                for each, there in zip(mine, here):
                    there.copy_(each, non_blocking=True)
            fetched[0] = torch.cuda.Event()
            fetched[0].record(side)
            orders.put(fetched[0])

    with tempfile.TemporaryDirectory(dir=os.environ.get("FAULTS_DISK") or "/var/tmp") as folder:
        thread = threading.Thread(target=write, args=(folder,), name="writer")
        thread.start()
        try:
            return run.steps(step, step_range="step {}")
        finally:
            orders.put(None)
            thread.join()


@blind_clean("b41")
def _(run):
    """The next batch of 150 MB comes on a stream of its own while this one is computed."""
    net, torch = mlp(run, depth=8), run.torch
    size = of(run, 150 << 20, 1 << 12)
    here = [run.pinned(torch.zeros(size, dtype=torch.uint8)) for _ in range(2)]
    there = [torch.empty(size, dtype=torch.uint8, device=run.device) for _ in range(2)]
    copies, batch = torch.cuda.Stream(), net.batch(0)

    def step(number):
        main = torch.cuda.current_stream()
        main.wait_stream(copies)
        copies.wait_stream(main)
        with torch.cuda.stream(copies):
            there[number % 2].copy_(here[number % 2], non_blocking=True)
        net.step(number, batch)

    return run.steps(step, step_range="step {}")


@blind_clean("b44")
def _(run):
    """Four processes load ahead, each in less time than a step needs."""
    net, torch = convolution(run, depth=9, count=48), run.torch
    # Processes that are forked may not touch pinned memory.
    images, target = (each.clone() for each in net.batches[0])

    class Images(torch.utils.data.Dataset):
        def __len__(self):
            return 1 << 20

        def __getitem__(self, number):
            return images.clone() * (1 + number % 5 / 100), target

    data = torch.utils.data.DataLoader(Images(), batch_size=None, num_workers=of(run, 4, 1), prefetch_factor=4,
                                       pin_memory=run.cuda, persistent_workers=True)
    batches = iter(data)

    def step(number):
        values, wanted = next(batches)
        net.step(number, (values.to(run.device, non_blocking=True), wanted.to(run.device, non_blocking=True)))

    return run.steps(step, step_range="step {}")


@blind_clean("b46")
def _(run):
    """Requests of a decoder: a thread makes the tokens ahead, and results go to pinned memory with nobody waiting."""
    net, torch = decoder(run, layers=8, batch=8), run.torch
    shape, ready, ends = net.batches[0][0].shape, queue.Queue(maxsize=8), threading.Event()
    results = [run.pinned(torch.zeros(shape, dtype=torch.long)) for _ in range(4)]

    def make():
        while not ends.is_set():
            try:
                ready.put(run.pinned(torch.randint(0, of(run, 2048, 128), shape)), timeout=1)
            except queue.Full:
                pass

    thread = threading.Thread(target=make, name="requests", daemon=True)
    thread.start()

    def request(number):
        tokens = ready.get().to(run.device, non_blocking=True)
        with torch.no_grad():
            results[number % 4].copy_(net.model(tokens).argmax(2), non_blocking=True)

    truth = run.steps(request, step_range="request {}", limit=250)
    ends.set()
    thread.join()
    return truth
