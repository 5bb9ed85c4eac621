# SPDX-License-Identifier: Apache-2.0
"""Models of the third set of blind programs, other ones than those of the first two. Each keeps a large GPU busy for some
8 to 18 ms a step, by kernels long enough that the thread which launches them stays ahead.

Classes are made in functions, since torch is only imported when a program is chosen."""

from .small_models import Training, adam, of, pairs, residual
from .common import program
from .vision_graph_models import blocks


def third(name, fault, where):
    return program(name, fault, where, third=True)


def generator(run, depth=6, count=128, length=1024, width=1024, heads=16):
    """Inference: six tokens a step after a prompt of `length`, by a decoder with a cache of keys and values. Returns
    step(number, keep): keep(cache, layer, at, new) puts in what is new and returns what there is then."""
    torch, nn = run.torch, run.torch.nn
    torch.manual_seed(41)
    count, length, width, heads, words = of(run, count, 2), of(run, length, 16), of(run, width, 32), of(run, heads, 4), 512
    tokens = of(run, 6, 2)

    class Layer(nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)
            self.mixed, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
            self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    layers = nn.ModuleList([Layer() for _ in range(depth)]).to(run.device, torch.bfloat16)
    table, head = [each.to(run.device, torch.bfloat16) for each in (nn.Embedding(words, width), nn.Linear(width, words))]
    shape = (2, count, heads, length + tokens, width // heads)
    caches = [torch.randn(shape, device=run.device, dtype=torch.bfloat16) for _ in range(depth)]

    def in_place(cache, at, new):
        cache[:, :, :, at : at + 1] = new
        return cache[:, :, :, : at + 1]

    def step(number, keep=in_place):
        with torch.no_grad():
            word = torch.full((count,), number % words, device=run.device)
            now = caches if keep is in_place else [each[:, :, :, :length] for each in caches]
            for at in range(length, length + tokens):
                values, after = table(word), []
                for layer, cache in zip(layers, now):
                    parts = layer.mixed(layer.first(values)).view(count, 3, heads, 1, width // heads).transpose(0, 1)
                    kept = keep(cache, at, parts[1:])
                    found = nn.functional.scaled_dot_product_attention(parts[0], kept[0], kept[1])
                    values = values + layer.out(found.reshape(count, width))
                    values = values + layer.down(nn.functional.gelu(layer.up(layer.second(values))))
                    after.append(cache if keep is in_place else kept)
                word, now = head(values).argmax(1), after
            return word

    return step


def gan(run, count=128):
    """Images of 64 x 64 made and judged by convolutions; both nets are updated in each step, each by its optimiser."""
    torch, nn = run.torch, run.torch.nn
    torch.manual_seed(42)
    count, wide = of(run, count, 2), of(run, 512, 16)
    widths = [wide, wide, wide // 2, wide // 4, wide // 8]
    maker, judge = [nn.Linear(64, 16 * wide), nn.Unflatten(1, (wide, 4, 4))], []
    for entering, leaving in zip(widths, widths[1:]):
        maker += [nn.Upsample(scale_factor=2), nn.Conv2d(entering, leaving, 3, padding=1, bias=False), nn.BatchNorm2d(leaving),
                  nn.ReLU(inplace=True)]
        judge = [nn.Conv2d(leaving, entering, 4, stride=2, padding=1), nn.LeakyReLU(0.2), *judge]
    maker = nn.Sequential(*maker, nn.Conv2d(wide // 8, 3, 3, padding=1), nn.Tanh())
    judge = nn.Sequential(nn.Conv2d(3, wide // 8, 3, padding=1), nn.LeakyReLU(0.2), *judge, nn.Flatten(),
                          nn.Linear(16 * wide, 1))
    maker, judge = [each.to(run.device, torch.bfloat16, memory_format=torch.channels_last) for each in (maker, judge)]
    optimizers = [adam(run, each.parameters()) for each in (maker, judge)]
    real = torch.randn(count, 3, 64, 64, device=run.device).to(torch.bfloat16, memory_format=torch.channels_last)

    def update(which, loss):
        loss.backward()
        optimizers[which].step()
        for each in optimizers:
            each.zero_grad(set_to_none=True)

    def step(number):
        made = maker(torch.randn(count, 64, device=run.device, dtype=torch.bfloat16))
        soft = nn.functional.softplus
        update(1, (soft(-judge(real)) + soft(judge(made.detach()))).float().mean())
        update(0, soft(-judge(made)).float().mean())

    return step


def contrastive(run, depth=2, rows=6144, width=2048):
    """Two towers, the outcomes of which are to be nearer to their own partner than to any other. `net.match(left, right)`
    gives the products of all with all."""
    torch, nn = run.torch, run.torch.nn
    torch.manual_seed(43)
    rows, width, entering = of(run, rows, 16), of(run, width, 32), of(run, 256, 16)
    towers = nn.ModuleList([nn.Sequential(nn.Linear(entering, width), *residual(run, width, 4 * width, depth),
                                          nn.LayerNorm(width)) for _ in range(2)]).to(run.device, torch.bfloat16)
    values = torch.randn(2, rows, entering).to(torch.bfloat16)
    net = Training(run, towers, pairs(run, values, torch.arange(rows)))
    net.width, net.match = width, lambda left, right: left @ right.T

    def backward(values, target):
        left, right = (nn.functional.normalize(tower(each), dim=1) for tower, each in zip(towers, values))
        found = net.match(left, right) * 20
        loss = nn.functional.cross_entropy(found if found.dtype == torch.float64 else found.float(), target)
        loss.backward()
        return loss

    net.backward = backward
    return net


def conformer(run, depth=3, count=24, length=512, width=1024):
    """Speech: layers of two halved feed-forward parts with attention and a convolution over time between them."""
    torch, nn = run.torch, run.torch.nn
    torch.manual_seed(44)
    count, length, width = of(run, count, 2), of(run, length, 16), of(run, width, 32)
    heads, bands = of(run, 16, 4), of(run, 80, 8)

    def forward_part():
        return nn.Sequential(nn.LayerNorm(width), nn.Linear(width, 4 * width), nn.SiLU(), nn.Linear(4 * width, width))

    class Layer(nn.Module):
        def __init__(self):
            super().__init__()
            self.enter, self.leave = forward_part(), forward_part()
            self.norm, self.mixed, self.out = nn.LayerNorm(width), nn.Linear(width, 3 * width), nn.Linear(width, width)
            self.turn = nn.Conv1d(width, width, 3, padding=1)

        def forward(self, values):
            values = values + 0.5 * self.enter(values)
            parts = self.mixed(self.norm(values)).view(count, length, 3, heads, width // heads).permute(2, 0, 3, 1, 4)
            found = nn.functional.scaled_dot_product_attention(*parts.unbind(0))
            values = values + self.out(found.transpose(1, 2).reshape(count, length, width))
            values = values + nn.functional.silu(self.turn(values.transpose(1, 2))).transpose(1, 2)
            return values + 0.5 * self.leave(values)

    model = nn.Sequential(nn.Linear(bands, width), *[Layer() for _ in range(depth)], nn.Linear(width, 64), nn.Flatten(0, 1))
    sounds = torch.randn(count, length, bands).to(torch.bfloat16)
    return Training(run, model.to(run.device, torch.bfloat16),
                    pairs(run, sounds, torch.randint(0, 64, (count * length,))))


def recommender(run, rows=16384, table=200_000, bag=4):
    """Four bags of sparse features and some dense ones through products. step(number, sparse) takes the sparse ones from
    elsewhere, 256 numbers a row."""
    torch, nn = run.torch, run.torch.nn
    torch.manual_seed(45)
    rows, table, width, dense = of(run, rows, 32), of(run, table, 400), of(run, 4096, 64), of(run, 512, 16)
    bags = nn.ModuleList([nn.EmbeddingBag(table, 64, mode="sum") for _ in range(4)]).to(run.device)
    tower = nn.Sequential(nn.Linear(dense + 256, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(),
                          nn.Linear(width, width), nn.ReLU(), nn.Linear(width, width // 2), nn.ReLU(),
                          nn.Linear(width // 2, 1)).to(run.device, torch.bfloat16)
    optimizers = [torch.optim.SGD(bags.parameters(), lr=1e-3), adam(run, tower.parameters())]
    ids = torch.randint(0, table, (4, rows, bag), device=run.device)
    features = torch.randn(rows, dense, device=run.device, dtype=torch.bfloat16)
    clicks = torch.rand(rows, device=run.device).round()

    def step(number, sparse=None):
        if sparse is None:
            sparse = torch.cat([each(chosen) for each, chosen in zip(bags, ids)], 1)
        found = tower(torch.cat([features, sparse.to(torch.bfloat16)], 1)).float().squeeze(1)
        nn.functional.binary_cross_entropy_with_logits(found, clicks).backward()
        for each in optimizers:
            each.step()
            each.zero_grad(set_to_none=True)

    step.rows, step.table, step.bag, step.ids = rows, table, bag, ids
    return step


def scaled(run, depth=24, width=512, count=12, length=1024):
    """A transformer in mixed precision: weights in float32, products in float16, and a loss that is scaled."""
    torch, nn = run.torch, run.torch.nn
    torch.manual_seed(46)
    width, count, length, depth = of(run, width, 32), of(run, count, 2), of(run, length, 16), of(run, depth, 3)
    layers = blocks(run, width, depth, heads=8)
    model = nn.Sequential(nn.Linear(64, width), *layers, nn.Linear(width, 64), nn.Flatten(0, 1)).to(run.device)
    net = Training(run, model, pairs(run, torch.randn(count, length, 64), torch.randint(0, 64, (count * length,))))
    scaler = torch.amp.GradScaler(run.device, enabled=run.cuda)
    kind = torch.float16 if run.cuda else torch.bfloat16

    def step(number, optimizer=None):
        optimizer = optimizer or net.optimizer
        values, target = net.batch(number)
        with torch.autocast(run.device, kind):
            loss = net.loss(model(values), target)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad(set_to_none=True)

    net.step = step
    return net


def policy(run, depth=5, rows=6144, width=2048):
    """A net that chooses among 16 actions and judges what it saw; learns from `rows` moments a step."""
    torch, nn = run.torch, run.torch.nn
    torch.manual_seed(47)
    rows, width, seen = of(run, rows, 16), of(run, width, 32), of(run, 128, 16)
    model = nn.Sequential(nn.Linear(seen, width), *residual(run, width, 2 * width, depth), nn.Linear(width, 17))

    def loss(found, gained):
        found = found.float()
        return -(found[:, :16].log_softmax(1)[:, 0] * (gained - found[:, 16]).detach()).mean() + \
            (gained - found[:, 16]).square().mean()

    net = Training(run, model.to(run.device, torch.bfloat16),
                   pairs(run, torch.randn(rows, seen).to(torch.bfloat16), torch.randn(rows)), loss)
    net.seen = seen
    return net


def detector(run, count=96, channels=128, depth=4):
    """Images through residual convolutions at two sizes; four numbers of a box and a score at each place."""
    torch, nn = run.torch, run.torch.nn
    torch.manual_seed(48)
    count, channels, side = of(run, count, 2), of(run, channels, 8), of(run, 128, 16)

    class Block(nn.Module):
        def __init__(self, wide):
            super().__init__()
            self.turn, self.norm = nn.Conv2d(wide, wide, 3, padding=1, bias=False), nn.BatchNorm2d(wide)

        def forward(self, values):
            return values + nn.functional.relu(self.norm(self.turn(values)))

    model = nn.Sequential(nn.Conv2d(3, channels, 3, stride=2, padding=1), *[Block(channels) for _ in range(depth)],
                          nn.Conv2d(channels, 2 * channels, 3, stride=2, padding=1),
                          *[Block(2 * channels) for _ in range(depth)], nn.Conv2d(2 * channels, 5, 1))
    model = model.to(run.device, torch.bfloat16, memory_format=torch.channels_last)
    images = torch.randn(count, 3, side, side).to(torch.bfloat16, memory_format=torch.channels_last)
    target = torch.randn(count, 5, side // 4, side // 4)
    return Training(run, model, pairs(run, images, target), lambda found, target: (found.float() - target).abs().mean())


def attention_graph(run, depth=4, nodes=80_000, edges=600_000, width=128, heads=4):
    """A graph network that weighs the messages along its edges by a softmax over the edges of a node."""
    torch, nn = run.torch, run.torch.nn
    torch.manual_seed(49)
    nodes, edges, width = of(run, nodes, 40), of(run, edges, 100), of(run, width, 16)
    torch.backends.cuda.matmul.allow_tf32 = True
    starts, ends = torch.randint(0, nodes, (2, edges), device=run.device).unbind(0)

    class Layer(nn.Module):
        def __init__(self):
            super().__init__()
            self.near, self.own, self.weigh = nn.Linear(width, width), nn.Linear(width, width), nn.Linear(width, 2 * heads)

        def forward(self, values):
            asks, tells = self.weigh(values).chunk(2, 1)
            weight = nn.functional.leaky_relu(asks.index_select(0, ends) + tells.index_select(0, starts)).tanh().exp()
            total = torch.full((nodes, heads), 1e-3, device=run.device).index_add(0, ends, weight)
            message = self.near(values).index_select(0, starts).view(edges, heads, -1) * weight.unsqueeze(2)
            summed = torch.zeros_like(values).index_add(0, ends, message.flatten(1))
            return nn.functional.elu(self.own(values) + (summed.view(nodes, heads, -1) / total.unsqueeze(2)).flatten(1))

    values, target = torch.randn(nodes, width, device=run.device), torch.randint(0, width, (nodes,), device=run.device)
    net = Training(run, nn.Sequential(*[Layer() for _ in range(depth)]).to(run.device), [])
    net.batch = lambda number: (values, target)
    return net


def tagger(run, length=32, count=2048, width=1024):
    """Tags of words: a GRU of two layers that goes both ways, by cuDNN."""
    torch, nn = run.torch, run.torch.nn
    torch.manual_seed(50)
    length, count, width, words = of(run, length, 6), of(run, count, 4), of(run, width, 32), of(run, 2000, 64)

    class Tagger(nn.Module):
        def __init__(self):
            super().__init__()
            self.words, self.head = nn.Embedding(words, width), nn.Linear(width, 48)
            self.gru = nn.GRU(width, width // 2, num_layers=2, bidirectional=True)

        def forward(self, tokens):
            return self.head(self.gru(self.words(tokens))[0]).flatten(0, 1)

    tokens, tags = torch.randint(0, words, (length, count)), torch.randint(0, 48, (length * count,))
    net = Training(run, Tagger().to(run.device, torch.bfloat16), pairs(run, tokens, tags))
    net.words = words
    return net


def routed(run, depth=4, tokens=16384, width=1024, count=32):
    """A mixture of 32 experts, one a token. step(number, singly): one expert after the other, or all at once, the tokens
    in equal shares."""
    torch, nn = run.torch, run.torch.nn
    torch.manual_seed(51)
    tokens, width, count = of(run, tokens, 32), of(run, width, 32), of(run, count, 4)

    class Experts(nn.Module):
        def __init__(self):
            super().__init__()
            self.norm, self.router = nn.LayerNorm(width), nn.Linear(width, count)
            self.up = nn.Parameter(torch.randn(count, width, 2 * width) / width ** 0.5)
            self.down = nn.Parameter(torch.randn(count, 2 * width, width) / (2 * width) ** 0.5)

        def forward(self, values):
            normed, gelu = self.norm(values), nn.functional.gelu
            weight, chosen = self.router(normed).float().softmax(1).max(1)
            if net.singly:
                found = torch.zeros_like(values)
                for expert, (up, down) in enumerate(zip(self.up.unbind(0), self.down.unbind(0))):
                    mine = (chosen == expert).nonzero().squeeze(1)
                    found.index_add_(0, mine, gelu(normed.index_select(0, mine) @ up) @ down)
            else:
                order = chosen.argsort()
                shares = normed.index_select(0, order).view(count, -1, width)
                found = torch.bmm(gelu(torch.bmm(shares, self.up)), self.down).view(-1, width)
                found = found.index_select(0, order.argsort())
            return values + found * weight[:, None].to(values.dtype)

    model = nn.Sequential(*[Experts() for _ in range(depth)], nn.Linear(width, 64)).to(run.device, torch.bfloat16)
    values = torch.randn(tokens, width, device=run.device, dtype=torch.bfloat16)
    target = torch.randint(0, 64, (tokens,), device=run.device)
    net = Training(run, model, [])
    net.batch, net.singly = lambda number: (values, target), False
    return net
