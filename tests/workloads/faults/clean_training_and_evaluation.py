# SPDX-License-Identifier: Apache-2.0
"""Programs of the third blind set in which nothing is wrong: ways to train and to evaluate."""

from .known_architectures import (adamw, apply, dense, denoiser, llama, made, mixed, of, pictures, pushed, resnet,
                                  texts, third_clean, vit, words_loss)


@third_clean("d02")
def _(run):
    """A language model with weights in float32, products in bfloat16; the loss is read every 50 steps."""
    torch = run.torch
    model = llama(run, dtype=torch.float32)
    optimizer, tokens = adamw(run, model.parameters()), texts(run, model, 8, 1024)
    losses = []

    def step(number):
        with pushed(run, f"step {number}"):
            batch = tokens[number % 4]
            with pushed(run, "forward"), mixed(run):
                loss = words_loss(run, model(batch), batch)
            with pushed(run, "backward"):
                loss.backward()
            with pushed(run, "optimizer"):
                torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0, foreach=True)
                apply(optimizer)
            if number % 50 == 49:
                losses.append(loss.item())

    return run.steps(step, limit=100)


@third_clean("d04")
def _(run):
    """A classifier of wide layers with a large batch, by SGD."""
    torch = run.torch
    rows, width = of(run, 8192, 16), of(run, 8192, 32)
    model = dense(run, of(run, 2048, 16), width, 3, of(run, 1024, 16))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-4, momentum=0.9, fused=run.cuda or None)
    values = torch.randn(4, rows, of(run, 2048, 16), device=run.device, dtype=torch.bfloat16)
    target = torch.randint(0, of(run, 1024, 16), (4, rows), device=run.device)

    def step(number):
        torch.nn.functional.cross_entropy(model(values[number % 4]), target[number % 4]).backward()
        apply(optimizer)

    return run.steps(step, limit=110)


@third_clean("d06")
def _(run):
    """A net of bottlenecks on images, with a smoothed target and a rate that follows a cosine."""
    torch = run.torch
    torch.backends.cudnn.benchmark = True
    model = resnet(run)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9, weight_decay=1e-4, fused=run.cuda or None)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 1000)
    batches = pictures(run, model, 288)

    def step(number):
        images, target = batches[number % 3]
        with mixed(run):
            loss = torch.nn.functional.cross_entropy(model(images), target, label_smoothing=0.1)
        loss.backward()
        apply(optimizer)
        schedule.step()

    return run.steps(step, step_range="step {}", limit=80)


@third_clean("d08")
def _(run):
    torch = run.torch
    model = vit(run)
    optimizer, batches = adamw(run, model.parameters(), weight_decay=0.05), pictures(run, model, 160)

    def step(number):
        images, target = batches[number % 3]
        with run.range("forward"):
            loss = torch.nn.functional.cross_entropy(model(images).float(), target)
        with run.range("backward"):
            loss.backward()
        with run.range("update"):
            apply(optimizer)

    return run.steps(step, step_range="iteration {}", limit=70)


@third_clean("d10")
def _(run):
    """Forecasts of many series at once, by an LSTM of two wide layers."""
    torch, nn = run.torch, run.torch.nn
    length, count, width, entering = of(run, 20, 5), of(run, 3072, 4), of(run, 2048, 32), of(run, 256, 8)

    class Forecast(nn.Module):
        def __init__(self):
            super().__init__()
            self.lstm, self.head = nn.LSTM(entering, width, num_layers=2), nn.Linear(width, entering)

        def forward(self, values):
            return self.head(self.lstm(values)[0])

    model = made(run, Forecast)
    optimizer = adamw(run, model.parameters())
    series = [torch.randn(length + 1, count, entering, device=run.device, dtype=torch.bfloat16) for _ in range(3)]

    def step(number):
        values = series[number % 3]
        nn.functional.mse_loss(model(values[:-1]), values[1:]).backward()
        apply(optimizer)

    return run.steps(step, limit=60)


@third_clean("d12")
def _(run):
    """Gradients of four small batches are added up for each update."""
    torch = run.torch
    model = llama(run, depth=2, dtype=torch.float32)
    optimizer, tokens = adamw(run, model.parameters()), texts(run, model, 3, 2048)

    def step(number):
        for micro in range(4):
            with run.range(f"micro-batch {micro}"):
                with mixed(run):
                    loss = words_loss(run, model(tokens[micro]), tokens[micro]) / 4
                loss.backward()
        with run.range("optimizer"):
            apply(optimizer)

    return run.steps(step, step_range="step {}", limit=60)


@third_clean("d14")
def _(run):
    """The whole of a step, forward to update, is one CUDA graph."""
    torch = run.torch
    rows, width, entering, leaving = of(run, 16384, 16), of(run, 4096, 32), of(run, 1024, 16), of(run, 256, 8)
    model = dense(run, entering, width, 6, leaving)
    optimizer = adamw(run, model.parameters(), **({"capturable": True} if run.cuda else {}))
    stock = [torch.randn(rows, entering, device=run.device, dtype=torch.bfloat16) for _ in range(4)]
    values, target = stock[0].clone(), torch.randint(0, leaving, (rows,), device=run.device)

    def whole():
        optimizer.zero_grad(set_to_none=True)
        loss = torch.nn.functional.cross_entropy(model(values), target)
        loss.backward()
        optimizer.step()
        return loss

    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            whole()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    optimizer.zero_grad(set_to_none=True)
    with torch.cuda.graph(graph):
        loss = whole()
    total = torch.zeros_like(loss)

    def step(number):
        values.copy_(stock[number % 4])
        graph.replay()
        total.add_(loss.detach())

    return run.steps(step, limit=100)


