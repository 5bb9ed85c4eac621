# SPDX-License-Identifier: Apache-2.0
"""Small models of different kinds for the blind programs. Each keeps a large GPU busy for some 6 to 12 ms a step in less
than 2 GB, by kernels long enough that the thread which launches them stays ahead.

Classes are made in functions, since torch is only imported when a program is chosen."""

import time

from .common import program


def blind(name, fault, where):
    return program(name, fault, where, blind=True)


def blind_clean(name):
    return program(name, None, None, blind=True)


def of(run, large, small):
    """A size for a GPU, and one for a machine without."""
    return large if run.cuda else small


def adam(run, parameters, **options):
    return run.torch.optim.AdamW(parameters, lr=1e-5, fused=True if run.cuda else None, **options)


def numpy_work(milliseconds):
    """NumPy that computes for so long by the clock of the thread."""
    import numpy

    values = numpy.arange(40000) * 7919 % 40009
    end = time.thread_time() + milliseconds / 1e3
    while time.thread_time() < end:
        numpy.sort(values)


class Training:
    """A model with a loss over `batches`, each a pair (values, target) in pinned memory."""

    def __init__(self, run, model, batches, loss=None):
        self.run, self.torch, self.model, self.batches = run, run.torch, model, batches
        self.optimizer = adam(run, model.parameters())
        self.loss = loss or (lambda found, target: self.torch.nn.functional.cross_entropy(found.float(), target))

    def batch(self, number):
        values, target = self.batches[number % len(self.batches)]
        return (values.to(self.run.device, non_blocking=True), target.to(self.run.device, non_blocking=True))

    def backward(self, values, target):
        loss = self.loss(self.model(values), target)
        loss.backward()
        return loss

    def update(self):
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)

    def step(self, number, batch=None):
        loss = self.backward(*(batch or self.batch(number)))
        self.update()
        return loss


def pairs(run, values, target, count=3):
    return [(run.pinned(values.clone()), run.pinned(target.clone())) for _ in range(count)]


def residual(run, width, hidden, depth):
    """A net of residual blocks, each with a norm and two products."""
    nn = run.torch.nn

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.norm, self.up, self.down = nn.LayerNorm(width), nn.Linear(width, hidden), nn.Linear(hidden, width)

        def forward(self, values):
            return values + self.down(nn.functional.gelu(self.up(self.norm(values))))

    return [Block() for _ in range(depth)]


def mlp(run, depth=6, rows=6144, width=2048):
    """Some 7 ms a step; less or more with another depth or number of rows."""
    torch, nn = run.torch, run.torch.nn
    torch.manual_seed(1)
    rows, width, entering = of(run, rows, 32), of(run, width, 64), of(run, 256, 16)
    model = nn.Sequential(nn.Linear(entering, width), *residual(run, width, 2 * width, depth), nn.Linear(width, 32))
    model = model.to(run.device, torch.bfloat16)
    return Training(run, model, pairs(run, torch.randn(rows, entering).to(torch.bfloat16), torch.randint(0, 32, (rows,))))


def decoder(run, layers=6, batch=6, length=1024, width=1024, heads=16, attend=None, dtype=None):
    """A language model with causal attention, or with `attend(queries, keys, values)`."""
    torch, nn = run.torch, run.torch.nn
    torch.manual_seed(2)
    batch, length, width, heads = of(run, batch, 2), of(run, length, 32), of(run, width, 64), of(run, heads, 4)
    functional, words = nn.functional, of(run, 2048, 128)
    attend = attend or (lambda q, k, v: functional.scaled_dot_product_attention(q, k, v, is_causal=True))

    class Layer(nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)
            self.mixed, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
            self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

        def forward(self, values):
            rows, time_steps, _ = values.shape
            parts = self.mixed(self.first(values)).view(rows, time_steps, 3, heads, width // heads)
            q, k, v = parts.permute(2, 0, 3, 1, 4).unbind(0)
            values = values + self.out(attend(q, k, v).transpose(1, 2).reshape(rows, time_steps, width))
            return values + self.down(functional.gelu(self.up(self.second(values))))

    class Decoder(nn.Module):
        def __init__(self):
            super().__init__()
            self.words, self.layers = nn.Embedding(words, width), nn.ModuleList([Layer() for _ in range(layers)])
            self.head = nn.Linear(width, words)

        def forward(self, tokens, added=None):
            values = self.words(tokens)
            if added is not None:
                values = values + added
            for layer in self.layers:
                values = layer(values)
            return self.head(values)

    model = Decoder().to(run.device, dtype or torch.bfloat16)
    tokens = torch.randint(0, words, (batch, length))

    def loss(found, target):
        return functional.cross_entropy(found.flatten(0, 1).float(), target.flatten())

    return Training(run, model, pairs(run, tokens, tokens.roll(-1, 1)), loss)


def convolution(run, depth=7, channels=128, count=32, side=64, norm=True):
    """Images through residual convolutions, some 5 ms a step."""
    torch, nn = run.torch, run.torch.nn
    torch.manual_seed(3)
    channels, count, side = of(run, channels, 8), of(run, count, 4), of(run, side, 16)

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.turn = nn.Conv2d(channels, channels, 3, padding=1, bias=not norm)
            self.norm = nn.BatchNorm2d(channels) if norm else nn.Identity()

        def forward(self, values):
            return values + nn.functional.relu(self.norm(self.turn(values)))

    model = nn.Sequential(nn.Conv2d(3, channels, 3, padding=1), *[Block() for _ in range(depth)],
                          nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, 10))
    model = model.to(run.device, torch.bfloat16, memory_format=torch.channels_last)
    images = torch.randn(count, 3, side, side).to(torch.bfloat16, memory_format=torch.channels_last)
    return Training(run, model, pairs(run, images, torch.randint(0, 10, (count,))))


