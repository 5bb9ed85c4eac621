# SPDX-License-Identifier: Apache-2.0
"""Models of the third set of programs in which nothing is wrong. Each keeps a large GPU busy for some 20 to 60 ms a step by
a few hundred kernels at most, so that the thread which launches them is far ahead.

Classes are made in functions, since torch is only imported when a program is chosen. What they hold is made on the GPU."""

import contextlib

from .common import program


def third_clean(name):
    return program(name, None, None, third=True)


def of(run, large, small):
    """A size for a GPU, and one for a machine without."""
    return large if run.cuda else small


@contextlib.contextmanager
def pushed(run, name):
    """An NVTX range by push and pop, where there is NVTX."""
    if not run.cuda:
        yield
        return
    run.torch.cuda.nvtx.range_push(name)
    try:
        yield
    finally:
        run.torch.cuda.nvtx.range_pop()


def made(run, make, dtype=None, **options):
    """A module made on the device of the run."""
    run.torch.manual_seed(3)
    with run.torch.device(run.device):
        model = make()
    return model.to(dtype=dtype or run.torch.bfloat16, **options)


def adamw(run, parameters, rate=1e-4, **options):
    return run.torch.optim.AdamW(parameters, lr=rate, fused=run.cuda or None, **options)


def apply(optimizer):
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)


def mixed(run):
    return run.torch.autocast(run.device, run.torch.bfloat16)


def words_loss(run, found, tokens):
    """Each word is to tell the next one."""
    return run.torch.nn.functional.cross_entropy(found.flatten(0, 1), tokens.roll(-1, 1).flatten())


