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
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <string_view>
#include <system_error>
#include <utility>

#include "capture/log/LogFolder.h"
#include "capture/machine/DynamicLibrary.h"
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
    if (const std::string text = question(); !writeAll(answerFile, text.data(), text.size())) ::_exit(1);
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
    if (const int status = child.wait(); !WIFEXITED(status) || WEXITSTATUS(status) != 0) return std::nullopt;
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

/// Returns the text of kernels.ptx.
const char* kernelsText();

namespace {

/// A GPU with memory to measure with.
struct RoofPlace {
    const CudaDriver& driver;
    const GpuContext& gpu;
    std::string uuid;
    CudaDriver::Pointer first = 0, second = 0;  ///< Buffers of `bytes` each.
    size_t bytes = 0;
    std::chrono::duration<double> budget{};  ///< Time of all of it together.
    /// Reads the state of the GPU, by UUID; empty function if unknown.
    std::function<GpuState(const std::string& uuid)> state;
    /// Called with what was measured otherwise than meant, without the name of the GPU.
    std::function<void(const std::string& what)> note;
    /// Called before each measurement with its name, "GEMM bf16 8192 x 8192 x 8192"; false ends it.
    std::function<bool(const std::string& what)> progress;
};

using Clock = std::chrono::steady_clock;
using Pointer = CudaDriver::Pointer;
using Handle = CudaDriver::Handle;

constexpr unsigned threadsPerBlock = 256, blocks = 132 * 16, sumBlocks = 132 * 8;
/// Quads between two reads of a thread, and bytes that all threads read in a turn.
constexpr size_t sumStride = size_t{sumBlocks} * threadsPerBlock, quadBytes = 16,
                 sumTurnBytes = 4 * sumStride * quadBytes;
constexpr size_t workspaceBytes = size_t{64} << 20;
constexpr double batchSeconds = 0.04;  ///< Long enough for a clock and power reading meanwhile.
constexpr int batches = 4;

/// Sizes of the products. Skinny: 64 rows, as in decoding with a batch of 64.
constexpr GemmShape shapes[] = {{8192, 8192, 8192}, {4096, 4096, 4096}, {16384, 64, 8192}};

/// The two kernels on one GPU, compiled by its driver.
class Kernels {
  public:
    explicit Kernels(const CudaDriver& driver) : driver_(driver) {
        if (driver.loadModule(&module_, kernelsText()) != 0) {
            module_ = nullptr;
            return;
        }
        if (driver.findFunction(&fill_, module_, "fill") != 0) fill_ = nullptr;
        if (driver.findFunction(&sum_, module_, "sum") != 0) sum_ = nullptr;
    }
    ~Kernels() {
        if (module_ != nullptr) driver_.unloadModule(module_);
    }
    Kernels& operator=(Kernels&&) = delete;

    bool canSum() const { return sum_ != nullptr; }
    bool canFill() const { return fill_ != nullptr; }
    /// Reads whole turns: `bytes` must be a multiple of `sumTurnBytes`.
    int sum(CudaDriver::Pointer data, size_t bytes, Handle stream) const {
        uint64_t end = bytes / quadBytes + sumStride - 1;
        void* arguments[] = {&data, &end};
        return driver_.launch(sum_, sumBlocks, 1, 1, threadsPerBlock, 1, 1, 0, stream, arguments, nullptr);
    }
    /// Fills memory with numbers between 0.5 and 1 of either sign; with zeros if nothing can be compiled.
    int fill(GemmPrecision precision, CudaDriver::Pointer data, size_t bytes, Handle stream) const {
        struct Pattern {
            uint32_t keepEven, setEven, keepOdd, setOdd;
        };
        /// By `GemmPrecision`.
        static constexpr Pattern patterns[gemmPrecisions.size()] = {
            {0x807f807f, 0x3f003f00, 0x807f807f, 0x3f003f00}, {0x83ff83ff, 0x38003800, 0x83ff83ff, 0x38003800},
            {0x87878787, 0x30303030, 0x87878787, 0x30303030}, {0x807fffff, 0x3f000000, 0x807fffff, 0x3f000000},
            {0x807fffff, 0x3f000000, 0x807fffff, 0x3f000000}, {0xffffffff, 0, 0x800fffff, 0x3fe00000},
        };
        uint64_t words = bytes / 4;
        if (fill_ == nullptr) return driver_.setWords(data, 0, words, stream);
        Pattern each = patterns[static_cast<size_t>(precision)];
        void* arguments[] = {&data, &words, &each.keepEven, &each.setEven, &each.keepOdd, &each.setOdd};
        return driver_.launch(fill_, blocks, 1, 1, threadsPerBlock, 1, 1, 0, stream, arguments, nullptr);
    }

