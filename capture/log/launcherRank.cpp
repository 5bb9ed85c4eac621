// SPDX-License-Identifier: Apache-2.0
#include "capture/log/launcherRank.h"

#include <cstdlib>

#include "model/format/text.h"

namespace lanescope::log {

namespace {

struct Variables {
    const char *rank, *localRank, *worldSize, *localWorldSize;
};

constexpr Variables launchers[] = {
    {"RANK", "LOCAL_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE"},
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE"},
    {"MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_LOCAL_RANK", "MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_LOCAL_SIZE"},
    {"PMI_RANK", "MPI_LOCALRANKID", "PMI_SIZE", "MPI_LOCALNRANKS"},
    {"SLURM_PROCID", "SLURM_LOCALID", "SLURM_STEP_NUM_TASKS", nullptr},
    {"SLURM_PROCID", "SLURM_LOCALID", "SLURM_NTASKS", nullptr},
    {"PMIX_RANK", nullptr, nullptr, nullptr},
};

/// Returns the value of a variable if it is a number, else an empty text.
std::string number(const char* name) {
    const char* value = name ? std::getenv(name) : nullptr;
    const std::string text = value ? value : "";
    return isNumber(text) && text.size() <= 9 ? text : std::string();
}

/// Returns true in a batch script, which runs once and outside every step.
bool isOutsideSlurmStep(const Variables& variables) {
    return std::string(variables.rank) == "SLURM_PROCID" && std::getenv("SLURM_JOB_ID") &&
           !std::getenv("SLURM_STEP_ID");
}

LauncherRank read(const Variables& variables) {
    if (isOutsideSlurmStep(variables)) return {};
    return {number(variables.rank), number(variables.localRank), number(variables.worldSize),
            number(variables.localWorldSize), variables.rank};
}

}  // namespace

LauncherRank launcherRank() {
    LauncherRank incomplete;
    for (const Variables& variables : launchers) {
        LauncherRank found = read(variables);
        if (found.rank.empty()) continue;
        if (!found.worldSize.empty()) return found;
        if (incomplete.rank.empty()) incomplete = std::move(found);
    }
    return incomplete;
}

}  // namespace lanescope::log
