# SPDX-License-Identifier: Apache-2.0
"""Programs of JAX."""

import os

from .common import Skipped


def by_jax(run, train, also=None, **options):
    """Steps of a jitted training or inference of JAX; `also(number, jax)` is called after each that is not a warm-up."""
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    try:
        import jax
        import jax.numpy as jnp
    except ImportError as error:
        raise Skipped(f"no JAX: {error}") from None
    width, rows = run.size(4096), run.size(8192)
    keys = jax.random.split(jax.random.key(0), 8)
    weights = [(jax.random.normal(key, (width, width)) / 64).astype(jnp.bfloat16) for key in keys]
    inputs = jax.random.normal(keys[0], (rows, width)).astype(jnp.bfloat16)

    def forward(weights, inputs):
        for weight in weights:
            inputs = jnp.tanh(inputs @ weight)
        return inputs

    def loss(weights):
        return jnp.mean(forward(weights, inputs).astype(jnp.float32) ** 2)

    @jax.jit
    def update(weights):
        return [weight - 0.001 * change for weight, change in zip(weights, jax.grad(loss)(weights))]

    infer, state = jax.jit(forward), [weights, None]
    run.sync = lambda: jax.block_until_ready(state)

    def good(number):
        if train:
            state[0] = update(state[0])
        else:
            state[1] = infer(state[0], inputs)

    def step(number):
        good(number)
        also(number, jax)

    return run.steps(step, good, **options) if also else run.steps(good, **options)