  private:
    const CudaDriver& driver_;
    Handle module_ = nullptr, fill_ = nullptr, sum_ = nullptr;
};

/// Runs warmed batches of one operation until `end`, at least one. Fills `perSecond` and the state of the GPU into
/// `roof`; 0 if the operation fails. `amount` is done by each call of `run`.
void measure(const RoofPlace& place, Clock::time_point end, MeasuredRoof& roof, double amount, auto run) {
    double onceNs = place.gpu.timeNs(run);
    if (onceNs > 0) onceNs = place.gpu.timeNs(run);
    if (onceNs <= 0) return;
    const int repeats = std::clamp(static_cast<int>(std::lround(batchSeconds * 1e9 / onceNs)), 1, 5000);
    for (int batch = 0; batch < batches; ++batch) {
        if (batch > 1 && Clock::now() >= end) return;
        GpuState state;
        const double ns = place.gpu.timeNs(
            [&] {
                for (int repeat = 0; repeat < repeats; ++repeat)
                    if (const int status = run(); status != 0) return status;
                return 0;
            },
            [&] {
                if (place.state) state = place.state(place.uuid);
            });
        const double perSecond = ns > 0 ? amount * repeats * 1e9 / ns : 0;
        if (perSecond <= static_cast<double>(roof.perSecond)) continue;
        roof.perSecond = static_cast<int64_t>(perSecond);
        roof.smClockMhz = state.smClockMhz;
        roof.powerMilliwatts = state.powerMilliwatts;
        roof.temperature = state.temperature;
    }
}

Clock::time_point after(std::chrono::duration<double> share) {
    return Clock::now() + std::chrono::duration_cast<Clock::duration>(share);
}

size_t bytesOf(GemmPrecision precision, GemmShape shape) {
    const auto count = [](int64_t rows, int64_t columns) { return static_cast<size_t>(rows * columns); };
    const size_t input = CublasLt::inputBytes(precision), output = CublasLt::outputBytes(precision);
    return std::max(count(shape.m, shape.k) * input,
                    count(shape.k, shape.n) * input + count(shape.m, shape.n) * output + workspaceBytes);
}

/// Returns the fastest of the algorithms that fit into the time, or none if each fails. The library recommends the
/// first.
std::optional<size_t> fastest(const RoofPlace& place, const CublasLt::Gemm& gemm, Clock::time_point end) {
    std::optional<size_t> best;
    double bestNs = 0;
    for (size_t each = 0; each < gemm.algorithmCount() && (!best || Clock::now() < end); ++each) {
        const auto run = [&] { return gemm.run(each, place.gpu.stream()); };
        double ns = place.gpu.timeNs(run);
        for (int repeat = 0; ns > 0 && repeat < 2; ++repeat) ns = std::min(ns, place.gpu.timeNs(run));
        if (ns <= 0 || (best && ns >= bestNs)) continue;
        best = each;
        bestNs = ns;
    }
    return best;
}

/// Measures how fast kernels read, write and copy the memory of the GPU: the best of warmed runs. A GPU that compiles
/// no PTX of compute capability 7.0 is not read. Returns what was measured.
std::vector<MeasuredRoof> measureMemory(const RoofPlace& place) {
    std::vector<MeasuredRoof> roofs;
    if (!place.gpu.enter()) return roofs;
    const Kernels compiled(place.driver);
    const auto bytes = static_cast<double>(place.bytes);
    const auto keep = [&](const char* operation, double amount, auto run) {
        if (!place.progress(fmt::format("memory, {}", operation))) return false;
        MeasuredRoof roof{.kind = "dram", .gpuUuid = place.uuid, .operation = operation};
        measure(place, after(place.budget / 3), roof, amount, run);
        if (roof.perSecond > 0) roofs.push_back(std::move(roof));
        return true;
    };
    const Handle stream = place.gpu.stream();
    const bool goesOn =
        keep("write", bytes, [&] { return place.driver.setWords(place.first, 0, place.bytes / 4, stream); }) &&
        keep("copy", 2 * bytes,
             [&] { return place.driver.copyOnDevice(place.second, place.first, place.bytes, stream); });
    const size_t readBytes = place.bytes / sumTurnBytes * sumTurnBytes;
    if (goesOn && compiled.canSum() && readBytes > 0)
        keep("read", static_cast<double>(readBytes), [&] { return compiled.sum(place.first, readBytes, stream); });
    if (!compiled.canSum()) place.note("reading of memory is not measured: it compiles no PTX.");
    return roofs;
}

/// Measures matrix products of each precision that the library has for the GPU, on random numbers: two square ones and
/// a skinny one, with the best of the algorithms that the library recommends, the best of warmed runs.
std::vector<MeasuredRoof> measureProducts(const RoofPlace& place, CublasLt& library) {
    std::vector<MeasuredRoof> roofs;
    if (!place.gpu.enter()) return roofs;
    if (!library.start()) {
        place.note("matrix products are not measured: cuBLASLt does not start on it.");
        return roofs;
    }
    const Kernels compiled(place.driver);
    if (!compiled.canFill())
        place.note("matrix products are of zeros, which take less power than other numbers: it compiles no PTX.");
    const auto share = place.budget / static_cast<double>(gemmPrecisions.size() * std::size(shapes));
    for (const GemmPrecision precision : gemmPrecisions) {
        for (const GemmShape& shape : shapes) {
            if (bytesOf(precision, shape) > place.bytes) continue;
            compiled.fill(precision, place.first, place.bytes, place.gpu.stream());
            compiled.fill(precision, place.second, place.bytes, place.gpu.stream());
            const std::string what = fmt::format("GEMM {} {} x {} x {}", name(precision), shape.m, shape.n, shape.k);
            if (!place.progress(what)) return roofs;
            const Clock::time_point end = after(share);
            const size_t output = static_cast<size_t>(shape.k * shape.n) * CublasLt::inputBytes(precision);
            CublasLt::Buffers buffers{place.first, place.second, place.second + output,
                                      place.second + place.bytes - workspaceBytes, workspaceBytes};
            const std::unique_ptr<CublasLt::Gemm> gemm = library.makeGemm(precision, shape, buffers);
            const std::optional<size_t> algorithm = gemm ? fastest(place, *gemm, end) : std::nullopt;
            if (!algorithm) continue;
            MeasuredRoof roof{.kind = "gemm",
                              .gpuUuid = place.uuid,
                              .operation = std::string(name(precision)),
                              .m = shape.m,
                              .n = shape.n,
                              .k = shape.k,
                              .software = library.version()};
            measure(place, end, roof, shape.flops(), [&] { return gemm->run(*algorithm, place.gpu.stream()); });
            if (roof.perSecond > 0) roofs.push_back(std::move(roof));
        }
    }
    return roofs;
}

constexpr size_t minCopyBytes = size_t{16} << 20;
constexpr size_t maxCopyBytes = size_t{1} << 30;
constexpr size_t sizeStep = 4;
constexpr int repeats = 3;
constexpr unsigned busyPercent = 10;
constexpr int smCountAttribute = 16, memoryClockAttribute = 36, busWidthAttribute = 37, majorAttribute = 75,
              minorAttribute = 76;
constexpr unsigned portableHostMemory = 1;

/// Pinned and pageable host memory. The pinned memory is freed with the context in which it was
/// reserved, so it must not outlive `place`: its address may then be memory of another GPU.
class HostMemory {
  public:
    HostMemory(const CudaDriver& driver, const GpuContext& place) : driver_(driver), place_(place) {}
    ~HostMemory() {
        if (pinned_ != nullptr && place_.enter()) driver_.releaseHost(pinned_);
    }
    HostMemory& operator=(HostMemory&&) = delete;

