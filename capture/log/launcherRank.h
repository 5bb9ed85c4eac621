// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace lanescope::log {

/// Place of this process among a launcher's processes, in decimal digits; empty if the launcher
/// does not provide it. All values come from one launcher, so that they are consistent.
struct LauncherRank {
    std::string rank, localRank, worldSize, localWorldSize;
    std::string rankVariable;  ///< Environment variable that contained `rank`.
};

/// Reads the variables of torchrun, Open MPI, MVAPICH, Hydra (MPICH, Intel MPI), Slurm's srun and PMIx launchers.
/// Returns the values of the first launcher in this order that provides rank and size, else of the first that provides
/// a rank. A batch script of Slurm is no rank, though Slurm calls it task 0.
LauncherRank launcherRank();

}  // namespace lanescope::log
