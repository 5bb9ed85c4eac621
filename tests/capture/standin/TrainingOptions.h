// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "tests/capture/standin/TrainingPlan.h"

namespace lanescope::standin {

/// Command line options of the stand-in training. `--name value` for each; see the parser.
struct TrainingOptions {
    TrainingPlan plan;
    int stepMs = 0;                    ///< A pause after each step,
    bool longSteps = false;            ///< or before its range ends.
    std::string cupti;                 ///< The libcupti stand-in; without it there is no simulated GPU.
    bool cuptiFirst = false;           ///< Loaded before the driver starts, as PyTorch does.
    bool nvtxFirst = false;            ///< An NVTX call before the driver starts.
    bool live = false;                 ///< Kernels by the clock (`LiveGpu`) instead of by the plan.
    int gpuDelayUs = 0;                ///< With `live`: from a launch to its kernel.
    bool reservesRecordEarly = false;  ///< With `live`: see `LiveGpu::begin`; and the next.
    bool overtakes = false;
    bool waits = false;          ///< With `live`: each step waits for the GPU by cuCtxSynchronize.
    bool leavesRunning = false;  ///< With `live`: ends without waiting for the GPU.
    bool locksBadly = false;     ///< Takes two locks in both orders, one after the other.
    int profileFrom = 0;         ///< With `live`: cudaProfilerStart before this step, counted from 1,
    int profileTo = 0;           ///< and cudaProfilerStop after that one.
    int profileEvery = 0;        ///< And repeated after that many steps.
    bool hasSecondTool = false;  ///< See `SecondTool.h`. It begins after the driver.
    bool rare = false;           ///< `SimulatedGpu::emitRareRecords`, half a second after the start.
    bool nvtx = true, driver = true;
    std::string fork;               ///< Children that use nvtx, do nothing and exit, are quiet (_exit), or get a term.
    int churn = 0;                  ///< Number of short threads that use NVTX.
    int threadsPerRound = 4;        ///< Number of these alive at once.
    int strayThreads = 0;           ///< Threads that use NVTX until the process is gone.
    int depth = 0;                  ///< Number of nested ranges.
    std::string plugin;             ///< A second shared object with NVTX to load and call.
    bool closeStandard = false;     ///< Closes descriptors 0 to 2 before anything else.
    std::string closeAll;           ///< Closes all other descriptors half way, then writes this file.
    std::string exitBy = "return";  ///< return, exit, _exit, abort, kill, or a signal; see `endBy`.
    int exitCode = 0;
};

/// Reads the command line; on an error prints it and exits with 2.
TrainingOptions readOptions(int argc, char** argv);

}  // namespace lanescope::standin