    /// Reserves memory. Returns the size of both kinds, or 0 if there is no room. Call it once.
    size_t reserve(size_t bytes) {
        if (!place_.enter()) return 0;
        for (; bytes >= minCopyBytes; bytes /= sizeStep) {
            pageable_.reset(static_cast<char*>(std::malloc(bytes)));
            if (!pageable_ || driver_.allocateHost(&pinned_, bytes, portableHostMemory) != 0) continue;
            // Pages that were never written are not allocated.
            std::memset(pageable_.get(), 1, bytes);
            std::memset(pinned_, 1, bytes);
            return bytes;
        }
        return 0;
    }
    void* pinned() const { return pinned_; }
    void* pageable() const { return pageable_.get(); }

  private:
    struct Free {
        void operator()(char* memory) const { std::free(memory); }
    };
    const CudaDriver& driver_;
    const GpuContext& place_;
    std::unique_ptr<char, Free> pageable_;
    void* pinned_ = nullptr;
};

/// Returns the best rate of a kind of copy within its time.
int64_t bestRate(const GpuContext& place, size_t maxBytes, Clock::time_point end, auto copy) {
    double best = 0;
    for (size_t bytes = minCopyBytes; bytes <= maxBytes; bytes *= sizeStep) {
        for (int repeat = -1; repeat < repeats; ++repeat) {
            if (Clock::now() >= end && best > 0) return static_cast<int64_t>(best);
            const double ns = place.timeNs([&] { return copy(bytes); });
            // The first run is a warm-up; skips measurements without a time.
            if (repeat >= 0 && ns > 0) best = std::max(best, static_cast<double>(bytes) * 1e9 / ns);
        }
    }
    return static_cast<int64_t>(best);
}

class Measurer {
  public:
    Measurer(const CudaDriver& driver, const MeasureOptions& options) : driver_(driver), options_(options) {}

