// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/trace/Trace.h"

namespace lanescope {

struct SimulatedTraining {
    int steps = 5, gpuCount = 2, layers = 12;
    /// Factor for the time of every kernel, for a slower or faster candidate.
    double kernelScale = 1.0;
    bool copiesFromPageableMemory = false;  ///< Else from pinned memory, in about a sixth of the time.
    bool ncclPlugin = false;                ///< NCCL's profiler plugin reported types and algorithms, too.
};

/// Returns a simulated trace of data-parallel training, one process and rank per GPU: each step loads a batch (HtoD),
/// runs forward, backward and the optimizer under nested NVTX ranges, reduces gradients with NCCL on a second stream
/// during the backward pass, exchanges a buffer PtoP, and reads the loss back (DtoH). The same arguments give the same
/// trace. Nothing in it was measured on a GPU.
TracePtr simulatedTraining(const SimulatedTraining& options = {});

}  // namespace lanescope