def llama(run, depth=4, width=2048, head=128, vocabulary=8192, longest=4096, keep=True, dtype=None):
    """A decoder with RMS norms and gated products; computes its activations anew in the backward pass if not `keep`."""
    torch, nn = run.torch, run.torch.nn
    width, head, vocabulary = of(run, width, 32), of(run, head, 8), of(run, vocabulary, 64)
    hidden = of(run, 5632, 64)
    functional = nn.functional
    from torch.utils.checkpoint import checkpoint

    class Layer(nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.second = nn.RMSNorm(width), nn.RMSNorm(width)
            self.qkv, self.out = nn.Linear(width, 3 * width, bias=False), nn.Linear(width, width, bias=False)
            self.gate, self.up = nn.Linear(width, hidden, bias=False), nn.Linear(width, hidden, bias=False)
            self.down = nn.Linear(hidden, width, bias=False)

        def forward(self, values):
            rows, length, _ = values.shape
            asked, keys, told = self.qkv(self.first(values)).view(rows, length, 3, -1, head).permute(2, 0, 3, 1, 4).unbind(0)
            found = functional.scaled_dot_product_attention(asked, keys, told, is_causal=True)
            values = values + self.out(found.transpose(1, 2).reshape(rows, length, width))
            normed = self.second(values)
            return values + self.down(functional.silu(self.gate(normed)) * self.up(normed))

    class Llama(nn.Module):
        def __init__(self):
            super().__init__()
            self.words, self.places = nn.Embedding(vocabulary, width), nn.Embedding(longest, width)
            self.layers = nn.ModuleList([Layer() for _ in range(depth)])
            self.norm, self.head = nn.RMSNorm(width), nn.Linear(width, vocabulary, bias=False)

        def forward(self, tokens):
            values = self.words(tokens) + self.places.weight[: tokens.shape[1]]
            for layer in self.layers:
                values = layer(values) if keep else checkpoint(layer, values, use_reentrant=False, preserve_rng_state=False)
            return self.head(self.norm(values))

    model = made(run, Llama, dtype)
    model.vocabulary = vocabulary
    return model


def texts(run, model, rows, length, count=4):
    rows, length = of(run, rows, 2), of(run, length, 16)
    return [run.torch.randint(0, model.vocabulary, (rows, length), device=run.device) for _ in range(count)]


def encoder(run, width, depth, heads):
    """Layers of an encoder with attention over all of a row."""
    nn = run.torch.nn
    functional = nn.functional

    class Layer(nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)
            self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
            self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

        def forward(self, values):
            rows, length, _ = values.shape
            parts = self.qkv(self.first(values)).view(rows, length, 3, heads, -1).permute(2, 0, 3, 1, 4)
            found = functional.scaled_dot_product_attention(*parts.unbind(0))
            values = values + self.out(found.transpose(1, 2).flatten(2))
            return values + self.down(functional.gelu(self.up(self.second(values)), approximate="tanh"))

    return nn.Sequential(*[Layer() for _ in range(depth)])


def vit(run, depth=6, width=1024, classes=1000, dtype=None):
    """A vision transformer with 14 x 14 patches an image."""
    torch, nn = run.torch, run.torch.nn
    width, patch, side = of(run, width, 32), of(run, 16, 4), of(run, 224, 16)
    classes = of(run, classes, 16)

    class Vit(nn.Module):
        def __init__(self):
            super().__init__()
            self.patches = nn.Conv2d(3, width, patch, stride=patch)
            self.places = nn.Parameter(torch.zeros(1, (side // patch) ** 2, width))
            self.layers = encoder(run, width, depth, of(run, 16, 4))
            self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, classes)

        def forward(self, images):
            values = self.patches(images).flatten(2).transpose(1, 2) + self.places
            return self.head(self.norm(self.layers(values)).mean(1))

    model = made(run, Vit, dtype, memory_format=torch.channels_last)
    model.side, model.classes = side, classes
    return model


def pictures(run, model, count, dtype=None, sets=3):
    """(images, classes) with the channels last, on the device."""
    torch, count = run.torch, of(run, count, 2)
    images = [torch.randn(count, 3, model.side, model.side, device=run.device, dtype=dtype or torch.bfloat16)
              .to(memory_format=torch.channels_last) for _ in range(sets)]
    return [(each, torch.randint(0, model.classes, (count,), device=run.device)) for each in images]


def resnet(run, blocks=2, side=224, classes=1000):
    """A net of bottlenecks, its weights in float32 with the channels last."""
    torch, nn = run.torch, run.torch.nn
    base, classes = of(run, 64, 4), of(run, classes, 16)

    def conv(entering, leaving, size, stride=1):
        return [nn.Conv2d(entering, leaving, size, stride, size // 2, bias=False), nn.BatchNorm2d(leaving)]

    class Bottleneck(nn.Module):
        def __init__(self, entering, inner, stride):
            super().__init__()
            self.body = nn.Sequential(*conv(entering, inner, 1), nn.ReLU(inplace=True), *conv(inner, inner, 3, stride),
                                      nn.ReLU(inplace=True), *conv(inner, 4 * inner, 1))
            same = entering == 4 * inner and stride == 1
            self.around = nn.Identity() if same else nn.Sequential(*conv(entering, 4 * inner, 1, stride))
            self.last = nn.ReLU(inplace=True)

        def forward(self, values):
            return self.last(self.body(values) + self.around(values))

    def make():
        parts, entering = [*conv(3, base, 7, 2), nn.ReLU(inplace=True), nn.MaxPool2d(3, 2, 1)], base
        for stage in range(4):
            for block in range(blocks):
                parts.append(Bottleneck(entering, base << stage, 2 if stage and not block else 1))
                entering = 4 * (base << stage)
        return nn.Sequential(*parts, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(entering, classes))

    model = made(run, make, torch.float32, memory_format=torch.channels_last)
    model.side, model.classes = of(run, side, 32), classes
    return model


def vgg(run, side=128, classes=200):
    """Plain convolutions of 128 to 512 channels."""
    torch, nn = run.torch, run.torch.nn
    classes = of(run, classes, 16)

    def make():
        parts, entering = [], 3
        for wide, count in ((of(run, 128, 8), 2), (of(run, 256, 8), 2), (of(run, 512, 16), 3)):
            for _ in range(count):
                parts += [nn.Conv2d(entering, wide, 3, padding=1, bias=False), nn.BatchNorm2d(wide), nn.ReLU(inplace=True)]
                entering = wide
            parts.append(nn.MaxPool2d(2))
        return nn.Sequential(*parts, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(entering, classes))

    model = made(run, make, memory_format=torch.channels_last)
    model.side, model.classes = of(run, side, 16), classes
    return model


def denoiser(run, base=256):
    """A U-shaped net of convolutions with attention at its bottom, told how much noise there is."""
    torch, nn = run.torch, run.torch.nn
    base, told = of(run, base, 8), of(run, 512, 16)
    functional = nn.functional

    class Over(nn.Module):
        """A norm over the channels, which lie side by side."""

        def __init__(self, wide):
            super().__init__()
            self.norm = nn.LayerNorm(wide)

        def forward(self, values):
            return self.norm(values.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)

    class Block(nn.Module):
        def __init__(self, entering, leaving):
            super().__init__()
            self.norm, self.again = Over(entering), Over(leaving)
            self.first = nn.Conv2d(entering, leaving, 3, padding=1)
            self.second = nn.Conv2d(leaving, leaving, 3, padding=1)
            self.told = nn.Linear(told, leaving)
            self.around = nn.Conv2d(entering, leaving, 1) if entering != leaving else nn.Identity()

        def forward(self, values, when):
            found = self.first(functional.silu(self.norm(values))) + self.told(when)[:, :, None, None]
            return self.around(values) + self.second(functional.silu(self.again(found)))

    class Denoiser(nn.Module):
        def __init__(self):
            super().__init__()
            self.enter, self.leave = nn.Conv2d(4, base, 3, padding=1), nn.Conv2d(base, 4, 3, padding=1)
            self.down, self.bottom = Block(base, base), Block(2 * base, 2 * base)
            self.less = nn.Conv2d(base, 2 * base, 3, stride=2, padding=1)
            self.attend = encoder(run, 2 * base, 1, of(run, 8, 4))
            self.more = nn.ConvTranspose2d(2 * base, base, 2, stride=2)
            self.up = Block(2 * base, base)

        def forward(self, values, when):
            first = self.down(self.enter(values), when)
            low = self.bottom(self.less(first), when)
            rows, wide, high, _ = low.shape
            low = self.attend(low.permute(0, 2, 3, 1).reshape(rows, high * high, wide))
            low = low.view(rows, high, high, wide).permute(0, 3, 1, 2)
            return self.leave(self.up(torch.cat([self.more(low), first], 1), when))

    model = made(run, Denoiser, memory_format=torch.channels_last)
    model.told = told
    return model


def dense(run, entering, width, depth, leaving, dtype=None):
    """Products of one width with a ReLU between."""
    nn = run.torch.nn

    def make():
        layers = [nn.Linear(entering, width), nn.ReLU(inplace=True)]
        for _ in range(depth):
            layers += [nn.Linear(width, width), nn.ReLU(inplace=True)]
        return nn.Sequential(*layers, nn.Linear(width, leaving))

    return made(run, make, dtype)