@third_clean("d16")
def _(run):
    """A U-shaped net learns to tell the noise in latents."""
    torch = run.torch
    torch.backends.cudnn.benchmark = True
    model = denoiser(run)
    optimizer, count, side = adamw(run, model.parameters()), of(run, 64, 2), of(run, 64, 8)
    latents = [torch.randn(count, 4, side, side, device=run.device, dtype=torch.bfloat16)
               .to(memory_format=torch.channels_last) for _ in range(3)]
    waves = torch.arange(model.told, device=run.device) * 0.1

    def step(number):
        noise, when = torch.randn_like(latents[0]), torch.rand(count, 1, 1, 1, device=run.device).to(torch.bfloat16)
        found = model(torch.lerp(latents[number % 3], noise, when), torch.sin(when.view(-1, 1) * waves).to(torch.bfloat16))
        torch.nn.functional.mse_loss(found, noise).backward()
        apply(optimizer)

    return run.steps(step, step_range="step {}", limit=80)


@third_clean("d18")
def _(run):
    """Two nets that learn from each other take turns."""
    torch, nn = run.torch, run.torch.nn
    base, count, dim = of(run, 128, 4), of(run, 1024, 4), of(run, 256, 8)

    def generator():
        parts = [nn.ConvTranspose2d(dim, 8 * base, 4, bias=False), nn.BatchNorm2d(8 * base), nn.ReLU(inplace=True)]
        for wide in (8 * base, 4 * base, 2 * base):
            parts += [nn.ConvTranspose2d(wide, wide // 2, 4, 2, 1, bias=False), nn.BatchNorm2d(wide // 2),
                      nn.ReLU(inplace=True)]
        return nn.Sequential(*parts, nn.ConvTranspose2d(base, 3, 4, 2, 1), nn.Tanh())

    def critic():
        parts, entering = [], 3
        for wide in (base, 2 * base, 4 * base, 8 * base):
            parts += [nn.Conv2d(entering, wide, 4, 2, 1), nn.LeakyReLU(0.2, inplace=True)]
            entering = wide
        return nn.Sequential(*parts, nn.Conv2d(entering, 1, 4), nn.Flatten())

    maker, judge = (made(run, each, memory_format=torch.channels_last) for each in (generator, critic))
    makers, judges = (adamw(run, each.parameters(), 2e-4, betas=(0.5, 0.99)) for each in (maker, judge))
    real = [torch.randn(count, 3, 64, 64, device=run.device, dtype=torch.bfloat16).tanh_()
            .to(memory_format=torch.channels_last) for _ in range(3)]
    softplus = nn.functional.softplus

    def step(number):
        noise = torch.randn(count, dim, 1, 1, device=run.device, dtype=torch.bfloat16)
        if number % 2:
            with run.range(f"generator step {number // 2}"):
                judge.requires_grad_(False)
                softplus(-judge(maker(noise))).mean().backward()
                judge.requires_grad_(True)
                apply(makers)
            return
        with run.range(f"critic step {number // 2}"):
            with torch.no_grad():
                false = maker(noise)
            (softplus(judge(false)).mean() + softplus(-judge(real[number // 2 % 3])).mean()).backward()
            apply(judges)

    return run.steps(step, limit=150)


@third_clean("d20")
def _(run):
    """A recommender: features looked up in a large table, then wide layers."""
    torch, nn = run.torch, run.torch.nn
    rows, features, entries, dim = of(run, 16384, 16), of(run, 32, 4), of(run, 1_000_000, 500), of(run, 128, 8)
    table = made(run, lambda: nn.Embedding(entries, dim), torch.float32)
    layers = dense(run, features * dim, of(run, 4096, 32), 5, 1, torch.float32)
    optimizer = adamw(run, [*table.parameters(), *layers.parameters()])
    batches = [torch.randint(0, entries, (rows, features), device=run.device) for _ in range(4)]
    clicked = torch.randint(0, 2, (rows,), device=run.device).float()

    def step(number):
        with mixed(run):
            found = layers(table(batches[number % 4]).flatten(1))
        nn.functional.binary_cross_entropy_with_logits(found[:, 0].float(), clicked).backward()
        apply(optimizer)

    return run.steps(step, step_range="train step {}", limit=90)


@third_clean("d22")
def _(run):
    """Counts right answers of a net over a set of images; the count stays on the GPU to the end."""
    torch = run.torch
    model = resnet(run, blocks=3).to(torch.bfloat16).eval()
    batches = pictures(run, model, 384)
    right = torch.zeros((), dtype=torch.long, device=run.device)

    def batch(number):
        images, target = batches[number % 3]
        with torch.inference_mode():
            right.add_((model(images).argmax(1) == target).sum())

    truth = run.steps(batch, limit=80)
    right.item()
    return truth


@third_clean("d24")
def _(run):
    """Long texts, with the activations of each layer computed anew in the backward pass."""
    model = llama(run, depth=3, keep=False)
    optimizer, tokens = adamw(run, model.parameters()), texts(run, model, 3, 4096)

    def step(number):
        with run.range("forward"):
            loss = words_loss(run, model(tokens[number % 4]), tokens[number % 4])
        with run.range("backward"):
            loss.backward()
        with run.range("optimizer"):
            apply(optimizer)

    return run.steps(step, step_range="step {}", limit=55)
