// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/trace/Trace.h"

namespace lanescope {

/// Description of a simulated machine with GPUs, and of its program.
struct SimulatedMachine {
    int gpuCount = 2, steps = 6;
    int linksPerGpu = 18;     ///< 0: the GPUs are connected by PCIe only.
    bool hasTopology = true;  ///< Topology, peaks of links and affinities are in the trace.
    bool hasCounters = true;  ///< GPU, link and host counters are in the trace.
    int copiesPerStep = 40;   ///< From the host to each GPU.
};

/// Returns a simulated trace of training steps of 20 ms with one process per GPU: pageable and pinned copies of many
/// sizes, copies between the GPUs, kernels, and counters like those of samplers, with an unknown interval. The same
/// arguments give the same trace. Nothing in it was measured.
TracePtr simulatedMachine(const SimulatedMachine& options = {});

}  // namespace lanescope
