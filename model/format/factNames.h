// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "model/format/text.h"

namespace lanescope {

/// Returns the rank in a file name: 3 of "run.rank3.json", "rank_3.sqlite", "rank-3". Returns nullopt if there is none.
inline std::optional<int> rankInName(std::string_view name) {
    constexpr std::string_view word = "rank";
    constexpr int maxRank = 1 << 24;
    const size_t found = name.find(word);
    if (found == std::string_view::npos) return std::nullopt;
    name.remove_prefix(found + word.size());
    if (!name.empty() && (name.front() == '-' || name.front() == '_')) name.remove_prefix(1);
    int rank = 0;
    bool isNumber = false;
    for (; !name.empty() && isDigit(name.front()); name.remove_prefix(1)) {
        rank = rank * 10 + (name.front() - '0');
        isNumber = true;
        if (rank >= maxRank) return std::nullopt;
    }
    return isNumber ? std::optional(rank) : std::nullopt;
}

// Form of source paths in a trace: short, and equal for all users of a program.

/// Base folders of short paths; empty if unknown.
struct SourceFolders {
    std::string working;  ///< Working folder of the program.
    std::string home;     ///< Home folder of the user.
};

/// Returns true if the file is a module of Python by its name.
inline bool isPythonFile(std::string_view file) { return file.ends_with(".py"); }

/// Returns true if the file is part of PyTorch's data loader.
inline bool isTorchDataFile(std::string_view file) { return contains(file, "/torch/utils/data/"); }

/// Returns true for functions of torch.utils.checkpoint that repeat a forward within a backward.
inline bool isRecomputation(std::string_view file, std::string_view function) {
    constexpr std::array<std::string_view, 3> repeating{"recompute_fn", "unpack_hook", "CheckpointFunction.backward"};
    return contains(file, "utils/checkpoint.py") && (function == "backward" || containsAny(function, repeating));
}

/// Returns true if a file belongs to Python's library or to an installed package. Any thread, also
/// for the functions below.
inline bool isLibraryFile(std::string_view file) {
    // Interactive input and generated code of packages have such names.
    if (file.starts_with('<'))
        return !file.starts_with("<stdin>") && !file.starts_with("<string>") && !file.starts_with("<ipython-input");
    // The cache of PyTorch's compiler, and our ranges of operators, also where they are not installed.
    for (const std::string_view folder : {"/site-packages/", "/dist-packages/", "/lib/python3", "/torch/_",
                                          "/torch/nn/", "/torchinductor_", "/lanescope/torch.py"})
        if (file.find(folder) != std::string_view::npos) return true;
    return file.empty();
}

/// Returns the path relative to the working folder, or "~/src/train.py" below the home folder.
/// Other and ambiguous paths are returned unchanged.
std::string shortSourcePath(std::string_view path, const SourceFolders& folders);

/// Returns true if a mangled name may expand to more than a megabyte. Back references let 250 bytes
/// stand for gigabytes.
bool mayDemangleLong(std::string_view mangled);

/// Returns the demangled name of a function, or the name itself if it is not mangled, malformed or longer than 32 KiB.
/// Returns nullopt if `mayDemangleLong`.
std::optional<std::string> demangledName(const std::string& mangled);

// Names of facts in `LANESCOPE_PROPERTIES` and in logs. `model/trace/Facts.h` has their labels and value formats. The
// functions below join a name with its subject (recorder) and split it again (loader).

namespace facts {
// Facts of a run; `commandLine` and `host` also of a process.
inline constexpr std::string_view commandLine = "commandLine";
inline constexpr std::string_view workingDirectory = "workingDirectory";
inline constexpr std::string_view homeDirectory = "homeDirectory";
inline constexpr std::string_view host = "host";
inline constexpr std::string_view operatingSystem = "operatingSystem";
inline constexpr std::string_view kernel = "kernel";
inline constexpr std::string_view cpu = "cpu";
inline constexpr std::string_view cpuCount = "cpuCount";
inline constexpr std::string_view hostMemoryBytes = "hostMemoryBytes";
inline constexpr std::string_view driverVersion = "driverVersion";
inline constexpr std::string_view driverCudaVersion = "driverCudaVersion";
inline constexpr std::string_view lanescopeVersion = "lanescopeVersion";
inline constexpr std::string_view recordOptions = "recordOptions";
inline constexpr std::string_view exitStatus = "exitStatus";
inline constexpr std::string_view logBytesUnreadAtExit = "logBytesUnreadAtExit";
inline constexpr std::string_view cutSteps = "cutSteps";
// Facts of a process.
inline constexpr std::string_view program = "program";
/// Start of a process in its log, in the kernel's ticks; not in traces.
inline constexpr std::string_view processStart = "processStart";
inline constexpr std::string_view processName = "processName";
inline constexpr std::string_view bootId = "bootId";
inline constexpr std::string_view visibleDevices = "visibleDevices";
inline constexpr std::string_view agentVersion = "agentVersion";
inline constexpr std::string_view cuptiPath = "cuptiPath";
inline constexpr std::string_view cuptiVersion = "cuptiVersion";
inline constexpr std::string_view rank = "rank";
inline constexpr std::string_view localRank = "localRank";
inline constexpr std::string_view worldSize = "worldSize";
inline constexpr std::string_view localWorldSize = "localWorldSize";
inline constexpr std::string_view ncclProfilerInterface = "ncclProfilerInterface";
inline constexpr std::string_view endSignal = "endSignal";
inline constexpr std::string_view forkedChild = "forkedChild";
/// Id of the parent process, present if the parent was recorded too.
inline constexpr std::string_view parentProcess = "parentProcess";
/// In merged traces: error bound in nanoseconds of the clock of a process's file relative to the first file.
inline constexpr std::string_view clockErrorNs = "clock.errorNs";
inline constexpr std::string_view cuda = "cuda";
inline constexpr std::string_view nvtx = "nvtx";
// Facts of a GPU.
inline constexpr std::string_view pcieGeneration = "pcieGeneration";
inline constexpr std::string_view pcieWidth = "pcieWidth";
inline constexpr std::string_view nvlinkCount = "nvlinkCount";
// Facts of samplers; a GPU number is appended to the last two.
inline constexpr std::string_view samplers = "samplers";
inline constexpr std::string_view gpuMetricsSampler = "gpuMetricsSampler";
inline constexpr std::string_view samplerIntervals = "samplerIntervals";
inline constexpr std::string_view samplerIntervalsGpm = "samplerIntervalsGpm";
inline constexpr std::string_view samplerIntervalsHost = "samplerIntervalsHost";
inline constexpr std::string_view threadSampler = "threadSampler";
inline constexpr std::string_view threadStacksRead = "threadStacksRead";
inline constexpr std::string_view threadStacksTorn = "threadStacksTorn";
inline constexpr std::string_view gpuMetricsHz = "gpuMetricsHz";
inline constexpr std::string_view gpuMetricsLost = "gpuMetricsLost";
inline constexpr std::string_view gpuMetricsClock = "gpuMetricsClock";
/// Values of a flag.
inline constexpr std::string_view one = "1", off = "off";
}  // namespace facts

/// Fact name with the subject that was joined to it.
template <class Subject>
struct FactOf {
    Subject subject{};
    std::string_view name;
};

/// Returns the name of a fact of that GPU, such as "gpu0.pcieWidth".
std::string gpuFactName(int64_t gpu, std::string_view name);
std::optional<FactOf<int64_t>> splitGpuFact(std::string_view text);

/// Returns the name of a fact of one of several hosts, such as "box samplers". Fact names contain
/// no space, so the last space separates.
std::string hostFactName(std::string_view host, std::string_view name);
std::optional<FactOf<std::string_view>> splitHostFact(std::string_view text);

/// Returns the name of one of several facts of the same kind, such as "gpuMetricsLost0", "host1".
std::string numberedFactName(std::string_view name, int64_t number);
std::optional<FactOf<int64_t>> splitNumberedFact(std::string_view text);

/// Recorder of a trace, as far as it decides what the trace can tell.
enum class ProducerKind : uint8_t {
    Other,
    Lanescope,      ///< All of it; not traces merged with those of others.
    NcclInspector,  ///< Has no GPU work except NCCL's kernels: idle times and causes are unknown.
};
/// For files and programs: "other", "lanescope", "nccl_inspector".
std::string_view identifier(ProducerKind kind);
/// Returns the kind of a producer by its text, such as "Lanescope 0.1.0".
ProducerKind producerKindOf(std::string_view producer);
inline constexpr std::string_view inspectorProducer = "NCCL Inspector";

enum class GpuVendor : uint8_t { Nvidia, Amd };
/// Returns `Amd` for names of its GPUs, else `Nvidia`.
GpuVendor gpuVendorOf(std::string_view gpuName);

/// Returns true if a GPU name denotes a MIG instance, such as "NVIDIA H200 MIG 1g.18gb".
constexpr bool isMigName(std::string_view gpuName) { return contains(gpuName, " MIG "); }
constexpr bool isMigUuid(std::string_view uuid) { return uuid.starts_with("MIG-"); }

/// Returns the bytes per second in one direction of that many lanes of a PCIe generation, after
/// line encoding and before packet headers. Returns 0 for an unknown generation or lane count.
int64_t pcieBytesPerSecond(int generation, int lanes);

}  // namespace lanescope
