# SPDX-License-Identifier: Apache-2.0
"""Models of the second set of blind programs, other ones than those of the first. Each keeps a large GPU busy for some 7
to 12 ms a step in less than 3 GB, by kernels long enough that the thread which launches them stays ahead.

Classes are made in functions, since torch is only imported when a program is chosen."""

import time

from .small_models import Training, of, pairs
from .common import program


def second(name, fault, where):
    return program(name, fault, where, second=True)


def second_clean(name):
    return program(name, None, None, second=True)


def repeats(run, function, milliseconds):
    """How often `function` is to be called for so many milliseconds."""
    function()
    begin, count = time.perf_counter(), 0
    while count < 3 or time.perf_counter() - begin < 0.02:
        function()
        count += 1
    return max(round(of(run, milliseconds, 1) / ((time.perf_counter() - begin) * 1e3 / count)), 1)


def blocks(run, width, depth, heads=16, cross=False, causal=False):
    """Layers of a transformer; those of a decoder look at `memory` also."""
    nn = run.torch.nn
    functional, heads = nn.functional, of(run, heads, 4)

    def split(values, parts):
        rows, length, _ = values.shape
        return values.view(rows, length, parts, heads, width // heads).permute(2, 0, 3, 1, 4).unbind(0)

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.norms = nn.ModuleList([nn.LayerNorm(width) for _ in range(3 if cross else 2)])
            self.mixed, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
            self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
            if cross:
                self.asked, self.back = nn.Linear(width, width), nn.Linear(width, width)
                self.told = nn.Linear(width, 2 * width)

        def forward(self, values, memory=None, mask=None):
            found = functional.scaled_dot_product_attention(*split(self.mixed(self.norms[0](values)), 3), attn_mask=mask,
                                                            is_causal=causal and mask is None)
            values = values + self.out(found.transpose(1, 2).reshape(values.shape))
            if cross:
                asked, = split(self.asked(self.norms[2](values)), 1)
                found = functional.scaled_dot_product_attention(asked, *split(self.told(memory), 2))
                values = values + self.back(found.transpose(1, 2).reshape(values.shape))
            return values + self.down(functional.gelu(self.up(self.norms[1](values))))

    return nn.ModuleList([Block() for _ in range(depth)])


def vision(run, depth=5, count=48, width=1024, dtype=None):
    """A vision transformer: 256 patches an image; some 11 ms a step."""
    torch, nn = run.torch, run.torch.nn
    torch.manual_seed(21)
    count, width, side, patch = of(run, count, 2), of(run, width, 32), of(run, 128, 16), of(run, 8, 4)
    dtype = dtype or torch.bfloat16

    class Vision(nn.Module):
        def __init__(self):
            super().__init__()
            self.enter = nn.Conv2d(3, width, patch, stride=patch)
            self.at = nn.Parameter(torch.zeros((side // patch) ** 2, width))
            self.layers = blocks(run, width, depth)
            self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, 100)

        def forward(self, images):
            values = self.enter(images).flatten(2).transpose(1, 2) + self.at
            for layer in self.layers:
                values = layer(values)
            return self.head(self.norm(values).mean(1))

    images = torch.randn(count, 3, side, side).to(dtype)
    return Training(run, Vision().to(run.device, dtype), pairs(run, images, torch.randint(0, 100, (count,))))


def unet(run, count=48, width=64, classes=8, side=128):
    """Segmentation of images by a U-shaped net of convolutions, with its skips; some 10 ms a step."""
    torch, nn = run.torch, run.torch.nn
    torch.manual_seed(22)
    count, width, side = of(run, count, 2), of(run, width, 8), of(run, side, 16)

    def stage(entering, leaving):
        parts = []
        for wide in (entering, leaving):
            parts += [nn.Conv2d(wide, leaving, 3, padding=1, bias=False), nn.BatchNorm2d(leaving), nn.ReLU(inplace=True)]
        return nn.Sequential(*parts)

    class UNet(nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.second, self.bottom = stage(3, width), stage(width, 2 * width), stage(2 * width, 4 * width)
            self.third, self.fourth = stage(6 * width, 2 * width), stage(3 * width, width)
            self.pool, self.larger, self.last = nn.MaxPool2d(2), nn.Upsample(scale_factor=2), nn.Conv2d(width, classes, 1)

        def forward(self, images):
            first = self.first(images)
            second = self.second(self.pool(first))
            values = self.larger(self.bottom(self.pool(second)))
            values = self.larger(self.third(torch.cat([values, second], 1)))
            return self.last(self.fourth(torch.cat([values, first], 1)))

    model = UNet().to(run.device, torch.bfloat16, memory_format=torch.channels_last)
    images = torch.randn(count, 3, side, side).to(torch.bfloat16, memory_format=torch.channels_last)
    return Training(run, model, pairs(run, images, torch.randint(0, classes, (count, side, side)), 2))


def lstm(run, length=20, count=3072, width=1024):
    """A language model: an LSTM of two layers by cuDNN; some 8 ms a step."""
    torch, nn = run.torch, run.torch.nn
    torch.manual_seed(23)
    length, count, width, words = of(run, length, 6), of(run, count, 4), of(run, width, 32), of(run, 1024, 64)

    class Language(nn.Module):
        def __init__(self):
            super().__init__()
            self.words, self.lstm = nn.Embedding(words, width), nn.LSTM(width, width, num_layers=2)
            self.head = nn.Linear(width, words)

        def forward(self, tokens):
            return self.head(self.lstm(self.words(tokens))[0])

    tokens = torch.randint(0, words, (length, count))
    loss = lambda found, target: nn.functional.cross_entropy(found.flatten(0, 1).float(), target.flatten())
    return Training(run, Language().to(run.device, torch.bfloat16), pairs(run, tokens, tokens.roll(-1, 0)), loss)


def experts(run, depth=4, tokens=16384, width=1024, count=8):
    """A mixture of experts of equal capacity: tokens are sorted by their expert on the GPU; some 10 ms a step."""
    torch, nn = run.torch, run.torch.nn
    torch.manual_seed(24)
    tokens, width = of(run, tokens, 32), of(run, width, 32)

    class Experts(nn.Module):
        def __init__(self):
            super().__init__()
            self.norm, self.router = nn.LayerNorm(width), nn.Linear(width, count)
            self.up = nn.Parameter(torch.randn(count, width, 4 * width) / width ** 0.5)
            self.down = nn.Parameter(torch.randn(count, 4 * width, width) / (2 * width ** 0.5))

        def forward(self, values):
            normed = self.norm(values)
            weight, chosen = self.router(normed).float().softmax(1).max(1)
            order = chosen.argsort()
            sorted_ones = normed.index_select(0, order).view(count, -1, width)
            found = torch.bmm(nn.functional.gelu(torch.bmm(sorted_ones, self.up)), self.down).view(-1, width)
            return values + found.index_select(0, order.argsort()) * weight[:, None].to(values.dtype)

    model = nn.Sequential(*[Experts() for _ in range(depth)], nn.Linear(width, 64)).to(run.device, torch.bfloat16)
    values = torch.randn(tokens, width, device=run.device, dtype=torch.bfloat16)
    target = torch.randint(0, 64, (tokens,), device=run.device)
    net = Training(run, model, [])
    net.batch = lambda number: (values, target)
    return net


def graph(run, depth=5, nodes=100_000, edges=800_000, width=128):
    """A graph network: messages along edges, added up at the nodes; in float32 with TF32, some 9 ms a step."""
    torch, nn = run.torch, run.torch.nn
    torch.manual_seed(25)
    nodes, edges, width = of(run, nodes, 40), of(run, edges, 100), of(run, width, 16)
    torch.backends.cuda.matmul.allow_tf32 = True
    starts, ends = torch.randint(0, nodes, (2, edges), device=run.device).unbind(0)

    class Graph(nn.Module):
        def __init__(self):
            super().__init__()
            self.own = nn.ModuleList([nn.Linear(width, width) for _ in range(depth)])
            self.near = nn.ModuleList([nn.Linear(width, width, bias=False) for _ in range(depth)])

        def forward(self, values):
            for own, near in zip(self.own, self.near):
                gathered = torch.zeros_like(values).index_add(0, ends, near(values).index_select(0, starts))
                values = nn.functional.relu(own(values) + gathered * 0.1)
            return values

    values, target = torch.randn(nodes, width, device=run.device), torch.randint(0, width, (nodes,), device=run.device)
    net = Training(run, Graph().to(run.device), [])
    net.batch = lambda number: (values, target)
    return net


def mixer(run, depth=6, count=48, dtype=None):
    """An MLP-Mixer on 256 tokens an image; some 9 ms a step."""
    torch, nn = run.torch, run.torch.nn
    torch.manual_seed(26)
    count, length, width = of(run, count, 2), of(run, 256, 16), of(run, 1024, 32)
    dtype = dtype or torch.bfloat16

    def mlp(wide, hidden):
        return nn.Sequential(nn.Linear(wide, hidden), nn.GELU(), nn.Linear(hidden, wide))

    class Mix(nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)
            self.along, self.across = mlp(length, 4 * length), mlp(width, 4 * width)

        def forward(self, values):
            values = values + self.along(self.first(values).transpose(1, 2)).transpose(1, 2)
            return values + self.across(self.second(values))

    class Mixer(nn.Module):
        def __init__(self):
            super().__init__()
            self.enter, self.layers = nn.Linear(48, width), nn.Sequential(*[Mix() for _ in range(depth)])
            self.head = nn.Linear(width, 100)

        def forward(self, patches):
            return self.head(self.layers(self.enter(patches)).mean(1))

    patches = torch.randn(count, length, 48).to(dtype)
    return Training(run, Mixer().to(run.device, dtype), pairs(run, patches, torch.randint(0, 100, (count,))))


def tower(run, depth=5, rows=12288, width=2048, entering=512):
    """Products of width 2048 with a gate, as in recommenders that cross their features; some 10 ms a step."""
    torch, nn = run.torch, run.torch.nn
    torch.manual_seed(27)
    rows, width, entering = of(run, rows, 16), of(run, width, 32), of(run, entering, 16)

    class Cross(nn.Module):
        def __init__(self):
            super().__init__()
            self.up, self.gate = nn.Linear(width, width), nn.Linear(width, width)

        def forward(self, values):
            return values + nn.functional.silu(self.gate(values)) * self.up(values)

    model = nn.Sequential(nn.Linear(entering, width), *[Cross() for _ in range(depth)], nn.LayerNorm(width),
                          nn.Linear(width, 32)).to(run.device, torch.bfloat16)
    values = torch.randn(rows, entering).to(torch.bfloat16)
    return Training(run, model, pairs(run, values, torch.randint(0, 32, (rows,))))