def recurrent(run, length=40, count=1536, width=768):
    """A language model of letters: a GRU of two layers by cuDNN."""
    torch, nn = run.torch, run.torch.nn
    torch.manual_seed(4)
    length, count, width = of(run, length, 8), of(run, count, 8), of(run, width, 32)

    class Letters(nn.Module):
        def __init__(self):
            super().__init__()
            self.letters, self.gru = nn.Embedding(96, width), nn.GRU(width, width, num_layers=2)
            self.head = nn.Linear(width, 96)

        def forward(self, tokens):
            return self.head(self.gru(self.letters(tokens))[0])

    tokens = torch.randint(0, 96, (length, count))
    loss = lambda found, target: nn.functional.cross_entropy(found.flatten(0, 1).float(), target.flatten())
    return Training(run, Letters().to(run.device, torch.bfloat16), pairs(run, tokens, tokens.roll(-1, 0)), loss)


class Recommender:
    """Bags of sparse features and dense ones through a tower of products."""

    def __init__(self, run, rows=32768, dense=1024, bag=8, table=400_000):
        torch, nn = run.torch, run.torch.nn
        torch.manual_seed(5)
        self.run, self.torch = run, torch
        self.rows, self.dense, width = of(run, rows, 64), of(run, dense, 32), of(run, 2048, 64)
        self.table = of(run, table, 500)
        self.bags = nn.EmbeddingBag(self.table, 64, mode="sum").to(run.device)
        self.tower = nn.Sequential(nn.Linear(self.dense + 64, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(),
                                   nn.Linear(width, width // 2), nn.ReLU(), nn.Linear(width // 2, 1))
        self.tower.to(run.device, torch.bfloat16)
        self.optimizers = [torch.optim.SGD(self.bags.parameters(), lr=1e-3), adam(run, self.tower.parameters())]
        self.ids = torch.randint(0, self.table, (self.rows, bag), device=run.device)
        self.clicks = torch.rand(self.rows, device=run.device).round()

    def step(self, features, added=None):
        torch = self.torch
        sparse = self.bags(self.ids)
        if added is not None:
            sparse = sparse + added
        found = self.tower(torch.cat([features.to(torch.bfloat16), sparse.to(torch.bfloat16)], 1)).float().squeeze(1)
        loss = torch.nn.functional.binary_cross_entropy_with_logits(found, self.clicks)
        loss.backward()
        for each in self.optimizers:
            each.step()
            each.zero_grad(set_to_none=True)
        return loss


def denoiser(run, channels=192, count=32, side=64):
    """A small U-shaped net that guesses the noise of an image at a time, as diffusion models are trained."""
    torch, nn = run.torch, run.torch.nn
    torch.manual_seed(6)
    channels, count, side = of(run, channels, 8), of(run, count, 2), of(run, side, 16)

    class Stage(nn.Module):
        def __init__(self, entering):
            super().__init__()
            self.turn, self.norm = nn.Conv2d(entering, channels, 3, padding=1), nn.GroupNorm(4, channels)
            self.at = nn.Linear(64, channels)

        def forward(self, values, when):
            return nn.functional.silu(self.norm(self.turn(values))) + self.at(when)[:, :, None, None]

    class Denoiser(nn.Module):
        def __init__(self):
            super().__init__()
            self.enter, self.low, self.leave = Stage(3), Stage(channels), Stage(2 * channels)
            self.middle = nn.ModuleList([Stage(channels) for _ in range(4)])
            self.last = nn.Conv2d(channels, 3, 3, padding=1)

        def forward(self, images, when):
            first = self.enter(images, when)
            values = self.low(nn.functional.avg_pool2d(first, 2), when)
            for stage in self.middle:
                values = stage(values, when)
            values = nn.functional.interpolate(values, scale_factor=2.0, mode="nearest")
            return self.last(self.leave(torch.cat([first, values], 1), when))

    model = Denoiser().to(run.device, torch.bfloat16)
    optimizer = adam(run, model.parameters())
    images = torch.randn(count, 3, side, side, device=run.device, dtype=torch.bfloat16)
    when = torch.randn(count, 64, device=run.device, dtype=torch.bfloat16)

    def step(number, watch=None):
        noise = torch.randn_like(images)
        found = model(images + noise, when)
        loss = (found - noise).float().square().mean()
        loss.backward()
        if watch:
            watch(found)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        return loss

    step.channels, step.count, step.side = channels, count, side
    return step


def seldom(run, step, pause, period, step_range, limit=150):
    """Steps with `pause()` after each `period`-th. The cost is that of one such step, and shared out over all."""
    spent = []

    def both(number):
        step(number)
        if number % period == period - 1:
            run.sync()
            begin = time.perf_counter()
            pause()
            spent.append((time.perf_counter() - begin) * 1e3)

    truth = run.steps(both, None, step_range, limit)
    one = sum(spent[1:]) / max(len(spent) - 1, 1)
    return {**truth, "every": period, "costOfOneMs": round(one, 3), "costMs": round(one / period, 3)}
