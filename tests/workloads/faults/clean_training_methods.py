# SPDX-License-Identifier: Apache-2.0
"""Programs of the second blind set in which nothing is wrong, by the model and the way of training."""

import os

from .small_models import Training, adam, of, pairs
from .common import PROGRAMS
from .vision_graph_models import blocks, experts, graph, lstm, mixer, second_clean, tower, unet, vision


@second_clean("c01")
def _(run):
    return run.steps(vision(run).step, step_range="step {}", limit=120)


@second_clean("c04")
def _(run):
    return run.steps(unet(run).step, limit=120)


@second_clean("c05")
def _(run):
    return run.steps(lstm(run).step, step_range="step {}", limit=90)


@second_clean("c08")
def _(run):
    return run.steps(graph(run).step, step_range="epoch {}", limit=120)


@second_clean("c10")
def _(run):
    return run.steps(experts(run).step, step_range="train {}", limit=120)


@second_clean("c11")
def _(run):
    """Large products in float32 with TF32, and plain SGD."""
    torch, nn = run.torch, run.torch.nn
    torch.manual_seed(41)
    torch.backends.cuda.matmul.allow_tf32 = True
    width, rows = of(run, 4096, 32), of(run, 6144, 16)
    model = nn.Sequential(*[each for _ in range(5) for each in (nn.Linear(width, width), nn.ReLU())], nn.Linear(width, 16))
    model = model.to(run.device)
    net = Training(run, model, [])
    net.optimizer = torch.optim.SGD(model.parameters(), lr=1e-5, momentum=0.9, foreach=True)
    values = torch.randn(rows, width, device=run.device)
    target = torch.randint(0, 16, (rows,), device=run.device)
    return run.steps(lambda number: net.step(number, (values, target)), step_range="step {}", limit=120)


@second_clean("c14")
def _(run):
    """Weights in float32, products in bfloat16 by autocast."""
    torch = run.torch
    net = mixer(run, dtype=torch.float32)

    def step(number):
        values, target = net.batch(number)
        with torch.autocast(run.device, torch.bfloat16):
            loss = net.loss(net.model(values), target)
        loss.backward()
        net.update()

    return run.steps(step, step_range="step {}", limit=120)


