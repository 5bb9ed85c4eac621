// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace lanescope::log {

/// Which of a launcher's processes this is, in decimal digits; empty where the launcher does not
/// say. All of it comes from one launcher, so that the numbers belong together.
struct LauncherRank {
    std::string rank, localRank, worldSize, localWorldSize;
    std::string rankVariable;  ///< The environment variable that `rank` is from.
};

/// What torchrun, Open MPI, MVAPICH, Hydra (MPICH, Intel MPI), Slurm's srun or a PMIx launcher put
/// into the environment: of the first in this order that gives rank and size, else of the first
/// that gives a rank. A batch script of Slurm is no rank, though Slurm calls it task 0.
LauncherRank launcherRank();

}  // namespace lanescope::log
