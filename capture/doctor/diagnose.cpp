// SPDX-License-Identifier: Apache-2.0
#include "capture/doctor/diagnose.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <string_view>
#include <system_error>

#include "capture/log/LogFolder.h"
#include "capture/machine/DynamicLibrary.h"
#include "capture/machine/Machine.h"
#include "capture/perf/LibDw.h"
#include "capture/perf/PerfEvents.h"
#include "capture/record/AgentEnvironment.h"
#include "capture/sample/ProcessCounters.h"
#include "capture/sample/runSampler.h"
#include "capture/threads/PythonProcess.h"
#include "capture/threads/StateRuns.h"
#include "model/format/Subprocess.h"
#include "model/format/files.h"
#include "model/format/optionValues.h"
#include "model/format/text.h"

namespace lanescope::capture {

namespace {

/// A minute of busy training can write this much of logs and trace.
constexpr uint64_t minFreeBytes = 2ull << 30;

std::string readAll(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

Check ok(std::string name, std::string sentence) { return {CheckStatus::Ok, std::move(name), std::move(sentence), {}}; }

constexpr unsigned timeLimitSeconds = 20;

void answer(int answerFile, const std::function<std::string()>& question) {
    ::signal(SIGALRM, SIG_DFL);
    ::alarm(timeLimitSeconds);
    ::unsetenv("CUDA_INJECTION64_PATH");
    ::unsetenv("NVTX_INJECTION64_PATH");
    // Suppresses the output of libraries.
    if (const UniqueFd null = openNullDevice(); null >= 0) {
        ::dup2(null, STDOUT_FILENO);
        ::dup2(null, STDERR_FILENO);
    }
    const std::string text = question();
    if (!writeAll(answerFile, text.data(), text.size())) ::_exit(1);
}

// Result of the probe in place of a version.
constexpr const char* noLibrary = "none";
constexpr const char* failedPrefix = "failed ";

std::string askDriver() {
    DynamicLibrary library("libcuda.so.1");
    int (*const initialise)(unsigned) = library.get("cuInit");
    int (*const version)(int*) = library.get("cuDriverGetVersion");
    if (initialise == nullptr || version == nullptr) return noLibrary;
    library.stay();  // it keeps threads of its own
    if (const int code = initialise(0); code != 0) return fmt::format("{}{}", failedPrefix, code);
    int number = 0;
    version(&number);
    return fmt::format("{}.{}", number / 1000, number % 1000 / 10);
}

constexpr const char* libraryNames[] = {"libcupti.so.13", "libcupti.so.12", "libcupti.so.11.8"};

/// Returns the possible paths of CUPTI, in the order in which programs search.
std::vector<std::filesystem::path> candidates() {
    std::vector<std::filesystem::path> found;
    const auto add = [&](const std::filesystem::path& folder) {
        std::error_code error;
        for (const char* name : libraryNames)
            if (std::filesystem::exists(folder / name, error)) found.push_back(folder / name);
    };
    for (const std::filesystem::path& folder : pythonCuptiFolders("python3")) add(folder);
    for (const char* name : libraryNames) found.emplace_back(name);
    for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
        const std::string home = environment(variable);
        if (!std::filesystem::path(home).is_absolute()) continue;
        add(std::filesystem::path(home) / "extras" / "CUPTI" / "lib64");
        add(std::filesystem::path(home) / "lib64");
    }
    add("/usr/local/cuda/extras/CUPTI/lib64");
    add("/usr/local/cuda/lib64");
    return found;
}

/// Returns "path version" of a library that can be opened, else an empty text.
std::string askLibrary(const std::filesystem::path& path) {
    DynamicLibrary library(path);
    int (*const getVersion)(unsigned*) = library.get("cuptiGetVersion");
    unsigned version = 0;
    if (getVersion == nullptr || getVersion(&version) != 0) return {};
    Dl_info info{};
    const bool isKnown = dladdr(reinterpret_cast<void*>(getVersion), &info) != 0;
    return fmt::format("{} (API version {})", isKnown ? info.dli_fname : path.c_str(), version);
}

}  // namespace

CheckStatus worstOf(const std::vector<Check>& checks) {
    CheckStatus worst = CheckStatus::Ok;
    for (const Check& check : checks) worst = std::max(worst, check.status);
    return worst;
}

bool canRecord(const std::vector<Check>& checks) { return worstOf(checks) < CheckStatus::NoCuda; }

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
            checkOtherProfilers("/proc"),
            checkFolder(std::filesystem::current_path(error))};
}

