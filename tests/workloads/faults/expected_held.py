# SPDX-License-Identifier: Apache-2.0
"""As `expected`, for the faults that are held back."""

from .expected import DISK, LAUNCHES, LOADS, WAITS

EXPECTED_HELD = {
    "ping-pong": [["dtoh|htod|device.to.host|host.to.device|to the gpu|to the (cpu|host)", "cop(y|ies)|memcpy|transfer"]],
    "mask-sync": [[WAITS], ["nonzero"]],
    "eager-decode": [[LAUNCHES]],
    "offloaded-optimizer": [["dtoh|htod|device.to.host|host.to.device|pageable"], ["optimi[sz]er|sgd"]],
    "fsync-log": [[DISK]],
    "epoch-workers": [["every 15|15th|fifteenth"], [LOADS]],
    "no-tensor-cores": [["tensor|tf32|fp32|float32|sgemm|precision"]],
    "jax-recompile": [["compil|retrac|\\bjit"]],
    "uneven-loader": [["every 8|8th|eighth"], [LOADS]],
}