    Result<Measurement> measure() {
        int count = 0;
        if (driver_.deviceCount(&count) != 0 || count <= 0)
            return fail("No GPU to measure. Check that CUDA_VISIBLE_DEVICES names one.");
        for (int ordinal = 0; ordinal < count; ++ordinal) result_.gpus.push_back(describe(ordinal));
        for (MeasuredGpu& gpu : result_.gpus) {
            if (!isWanted_) {
                gpu.refusal = "The measurement was cancelled.";
                continue;
            }
            refuseBusy(gpu);
            if (gpu.refusal.empty()) measureGpu(gpu);
        }
        return std::move(result_);
    }

  private:
    MeasuredGpu describe(int ordinal) const {
        MeasuredGpu gpu{.ordinal = ordinal};
        int device = 0;
        char name[128] = {};
        unsigned char uuid[16] = {};
        if (driver_.device(&device, ordinal) != 0) {
            gpu.refusal = "CUDA cannot open the GPU. Check CUDA_VISIBLE_DEVICES and nvidia-smi.";
            return gpu;
        }
        if (driver_.deviceName(name, sizeof(name) - 1, device) == 0) gpu.name = name;
        if (driver_.deviceUuid(uuid, device) == 0) gpu.uuid = formatGpuUuid(uuid);
        const auto read = [&](int attribute) {
            int value = 0;
            return driver_.deviceAttribute(&value, attribute, device) == 0 ? value : 0;
        };
        gpu.nominalMemoryBytesPerSecond =
            int64_t{read(memoryClockAttribute)} * 1000 * 2 * (read(busWidthAttribute) / 8);
        gpu.smCount = read(smCountAttribute);
        gpu.computeMajor = read(majorAttribute);
        gpu.computeMinor = read(minorAttribute);
        return gpu;
    }

    void refuseBusy(MeasuredGpu& gpu) const {
        if (!gpu.refusal.empty() || options_.isForced || !options_.utilization) return;
        if (const std::optional<unsigned> percent = options_.utilization(gpu.uuid); percent && *percent >= busyPercent)
            gpu.refusal = fmt::format(
                "It is {} % busy; measuring would disturb other programs and be inaccurate. Wait, or use --force.",
                *percent);
    }

    /// Reports the next measurement. Returns false if it is not wanted any more.
    bool goesOn(const std::string& what) {
        isWanted_ = isWanted_ && (!options_.progress || options_.progress(what));
        return isWanted_;
    }