Check checkGpus() {
    const Machine machine = queryMachine();
    if (machine.driverVersion.empty())
        return {CheckStatus::Warning, "nvml", "NVML is not available; traces will lack the GPU topology.",
                "In a container, allow NVIDIA_DRIVER_CAPABILITIES=compute,utility."};
    std::map<std::string, int> kinds;
    for (const MachineGpu& gpu : machine.gpus) ++kinds[gpu.name];
    std::string names;
    for (const auto& [name, count] : kinds) {
        if (!names.empty()) names += ", ";
        names += count > 1 ? fmt::format("{} x {}", count, name) : name;
    }
    return ok("nvml", fmt::format("Driver {}; GPUs: {}.", machine.driverVersion, names.empty() ? "none" : names));
}

Check checkAgent(const std::filesystem::path& agent) {
    const auto found = findAgent(agent);
    if (!found) return {CheckStatus::Failure, "agent", found.error().sentence, {}};
    if (auto fits = checkIsAgent(*found); !fits) return {CheckStatus::Failure, "agent", fits.error().sentence, {}};
    // An agent with CUPTI contains the name of this function, which it looks up at run time.
    if (readAll(*found).find("cuptiActivityEnable") == std::string::npos)
        return {CheckStatus::NoCuda, "agent",
                fmt::format("The agent {} was built without CUPTI and records only NVTX.", found->string()),
                "Build Lanescope on a machine with the CUPTI headers."};
    return ok("agent", fmt::format("The agent is {}.", found->string()));
}

Check checkCounterPermission(const std::filesystem::path& driverParameters) {
    const std::string text = readAll(driverParameters);
    static constexpr std::string_view key = "RmProfilingAdminOnly: ";
    const size_t at = text.find(key);
    if (at == std::string::npos || ::geteuid() == 0 || text.substr(at + key.size(), 1) == "0")
        return ok("permission", "Profiling is not restricted to administrators.");
    return {CheckStatus::Warning, "permission",
            "The driver restricts GPU counters to administrators. Recording works, except for --gpu-metrics.",
            "Set the driver option NVreg_RestrictProfilingToAdminUsers=0."};
}

Check checkInjectionVariables(const std::filesystem::path& agent) {
    const auto found = findAgent(agent);
    if (auto alone = checkForOtherProfilers(found ? *found : agent, {}); !alone)
        return {CheckStatus::Failure, "environment", alone.error().sentence, {}};
    return ok("environment", "No other tool will be loaded into programs.");
}

Check checkNcclVariables() {
    if (const std::string off = environment("NCCL_NVTX_DISABLE"); !off.empty() && off != "0")
        return {CheckStatus::Warning, "nccl", "NCCL_NVTX_DISABLE is set; NCCL calls will not be recorded.",
                "Unset it, or record with --nccl plugin."};
    if (const std::string plugin = environment("NCCL_PROFILER_PLUGIN"); !plugin.empty())
        return {CheckStatus::Warning, "nccl",
                fmt::format("NCCL_PROFILER_PLUGIN is {}; --nccl plugin will be refused.", plugin),
                "Unset it to record data types and algorithms of NCCL calls."};
    return ok("nccl", "NCCL calls can be recorded.");
}

Check checkOtherProfilers(const std::filesystem::path& processes) {
    static constexpr std::string_view otherProfilers[] = {"nsys", "ncu", "nv-hostengine", "dcgmi", "compute-saniti"};
    std::string found;
    for (const std::string& pid : log::namesIn(processes)) {
        if (!isNumber(pid)) continue;
        std::string name = readAll(processes / pid / "comm");
        while (!name.empty() && name.back() == '\n') name.pop_back();
        if (std::ranges::any_of(otherProfilers, [&](std::string_view program) { return name.starts_with(program); }))
            found += fmt::format("{}{} ({})", found.empty() ? "" : ", ", name, pid);
    }
    if (found.empty()) return ok("profilers", "No other GPU profiler is running.");
    return {CheckStatus::Warning, "profilers", fmt::format("Other tools are running: {}.", found),
            "Only one tool can trace a process. Stop them if a recording stays empty."};
}