@second_clean("c15")
def _(run):
    """Layers of a vision transformer whose activations are computed anew in the backward pass."""
    from torch.utils.checkpoint import checkpoint

    net, torch = vision(run), run.torch
    inner = net.model

    class Saving(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = inner

        def forward(self, images):
            values = inner.enter(images).flatten(2).transpose(1, 2) + inner.at
            for layer in inner.layers:
                values = checkpoint(layer, values, use_reentrant=False, preserve_rng_state=False)
            return inner.head(inner.norm(values).mean(1))

    net.model = Saving()
    return run.steps(net.step, step_range="step {}", limit=110)


@second_clean("c17")
def _(run):
    """A large net of convolutions teaches a smaller one."""
    torch = run.torch
    teacher, student = unet(run), unet(run, width=32)
    student.loss = lambda found, wanted: torch.nn.functional.mse_loss(found.float(), wanted.float())

    def step(number):
        images, _ = student.batch(number)
        with torch.no_grad():
            wanted = teacher.model(images)
        student.step(number, (images, wanted))

    return run.steps(step, step_range="step {}", limit=120)


@second_clean("c20")
def _(run):
    """Contrastive learning with a second encoder that follows the first one, and a queue of its answers on the GPU."""
    torch, functional = run.torch, run.torch.nn.functional
    first, other = vision(run, depth=3), vision(run, depth=3)
    images = [each[0].to(run.device) for each in first.batches]
    memory = torch.randn(of(run, 16384, 32), 100, device=run.device, dtype=torch.bfloat16)
    mine, theirs = list(first.model.parameters()), list(other.model.parameters())

    def step(number):
        with torch.no_grad():
            torch._foreach_lerp_(theirs, mine, 0.01)
            wanted = functional.normalize(other.model(images[number % 3].flip(3)), dim=1)
        found = functional.normalize(first.model(images[number % 3]), dim=1)
        like, unlike = (found * wanted).sum(1, keepdim=True), found @ functional.normalize(memory, dim=1).T
        scores = torch.cat([like, unlike], 1).float() * 10
        functional.cross_entropy(scores, torch.zeros(len(found), dtype=torch.long, device=run.device)).backward()
        first.update()
        count = len(found)
        at = number * count % (len(memory) - count)
        memory[at : at + count].copy_(wanted)

    return run.steps(step, step_range="step {}", limit=120)


@second_clean("c22")
def _(run):
    """Values of actions learnt from a memory of experience, all of it on the GPU, with a net that follows."""
    torch = run.torch
    net, slow = tower(run, depth=4), tower(run, depth=4)
    rows, entering = net.batches[0][0].shape
    count = of(run, 100_000, 64)
    seen = torch.randn(count, entering, device=run.device, dtype=torch.bfloat16)
    action = torch.randint(0, 32, (count,), device=run.device)
    reward = torch.randn(count, device=run.device)
    mine, theirs = list(net.model.parameters()), list(slow.model.parameters())

    def step(number):
        with torch.no_grad():
            which = torch.randint(0, count - 1, (rows,), device=run.device)
            wanted = reward.index_select(0, which) + 0.9 * slow.model(seen.index_select(0, which + 1)).amax(1).float()
        values = net.model(seen.index_select(0, which)).gather(1, action.index_select(0, which)[:, None])
        torch.nn.functional.smooth_l1_loss(values[:, 0].float(), wanted).backward()
        net.update()
        with torch.no_grad():
            torch._foreach_lerp_(theirs, mine, 0.005)

    return run.steps(step, step_range="update {}", limit=120)


@second_clean("c23")
def _(run):
    """Texts of different lengths packed into rows, each word looking only at those of its own text."""
    torch, nn = run.torch, run.torch.nn
    torch.manual_seed(42)
    rows, length, width, words = of(run, 12, 2), of(run, 1024, 16), of(run, 1024, 32), of(run, 2048, 64)

    class Packed(nn.Module):
        def __init__(self):
            super().__init__()
            self.words, self.layers, self.head = nn.Embedding(words, width), blocks(run, width, 5), nn.Linear(width, words)

        def forward(self, tokens, mask):
            values = self.words(tokens)
            for layer in self.layers:
                values = layer(values, mask=mask)
            return self.head(values)

    model = Packed().to(run.device, torch.bfloat16)
    optimizer = adam(run, model.parameters())
    tokens = torch.randint(0, words, (rows, length), device=run.device)
    texts = (torch.rand(rows, length, device=run.device) < 0.01).cumsum(1)
    same = (texts[:, :, None] == texts[:, None, :]).tril()[:, None]
    mask = torch.zeros(rows, 1, length, length, device=run.device, dtype=torch.bfloat16).masked_fill(~same, float("-inf"))

    def step(number):
        found = model(tokens, mask)
        nn.functional.cross_entropy(found.flatten(0, 1).float(), tokens.roll(-1, 1).flatten()).backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)

    return run.steps(step, step_range="step {}", limit=110)


@second_clean("c27")
def _(run):
    """Translation: an encoder, and a decoder that looks at it."""
    torch, nn = run.torch, run.torch.nn
    torch.manual_seed(43)
    rows, length, width, words = of(run, 24, 2), of(run, 512, 16), of(run, 1024, 32), of(run, 2048, 64)

    class Translator(nn.Module):
        def __init__(self):
            super().__init__()
            self.words, self.reads = nn.Embedding(words, width), blocks(run, width, 2)
            self.writes, self.head = blocks(run, width, 2, cross=True, causal=True), nn.Linear(width, words)

        def forward(self, tokens):
            memory = values = self.words(tokens)
            for layer in self.reads:
                memory = layer(memory)
            for layer in self.writes:
                values = layer(values, memory)
            return self.head(values)

    loss = lambda found, target: nn.functional.cross_entropy(found.flatten(0, 1).float(), target.flatten())
    tokens = torch.randint(0, words, (rows, length))
    net = Training(run, Translator().to(run.device, torch.bfloat16), pairs(run, tokens, tokens.flip(1)), loss)
    return run.steps(net.step, step_range="step {}", limit=110)


@second_clean("c28")
def _(run):
    """Activations with a gate that torch.compile has made one kernel, between large products."""
    torch = run.torch
    torch.manual_seed(44)
    width, rows = of(run, 3072, 32), of(run, 16384, 16)
    weights = [[torch.randn(width, width, device=run.device, dtype=torch.bfloat16) / width ** 0.5 for _ in range(2)]
               for _ in range(8)]
    values = torch.randn(rows, width, device=run.device, dtype=torch.bfloat16)

    def gated(values, left, right):
        return (values.float() + torch.nn.functional.gelu(left.float()) * right.float() * 0.1).to(torch.bfloat16)

    fast = torch.compile(gated, backend="inductor" if run.cuda else "eager")

    def request(number):
        found = values
        with torch.no_grad():
            for left, right in weights:
                found = fast(found, found @ left, found @ right)

    return run.steps(request, step_range="request {}", limit=120)


# Compiles in this process instead of starting one for each core.
PROGRAMS["c28"]["before"] = lambda options: os.environ.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "1")