    void measureGpu(MeasuredGpu& gpu) {
        int device = 0;
        driver_.device(&device, gpu.ordinal);
        GpuContext place(driver_, device);
        if (!place.isReady()) {
            gpu.refusal = "CUDA provides no context on it; another process may use it exclusively.";
            return;
        }
        const size_t availableBytes = std::min(maxCopyBytes, place.freeBytes() / 4);
        const Pointer first = availableBytes < minCopyBytes ? 0 : place.allocate(availableBytes);
        const Pointer second = first == 0 ? 0 : place.allocate(availableBytes);
        if (second == 0) {
            gpu.refusal = "It has too little free memory.";
            return;
        }
        HostMemory host(driver_, place);
        const size_t hostBytes = host.reserve(availableBytes);
        std::vector<int> peers;
        for (const MeasuredGpu& other : result_.gpus)
            if (other.ordinal != gpu.ordinal) peers.push_back(other.ordinal);
        const size_t kinds = 5 + peers.size();
        const double seconds =
            std::min(options_.copySecondsPerGpu, options_.copySeconds / static_cast<double>(result_.gpus.size()));
        const std::chrono::duration<double> share(seconds / static_cast<double>(kinds));
        const auto keep = [&](MeasuredPeak peak, size_t bytes, auto copy) {
            if (bytes < minCopyBytes || !goesOn(describeCopy(gpu, peak))) return;
            place.enter();
            peak.bytesPerSecond *= bestRate(place, bytes, after(share), copy);
            if (peak.bytesPerSecond > 0) result_.peaks.push_back(std::move(peak));
        };
        const Handle stream = place.stream();
        for (const auto& [memory, address] :
             {std::pair("pinned", host.pinned()), std::pair("pageable", host.pageable())}) {
            void* const buffer = address;
            keep({"host-copy", gpu.uuid, {}, "rx", memory, 1}, hostBytes,
                 [&](size_t bytes) { return driver_.copyToDevice(first, buffer, bytes, stream); });
            keep({"host-copy", gpu.uuid, {}, "tx", memory, 1}, hostBytes,
                 [&](size_t bytes) { return driver_.copyToHost(buffer, first, bytes, stream); });
        }
        // Each byte is read and written, as memory ratings count.
        keep({"dram", gpu.uuid, {}, {}, {}, 2}, availableBytes,
             [&](size_t bytes) { return driver_.copyOnDevice(second, first, bytes, stream); });
        for (const int peer : peers) measurePeer(gpu, place, first, availableBytes, peer, keep);
        if (isWanted_) measureRoofs(gpu, place, first, second, availableBytes);
    }

    void measureRoofs(MeasuredGpu& gpu, const GpuContext& context, Pointer first, Pointer second, size_t bytes) {
        constexpr double memoryShare = 0.1, maxSeconds = 10;
        const double seconds = std::min(maxSeconds, options_.roofSeconds / static_cast<double>(result_.gpus.size()));
        RoofPlace place{
            .driver = driver_,
            .gpu = context,
            .uuid = gpu.uuid,
            .first = first,
            .second = second,
            .bytes = bytes,
            .budget = std::chrono::duration<double>(seconds * memoryShare),
            .state = options_.state,
            .note = [&gpu](const std::string& what) { gpu.notes.push_back(what); },
            .progress = [&](const std::string& what) { return goesOn(fmt::format("GPU {}: {}", gpu.ordinal, what)); }};
        std::ranges::move(measureMemory(place), std::back_inserter(result_.roofs));
        if (options_.products == nullptr || !isWanted_) return;
        place.budget = std::chrono::duration<double>(seconds * (1 - memoryShare));
        std::ranges::move(measureProducts(place, *options_.products), std::back_inserter(result_.roofs));
    }

    void measurePeer(const MeasuredGpu& gpu, const GpuContext& place, Pointer from, size_t availableBytes, int ordinal,
                     auto keep) {
        MeasuredGpu peer = result_.gpus[static_cast<size_t>(ordinal)];
        refuseBusy(peer);
        if (!peer.refusal.empty()) return;
        int device = 0, peerDevice = 0, reaches = 0;
        driver_.device(&device, gpu.ordinal);
        driver_.device(&peerDevice, ordinal);
        GpuContext other(driver_, peerDevice);
        if (!other.isReady()) return;
        const size_t bytes = std::min(availableBytes, other.freeBytes() / 4);
        const Pointer to = bytes < minCopyBytes ? 0 : other.allocate(bytes);
        if (to == 0) return;
        driver_.canAccessPeer(&reaches, device, peerDevice);
        place.enter();
        // An error for already enabled access is harmless.
        if (reaches != 0) driver_.enablePeer(other.context(), 0);
        keep(MeasuredPeak{"nvlink", gpu.uuid, peer.uuid, "tx", {}, 1}, bytes, [&](size_t size) {
            return driver_.copyToPeer(to, other.context(), from, place.context(), size, place.stream());
        });
        place.enter();
    }

    static std::string describeCopy(const MeasuredGpu& gpu, const MeasuredPeak& peak) {
        std::string what = fmt::format("GPU {}: ", gpu.ordinal);
        if (peak.kind == "dram") return what + "DtoD";
        if (!peak.peerUuid.empty()) return what + "to " + peak.peerUuid;
        return what + (peak.direction == "rx" ? "HtoD " : "DtoH ") + peak.memory;
    }

    const CudaDriver& driver_;
    const MeasureOptions& options_;
    Measurement result_;
    bool isWanted_ = true;
};

}  // namespace

Result<Measurement> measureRates(const CudaDriver& driver, const MeasureOptions& options) {
    return Measurer(driver, options).measure();
}

}  // namespace lanescope::capture