Check checkFolder(const std::filesystem::path& folder) {
    const std::string shown = folder.string();
    if (::access(folder.c_str(), W_OK | X_OK) != 0)
        return {CheckStatus::Failure, "folder",
                fmt::format("{}: the folder is not writable: {}.", shown, std::strerror(errno)),
                "Change to a writable folder, or name the output with -o."};
    struct statvfs space {};
    if (::statvfs(folder.c_str(), &space) != 0) return ok("folder", fmt::format("{} is writable.", shown));
    const uint64_t free = uint64_t{space.f_bavail} * space.f_frsize;
    const double freeGib = static_cast<double>(free) / (1 << 30);
    if (free < minFreeBytes)
        return {CheckStatus::Warning, "folder", fmt::format("{1}: only {0:.1f} GiB free.", freeGib, shown),
                "Record to another disk with -o."};
    return ok("folder", fmt::format("{}: writable, {:.0f} GiB free.", shown, freeGib));
}

std::optional<std::string> probe(const std::function<std::string()>& question) {
    Subprocess child = Subprocess::fork([&](int output) { answer(output, question); });
    if (child.pid() < 0) return std::nullopt;
    std::string text = child.output();
    const int status = child.wait();
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) return std::nullopt;
    return text;
}

Check checkDriver() {
    const std::optional<std::string> answer = probe(askDriver);
    if (!answer) return {CheckStatus::NoCuda, "driver", "The CUDA driver crashed or timed out.", "Check nvidia-smi."};
    if (*answer == noLibrary)
        return {CheckStatus::NoCuda, "driver", "The CUDA driver (libcuda.so.1) is missing.",
                "Install it. In a container, start the container with GPUs (--gpus all)."};
    if (answer->starts_with(failedPrefix))
        return {CheckStatus::NoCuda, "driver", fmt::format("The CUDA driver does not start: cuInit {}.", *answer),
                "Check nvidia-smi, and that CUDA_VISIBLE_DEVICES names a GPU."};
    return ok("driver", fmt::format("The driver supports CUDA {}.", *answer));
}

Check checkCupti() {
    for (const std::filesystem::path& path : candidates()) {
        const auto answer = probe([&] { return askLibrary(path); });
        if (answer && !answer->empty()) return ok("cupti", fmt::format("CUPTI is {}.", *answer));
    }
    return {CheckStatus::NoCuda, "cupti",
            "CUPTI (libcupti.so.13, .12 or .11.8) was not found by the loader, in CUDA_HOME or in Python packages.",
            "Install it: pip install nvidia-cuda-cupti, or the CUDA toolkit, then set CUDA_HOME."};
}

Check checkThreads() {
    static const uint64_t probe = 0x5ca1ab1e5ca1ab1e;
    const Subprocess child = Subprocess::fork([](int) {
        for (;;) ::pause();
    });
    if (child.pid() < 0)
        return {CheckStatus::Warning,
                "threads",
                fmt::format("Thread sampling cannot be tested: {}.", std::strerror(errno)),
                {}};
    std::vector<char> buffer;
    const auto file = [&](const char* name) {
        return ProcFile(fmt::format("/proc/{}/task/{}/{}", child.pid(), child.pid(), name)).read(buffer);
    };
    const bool hasTimes = !file("schedstat").empty();
    const bool hasCalls = parseSystemCall(file("syscall")).isKnown;
    uint64_t read = 0;
    const bool hasMemory = RemoteMemory(child.pid()).get(reinterpret_cast<uintptr_t>(&probe), read) && read == probe;
    if (hasTimes && hasCalls && hasMemory)
        return ok("threads", "Threads can be sampled, with wait reasons and Python lines.");
    std::string missing;
    for (const auto& [isThere, what] : {std::pair(hasMemory, "Python lines between CUDA calls (process_vm_readv)"),
                                        std::pair(hasCalls, "wait reasons (/proc/PID/syscall)"),
                                        std::pair(hasTimes, "running and runnable times (/proc/PID/schedstat)")})
        if (!isThere) missing += (missing.empty() ? "" : ", ") + std::string(what);
    return {CheckStatus::Warning, "threads", fmt::format("Recordings will lack {}.", missing),
            "In a container, use Linux 4.8 or newer and the default seccomp profile. Other data are recorded."};
}

Check checkPerf() {
    const auto allowed = tryPerfEvents();
    // Only that option needs it.
    if (!allowed)
        return ok("perf", fmt::format("record --cpu-samples perf is not available here (optional): {}",
                                      allowed.error().sentence));
    const LibDw libDw;
    return ok("perf",
              fmt::format("perf events are available (record --cpu-samples perf){}; {}.",
                          allowed->seesKernel ? "" : ", without kernel threads",
                          libDw ? "libdw found, stacks can be unwound"
                                : fmt::format("stacks are unwound by frame pointers only: {}", LibDw::absence())));
}

}  // namespace lanescope::capture
