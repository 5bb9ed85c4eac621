// SPDX-License-Identifier: Apache-2.0
#include "capture/doctor/diagnose.h"

#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <string_view>
#include <system_error>

#include "capture/log/namesIn.h"
#include "capture/machine/queryMachine.h"
#include "capture/record/AgentEnvironment.h"
#include "model/format/environment.h"

namespace lanescope::capture {

namespace {

/// A minute of busy training can leave this much of logs and trace.
constexpr uint64_t littleSpaceBytes = 2ull << 30;

std::string readAll(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

CheckStatus gravestOf(const std::vector<Check>& checks) {
    CheckStatus gravest = CheckStatus::Ok;
    for (const Check& check : checks) gravest = std::max(gravest, check.status);
    return gravest;
}

bool canRecord(const std::vector<Check>& checks) {
    return gravestOf(checks) < CheckStatus::NoCuda;
}

std::vector<Check> diagnose(const std::filesystem::path& agent) {
    std::error_code error;
    return {checkDriver(),
            checkGpus(),
            checkAgent(agent),
            checkCupti(),
            checkCounterPermission("/proc/driver/nvidia/params"),
            checkThreads(),
            checkPerf(),
            checkInjectionVariables(agent),
            checkNcclVariables(),
            checkRivalProcesses("/proc"),
            checkFolder(std::filesystem::current_path(error))};
}

Check checkGpus() {
    const Machine machine = queryMachine();
    if (machine.driverVersion.empty())
        return {CheckStatus::Warning, "nvml",
                "NVML does not answer, so traces will not say how the GPUs are joined.",
                "In a container, allow NVIDIA_DRIVER_CAPABILITIES=compute,utility."};
    std::map<std::string, int> kinds;
    for (const MachineGpu& gpu : machine.gpus) ++kinds[gpu.name];
    std::string names;
    for (const auto& [name, count] : kinds) {
        if (!names.empty()) names += ", ";
        names += count > 1 ? fmt::format("{} x {}", count, name) : name;
    }
    return {
        CheckStatus::Ok,
        "nvml",
        fmt::format("Driver {}; GPUs: {}.", machine.driverVersion, names.empty() ? "none" : names),
        {}};
}

Check checkAgent(const std::filesystem::path& agent) {
    const auto found = findAgent(agent);
    if (!found) return {CheckStatus::Failure, "agent", found.error().sentence, {}};
    if (auto fits = checkIsAgent(*found); !fits)
        return {CheckStatus::Failure, "agent", fits.error().sentence, {}};
    // The name of the function by which it starts CUDA recording, which it looks up at run time.
    if (readAll(*found).find("cuptiActivityEnable") == std::string::npos)
        return {CheckStatus::NoCuda, "agent",
                fmt::format("The agent {} was built without CUPTI: it records NVTX only.",
                            found->string()),
                "Build Lanescope where the CUPTI headers are."};
    return {CheckStatus::Ok, "agent", fmt::format("The agent is {}.", found->string()), {}};
}

Check checkCounterPermission(const std::filesystem::path& driverParameters) {
    const std::string text = readAll(driverParameters);
    static constexpr std::string_view key = "RmProfilingAdminOnly: ";
    const size_t at = text.find(key);
    if (at == std::string::npos || ::geteuid() == 0 || text.substr(at + key.size(), 1) == "0")
        return {
            CheckStatus::Ok, "permission", "Nothing restricts profiling to administrators.", {}};
    return {CheckStatus::Warning, "permission",
            "The driver keeps GPU counters to administrators. Recording works; sampled counters "
            "will not.",
            "Ask for the driver option NVreg_RestrictProfilingToAdminUsers=0."};
}

Check checkInjectionVariables(const std::filesystem::path& agent) {
    const auto found = findAgent(agent);
    if (auto alone = checkForRivals(found ? *found : agent, {}); !alone)
        return {CheckStatus::Failure, "environment", alone.error().sentence, {}};
    return {CheckStatus::Ok, "environment", "No other tool is set to be loaded into programs.", {}};
}

Check checkNcclVariables() {
    if (const std::string off = environment("NCCL_NVTX_DISABLE"); !off.empty() && off != "0")
        return {CheckStatus::Warning, "nccl",
                "NCCL_NVTX_DISABLE is set, so NCCL's calls will not be seen.",
                "Unset it, or record with --nccl plugin."};
    if (const std::string plugin = environment("NCCL_PROFILER_PLUGIN"); !plugin.empty())
        return {
            CheckStatus::Warning, "nccl",
            fmt::format("NCCL_PROFILER_PLUGIN is {}, so --nccl plugin will be refused.", plugin),
            "Unset it if you want data types and algorithms of NCCL's calls."};
    return {CheckStatus::Ok, "nccl", "Nothing keeps NCCL's calls from being seen.", {}};
}

Check checkRivalProcesses(const std::filesystem::path& processes) {
    static constexpr std::string_view rivals[] = {"nsys", "ncu", "nv-hostengine", "dcgmi",
                                                  "compute-saniti"};
    std::string found;
    for (const std::string& pid : log::namesIn(processes)) {
        if (pid.empty() || pid.find_first_not_of("0123456789") != std::string::npos) continue;
        std::string name = readAll(processes / pid / "comm");
        while (!name.empty() && name.back() == '\n') name.pop_back();
        const bool isRival = std::any_of(std::begin(rivals), std::end(rivals), [&](auto rival) {
            return std::string_view(name).substr(0, rival.size()) == rival;
        });
        if (isRival) found += fmt::format("{}{} ({})", found.empty() ? "" : ", ", name, pid);
    }
    if (found.empty()) return {CheckStatus::Ok, "rivals", "No other GPU profiler is running.", {}};
    return {CheckStatus::Warning, "rivals", fmt::format("Other tools are running: {}.", found),
            "Only one tool can trace a process; end them if a recording stays empty."};
}

Check checkFolder(const std::filesystem::path& folder) {
    const std::string shown = folder.string();
    if (::access(folder.c_str(), W_OK | X_OK) != 0)
        return {CheckStatus::Failure, "folder",
                fmt::format("Cannot write into {}: {}.", shown, std::strerror(errno)),
                "Go to a folder of yours, or name the output with -o."};
    struct statvfs space {};
    if (::statvfs(folder.c_str(), &space) != 0)
        return {CheckStatus::Ok, "folder", fmt::format("{} is writable.", shown), {}};
    const uint64_t free = uint64_t{space.f_bavail} * space.f_frsize;
    const double freeGib = static_cast<double>(free) / (1 << 30);
    if (free < littleSpaceBytes)
        return {CheckStatus::Warning, "folder",
                fmt::format("Only {:.1f} GiB are free in {}.", freeGib, shown),
                "Record to another disk with -o."};
    return {CheckStatus::Ok,
            "folder",
            fmt::format("{} is writable and has {:.0f} GiB free.", shown, freeGib),
            {}};
}

}  // namespace lanescope::capture
