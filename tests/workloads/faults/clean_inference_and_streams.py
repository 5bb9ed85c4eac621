# SPDX-License-Identifier: Apache-2.0
"""Programs of the second blind set in which nothing is wrong, by what goes on beside the kernels."""

import queue
import threading
import zlib

from .small_models import adam, of
from .vision_graph_models import blocks, experts, lstm, mixer, second_clean, tower, unet, vision


@second_clean("c29")
def _(run):
    """Inference whose answers go to pinned memory without waiting."""
    net, torch = vision(run, depth=10), run.torch
    kept = [run.pinned(torch.zeros(len(net.batches[0][0]), 100)) for _ in range(4)]

    def batch(number):
        with torch.no_grad():
            kept[number % 4].copy_(net.model(net.batch(number)[0]).softmax(1).float(), non_blocking=True)

    return run.steps(batch, step_range="batch {}", limit=150)


@second_clean("c32")
def _(run):
    """Inference by one CUDA graph for each batch."""
    net, torch = mixer(run, depth=16), run.torch
    values = net.batch(0)[0]
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side), torch.no_grad():
        for _ in range(3):
            net.model(values)
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph), torch.no_grad():
        found = net.model(values)
    kept = run.pinned(found.cpu())

    def batch(number):
        values.copy_(net.batches[number % 3][0], non_blocking=True)
        graph.replay()
        kept.copy_(found, non_blocking=True)

    return run.steps(batch, step_range="batch {}", limit=150)


@second_clean("c34")
def _(run):
    """A moving average of the weights, kept on the GPU."""
    net, torch = lstm(run), run.torch
    mine = list(net.model.parameters())
    average = [each.detach().clone() for each in mine]

    def step(number):
        net.step(number)
        with torch.no_grad():
            torch._foreach_lerp_(average, mine, 0.01)

    return run.steps(step, step_range="step {}", limit=90)


@second_clean("c35")
def _(run):
    """The next batch of 50 MB is copied by a stream of its own while this one is computed."""
    torch, net = run.torch, tower(run, entering=2048)
    side = torch.cuda.Stream()
    sources = [each[0] for each in net.batches]
    target = net.batches[0][1].to(run.device)
    rooms = [torch.empty_like(sources[0], device=run.device) for _ in range(2)]
    filled, used = ([torch.cuda.Event() for _ in range(2)] for _ in range(2))

    def fetch(number):
        with torch.cuda.stream(side):
            side.wait_event(used[number % 2])
            rooms[number % 2].copy_(sources[number % 3], non_blocking=True)
            filled[number % 2].record(side)

    fetch(0)

    def step(number):
        main = torch.cuda.current_stream()
        fetch(number + 1)
        main.wait_event(filled[number % 2])
        net.step(number, (rooms[number % 2], target))
        used[number % 2].record(main)

    return run.steps(step, step_range="step {}", limit=120)


@second_clean("c38")
def _(run):
    """A transformer that removes noise, its layers told the time by a scale and a shift."""
    torch, nn = run.torch, run.torch.nn
    torch.manual_seed(51)
    count, length, width = of(run, 48, 2), of(run, 256, 16), of(run, 1024, 32)

    class Denoiser(nn.Module):
        def __init__(self):
            super().__init__()
            self.enter, self.layers = nn.Linear(64, width), blocks(run, width, 4)
            self.told, self.leave = nn.ModuleList([nn.Linear(128, 2 * width) for _ in range(4)]), nn.Linear(width, 64)

        def forward(self, values, when):
            values = self.enter(values)
            for layer, told in zip(self.layers, self.told):
                scale, shift = told(when)[:, None].chunk(2, 2)
                values = layer(values * (1 + scale) + shift)
            return self.leave(values)

    model = Denoiser().to(run.device, torch.bfloat16)
    optimizer = adam(run, model.parameters())
    latents = torch.randn(count, length, 64, device=run.device, dtype=torch.bfloat16)
    when = torch.randn(count, 128, device=run.device, dtype=torch.bfloat16)

    def step(number):
        noise = torch.randn_like(latents)
        (model(latents + noise, when) - noise).float().square().mean().backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)

    return run.steps(step, step_range="iteration {}", limit=120)


@second_clean("c39")
def _(run):
    """Two worker processes of a DataLoader that have each batch ready in time."""
    torch, net = run.torch, vision(run)
    # Memory that is pinned is not there in a process that was forked.
    images = [each[0].clone() for each in net.batches]

    class Images(torch.utils.data.Dataset):
        def __len__(self):
            return 1 << 20

        def __getitem__(self, index):
            return images[index % 3] * 1.0

    loader = torch.utils.data.DataLoader(Images(), batch_size=None, num_workers=2, prefetch_factor=4, pin_memory=run.cuda,
                                         multiprocessing_context="fork")
    batches = iter(loader)

    def step(number):
        values = next(batches).to(run.device, non_blocking=True)
        net.step(number, (values, net.batch(number)[1]))

    return run.steps(step, step_range="step {}", limit=120)


@second_clean("c41")
def _(run):
    """A second thread packs the log by zlib, which leaves the GIL to others."""
    net, lines = experts(run), queue.Queue()

    def write():
        kept = b""
        while (line := lines.get()) is not None:
            kept = zlib.compress(kept[-20000:] + line * 2000)

    thread = threading.Thread(target=write, name="writer", daemon=True)
    thread.start()

    def step(number):
        net.step(number)
        lines.put(b"step %d is done\n" % number)

    truth = run.steps(step, step_range="step {}", limit=120)
    lines.put(None)
    thread.join()
    return truth


@second_clean("c43")
def _(run):
    """Segmentation with a schedule of the learning rate; the loss is added up on the GPU."""
    torch, net = run.torch, unet(run, count=40)
    total = torch.zeros((), device=run.device)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(net.optimizer, 1000)

    def step(number):
        total.add_(net.step(number).detach())
        schedule.step()

    return run.steps(step, step_range="step {}", limit=120)
