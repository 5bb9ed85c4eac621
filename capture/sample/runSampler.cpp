// SPDX-License-Identifier: Apache-2.0
#include "capture/sample/runSampler.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <csignal>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>
#include <system_error>
#include <utility>

#include "capture/log/LogFolder.h"
#include "capture/log/clocks.h"
#include "capture/machine/NvmlLibrary.h"
#include "capture/sample/HostSampler.h"
#include "capture/sample/NvmlSampler.h"
#include "capture/sample/SamplerThread.h"
#include "capture/sample/sampleTime.h"
#include "model/format/Subprocess.h"
#include "model/format/factNames.h"
#include "model/format/optionValues.h"

namespace lanescope::capture {

using std::filesystem::path;

std::vector<std::string> SamplerOptions::words() const {
    return {"session=" + session,
            "folder=" + runFolder.string(),
            "host=" + host,
            fmt::format("recorder={}", recorder),
            fmt::format("counters={}", counterHz),
            fmt::format("gpm={}", usesGpm ? 1 : 0),
            fmt::format("metrics={}", metricsHz),
            fmt::format("clock={}", eventOffsetNs),
            fmt::format("ring={}", ringNs / 1'000'000'000),
            fmt::format("ring-bytes={}", ringBytes),
            "program=" + program};
}

Result<SamplerOptions> SamplerOptions::fromWords(const std::vector<std::string>& words) {
    SamplerOptions options;
    for (const std::string& word : words) {
        const size_t equals = word.find('=');
        const std::string_view name = std::string_view(word).substr(0, equals);
        const std::string_view value = equals == std::string::npos ? "" : std::string_view(word).substr(equals + 1);
        double number = 0;
        std::from_chars(value.data(), value.data() + value.size(), number);
        if (name == "folder") options.runFolder = value;
        if (name == "session") options.session = value;
        if (name == "host") options.host = value;
        if (name == "recorder") options.recorder = static_cast<pid_t>(number);
        if (name == "counters") options.counterHz = number;
        if (name == "gpm") options.usesGpm = number != 0;
        if (name == "metrics") options.metricsHz = number;
        if (name == "ring") options.ringNs = static_cast<int64_t>(number) * 1'000'000'000;
        if (name == "ring-bytes") options.ringBytes = static_cast<uint64_t>(number);
        if (name == "program") options.program = value;
        if (name == "clock") std::from_chars(value.data(), value.data() + value.size(), options.eventOffsetNs);
    }
    if (options.runFolder.empty() || options.host.empty() || options.recorder <= 0)
        return fail("{}: internal command of 'lanescope record'.", samplerCommand);
    return options;
}

namespace {

constexpr unsigned maxGpus = 1024;
/// Maximum earliness of a timer.
constexpr int64_t jitterNs = 1'000'000;

struct Metric {
    NvmlGpmMetricId id;
    const char *name, *title, *unit, *direction;
    double factor;  ///< From NVML's unit to the counter's.
};
constexpr double bytesPerMiB = 1 << 20;
constexpr Metric metrics[] = {
    {nvmlGpmSmActivity, "sm.activity", "SM activity", "%", "", 1},
    {nvmlGpmSmOccupancy, "sm.occupancy", "SM occupancy", "%", "", 1},
    {nvmlGpmTensorActivity, "tensor.activity", "Tensor activity", "%", "", 1},
    {nvmlGpmDramBandwidth, "dram.bandwidth", "DRAM bandwidth used", "%", "", 1},
    {nvmlGpmFp64Activity, "fp64.activity", "FP64 activity", "%", "", 1},
    {nvmlGpmFp32Activity, "fp32.activity", "FP32 activity", "%", "", 1},
    {nvmlGpmFp16Activity, "fp16.activity", "FP16 activity", "%", "", 1},
    {nvmlGpmPcieTransmitted, "pcie.tx", "PCIe transmitted", "B/s", "tx", bytesPerMiB},
    {nvmlGpmPcieReceived, "pcie.rx", "PCIe received", "B/s", "rx", bytesPerMiB},
    {nvmlGpmLinksReceived, "nvlink.rx", "NVLink received", "B/s", "rx", bytesPerMiB},
    {nvmlGpmLinksTransmitted, "nvlink.tx", "NVLink transmitted", "B/s", "tx", bytesPerMiB},
};

/// Sampler of the GPU performance metrics that NVML provides from Hopper on, without any privilege: averages over at
/// least 100 ms. For shorter intervals the GPU returns zeros, so the interval is never shorter.
class GpmSampler : public Sampler {
  public:
    static constexpr int64_t minPeriodNs = 100'000'000;

    /// Maximum share of a core. The sampler slows down to keep to it, but not below its minimum
    /// rate. A reading of eight GPUs takes a few ms once the driver is awake.
    static constexpr double shareOfCore = 0.0008;
    static constexpr int64_t maxPeriodNs = 1'000'000'000;

    GpmSampler(SampleLog& log, int64_t periodNs) : log_(log), pace_(shareOfCore, periodNs) {
        pace_.add("GPM", periodNs, 1, maxPeriodNs);
    }

    ~GpmSampler() override {
        for (Gpu& gpu : gpus_) release(gpu);
    }

    const char* source() const override { return "gpm"; }
    const char* title() const override { return "GPM"; }
    bool begin() override {
        nvml_ = NvmlLibrary::open();  // The NVML sampler reports why it is missing.
        unsigned count = 0;
        if (!nvml_ || nvml_->gpmSupport == nullptr || nvml_->gpmAllocate == nullptr || nvml_->gpmSample == nullptr ||
            nvml_->gpmMetrics == nullptr || nvml_->deviceCount == nullptr || nvml_->deviceByIndex == nullptr ||
            nvml_->deviceCount(&count) != nvmlSuccess)
            return false;
        answer_.resize(1);
        for (unsigned index = 0; index < std::min(count, maxGpus); ++index) {
            Gpu gpu;
            gpu.index = static_cast<int>(index);
            NvmlGpmSupport support{nvmlGpmVersion, 0};
            if (nvml_->deviceByIndex(index, &gpu.device) != nvmlSuccess ||
                nvml_->gpmSupport(gpu.device, &support) != nvmlSuccess || support.isSupported == 0 ||
                nvml_->gpmAllocate(&gpu.before) != nvmlSuccess || nvml_->gpmAllocate(&gpu.now) != nvmlSuccess) {
                release(gpu);
                continue;
            }
            char uuid[96] = {};
            if (nvml_->deviceUuid != nullptr) nvml_->deviceUuid(gpu.device, uuid, sizeof uuid - 1);
            log_.addGpu(index, uuid, {});
            gpus_.push_back(std::move(gpu));
        }
        return !gpus_.empty();
    }

    bool sample() override {
        if (!pace_.isDue(0, log::monotonicNs())) return true;
        bool isAny = false;
        pace_.begin();
        for (Gpu& gpu : gpus_)
            if (gpu.now != nullptr && sample(gpu)) isAny = true;
        pace_.end(0);
        return isAny;
    }

    int64_t dueNs() const override { return pace_.nextDueNs(); }
    void end() override { log_.property(facts::samplerIntervalsGpm, pace_.describe()); }
    int64_t slackNs() const override { return 0; }  // An early sample after a late one is lost.

  private:
    struct Gpu {
        NvmlLibrary::Device device = nullptr;
        int index = 0;
        void *before = nullptr, *now = nullptr;  ///< Samples; a value covers the time between two.
        int64_t beforeNs = 0;                    ///< CLOCK_REALTIME; 0: there is none.
        std::vector<uint32_t> counters;          ///< By metric; 0: the GPU does not have it.
    };
    void addCounters(Gpu& gpu) {
        for (size_t at = 0; at < std::size(metrics); ++at) {
            const Metric& metric = metrics[at];
            uint32_t number = 0;
            if (answer_.front().metrics[at].result == nvmlSuccess) {
                CounterDescription counter{
                    source(), metric.name, metric.title, metric.unit, log::CounterMeaning::Average, gpu.index};
                counter.direction = metric.direction;
                number = log_.addCounter(std::move(counter));
            }
            gpu.counters.push_back(number);
        }
    }

    void release(Gpu& gpu) {
        for (void** sample : {&gpu.before, &gpu.now})
            if (*sample != nullptr && nvml_->gpmFree != nullptr) nvml_->gpmFree(std::exchange(*sample, nullptr));
    }

    /// Returns false if the GPU will provide nothing more.
    bool sample(Gpu& gpu) {
        const int64_t askedNs = sampleTimeNs();
        if (gpu.beforeNs != 0 && askedNs - gpu.beforeNs < minPeriodNs - jitterNs) return true;
        const int result = nvml_->gpmSample(gpu.device, gpu.now);
        const int64_t nowNs = answerTimeNs(askedNs);
        if (result != nvmlSuccess) {
            log_.writeUnknown(nowNs, source(), gpu.index);
            log_.note(Severity::Info, HealthCode::GpmAbsent,
                      fmt::format("GPU {}: no GPM samples{}.", gpu.index, gpu.beforeNs != 0 ? " any more" : ""));
            release(gpu);
            return false;
        }
        if (gpu.beforeNs == 0) {
            std::swap(gpu.before, gpu.now);
            gpu.beforeNs = nowNs;
            return true;
        }
        NvmlGpmMetrics& answer = answer_.front();
        answer.version = nvmlGpmVersion;
        answer.count = std::size(metrics);
        answer.sample1 = gpu.before;
        answer.sample2 = gpu.now;
        for (size_t at = 0; at < std::size(metrics); ++at)
            answer.metrics[at] = NvmlGpmMetric{metrics[at].id, 0, 0, nullptr, nullptr, nullptr};
        if (nvml_->gpmMetrics(&answer) == nvmlSuccess) {
            if (isArtefact()) return true;  // The next value includes this interval.
            if (gpu.counters.empty()) addCounters(gpu);
            batch_.clear();
            for (size_t at = 0; at < std::size(metrics); ++at) {
                if (gpu.counters[at] == 0) continue;
                const NvmlGpmMetric& metric = answer.metrics[at];
                const bool isRead = metric.result == nvmlSuccess;
                batch_.add(gpu.counters[at], isRead ? std::optional(metric.value * metrics[at].factor) : std::nullopt);
            }
            log_.write(answerTimeNs(nowNs), batch_);
        }
        std::swap(gpu.before, gpu.now);
        gpu.beforeNs = nowNs;
        return true;
    }

    /// Returns true if every metric of the last answer is 0, including the management traffic on PCIe.
    bool isArtefact() const {
        const NvmlGpmMetrics& answer = answer_.front();
        return std::all_of(answer.metrics, answer.metrics + answer.count, [](const auto& metric) {
            return metric.result != nvmlSuccess || metric.value == 0 || !std::isfinite(metric.value);
        });
    }

    SampleLog& log_;
    Pace pace_;
    std::unique_ptr<NvmlLibrary> nvml_;
    std::vector<Gpu> gpus_;
    std::vector<NvmlGpmMetrics> answer_;  ///< One element; too large for a stack.
    SampleBatch batch_;
};

constexpr size_t maxFirstLineBytes = 512;

bool isPython(const path& program) { return program.filename().string().starts_with("python"); }

/// Returns the interpreter in the first line of a script; empty if there is none.
path interpreterOf(const path& script) {
    std::ifstream file(script, std::ios::binary);
    std::string line(maxFirstLineBytes, '\0');
    file.read(line.data(), static_cast<std::streamsize>(line.size()));
    line.resize(static_cast<size_t>(std::max<std::streamsize>(file.gcount(), 0)));
    line = line.substr(0, line.find('\n'));
    if (!line.starts_with("#!")) return {};
    std::istringstream words(line.substr(2));
    std::string word;
    words >> word;
    if (path(word).filename() == "env") words >> word;
    return findProgram(word);
}

class Folders {
  public:
    /// Adds the folders of a Python whose programs are in `prefix`/bin.
    void addPrefix(const path& prefix) {
        if (!prefix.is_absolute()) return;
        for (const char* library : {"lib", "lib64", "local/lib"}) {
            for (const std::string& name : log::namesIn(prefix / library)) {
                const path folder = prefix / library / name;
                if (!isPython(folder)) continue;
                addPackages(folder / "site-packages");
                addPackages(folder / "dist-packages");
            }
        }
    }

    /// Adds the interpreter, and the target of its link: a virtual environment may use the target's packages.
    void addPython(const path& python) {
        if (python.empty()) return;
        std::error_code error;
        addPrefix(std::filesystem::absolute(python, error).parent_path().parent_path());
        const path real = std::filesystem::canonical(python, error);
        if (!error) addPrefix(real.parent_path().parent_path());
    }

    void addPackages(const path& packages) {
        for (const char* each : {"nvidia/cu13/lib", "nvidia/cuda_cupti/lib"}) {
            std::error_code error;
            const path folder = packages / each;
            if (std::filesystem::is_directory(folder, error) &&
                std::find(found_.begin(), found_.end(), folder) == found_.end())
                found_.push_back(folder);
        }
    }

    std::vector<path> take() { return std::move(found_); }

  private:
    std::vector<path> found_;
};

constexpr int niceness = 5;
constexpr int flushPeriodMs = 250;
constexpr int64_t endDeadlineNs = 1'000'000'000;
/// Each decoding has a fixed cost, and pending samples take 40 KB each when decoded.
constexpr double fastRateThresholdHz = 1000;
constexpr int64_t decodePeriodNs = 250'000'000, fastDecodePeriodNs = 50'000'000;
constexpr double shownSeconds = 0.005;
constexpr uint64_t maxLogBytes = uint64_t{16} << 30;

class Samplers {
  public:
    Samplers(const SamplerOptions& options, const MakeMetricsSampler& makeMetricsSampler)
        : options_(options),
          log_(log::LogFolder(options.runFolder.string(), options.session),
               options.host + ".sampler." + std::to_string(::getpid()), maxLogBytes),
          moments_(options.runFolder),
          begunNs_(log::monotonicNs()) {
        if (options.ringNs > 0) log_.keepRing(options.ringNs, options.ringBytes);
        if (options.counterHz > 0) {
            const auto periodNs = static_cast<int64_t>(1e9 / options.counterHz);
            add(std::make_unique<NvmlSampler>(log_, periodNs), periodNs, &moments_);
            add(std::make_unique<HostSampler>(log_, periodNs, options.recorder), periodNs);
            add(std::make_unique<PcieSampler>(log_), std::max<int64_t>(periodNs, PcieSampler::periodNs));
            if (options.usesGpm) addGpm(periodNs);
        }
        if (options.metricsHz > 0) {
            const int64_t periodNs = options.metricsHz > fastRateThresholdHz ? fastDecodePeriodNs : decodePeriodNs;
            if (makeMetricsSampler)
                add(makeMetricsSampler(log_, options.metricsHz, periodNs, pythonCuptiFolders(options.program)),
                    periodNs);
            else
                log_.note(Severity::Warning, HealthCode::GpuMetricsAbsent,
                          "This Lanescope was built without CUPTI and samples no GPU metrics.");
        }
    }

    void run() {
        pollfd recorder{STDIN_FILENO, POLLIN, 0};
        // No data ever comes: it ends when the recorder closes it or ends.
        while (::poll(&recorder, 1, untilFlushMs()) <= 0) {
            const int64_t nowNs = log::monotonicNs();
            for (const auto& thread : threads_) thread->watch(nowNs);
            useGpmInstead();
            log_.flush();
        }
    }

    /// Returns the time until a little after the samplers' next turn, so that the processor wakes up once.
    static int untilFlushMs() {
        return flushPeriodMs - static_cast<int>(log::monotonicNs() / 1'000'000 % flushPeriodMs) + 1;
    }

    void end() {
        for (const auto& thread : threads_) thread->requestStop();
        const int64_t deadlineNs = log::monotonicNs() + endDeadlineNs;
        for (const auto& thread : threads_) thread->waitUntil(deadlineNs);
        writeCost();
        log_.end();
    }

  private:
    void add(std::unique_ptr<Sampler> sampler, int64_t periodNs, TimePipe* moments = nullptr) {
        threads_.push_back(std::make_unique<SamplerThread>(std::move(sampler), periodNs, log_, moments));
    }

    void addGpm(int64_t periodNs) {
        periodNs = std::max(periodNs, GpmSampler::minPeriodNs);
        add(std::make_unique<GpmSampler>(log_, periodNs), periodNs);
    }

    /// Without access to hardware counters, GPM provides some metrics.
    void useGpmInstead() {
        if (hasGpmInstead_ || options_.metricsHz <= 0 || options_.counterHz > 0) return;
        if (!threads_.empty() && !threads_.front()->hasFoundNothing()) return;
        hasGpmInstead_ = true;
        addGpm(GpmSampler::minPeriodNs);
    }

    /// Writes "0.41 % of a core: NVML 0.30 % at 10 Hz, /proc 0.09 % at 10 Hz, the log 0.02 %; once
    /// 0.24 s: NVML 0.21 s". At the end only, so that a killed sampler leaves no partial values.
    void writeCost() {
        const double seconds = std::max(static_cast<double>(log::monotonicNs() - begunNs_) / 1e9, 1e-3);
        const auto percent = [&](double cpuSeconds) { return 100 * cpuSeconds / seconds; };
        std::string parts, once;
        double onceSeconds = processCpuAtBegin_;
        const char* onceSeparator = ": ";
        // Cost outside the samplers' threads: the log, and the checks for hanging threads.
        double whole = processCpuSeconds() - processCpuAtBegin_;
        double rest = whole;
        for (const auto& thread : threads_) {
            const SamplerThread::Cost cost = thread->cost();
            onceSeconds += cost.onceSeconds;
            whole -= cost.onceSeconds;
            rest -= cost.onceSeconds + cost.steadySeconds + cost.readingSeconds;
            if (!thread->isSampling()) continue;
            const char* title = thread->sampler().title();
            parts += fmt::format("{} {:.2f} % at {:g} Hz", title, percent(cost.steadySeconds),
                                 1e9 / static_cast<double>(thread->periodNs()));
            if (cost.readingSeconds > 0) parts += fmt::format(" and {:.2f} % at ranges", percent(cost.readingSeconds));
            parts += ", ";
            if (cost.onceSeconds < shownSeconds) continue;
            once += fmt::format("{}{} {:.2f} s", onceSeparator, title, cost.onceSeconds);
            onceSeparator = ", ";
        }
        const std::string_view which = options_.counterHz > 0 ? facts::samplers : facts::gpuMetricsSampler;
        log_.property(
            which, fmt::format("{:.2f} % of a core: {}the log {:.2f} %; once {:.2f} s{}", percent(std::max(whole, 0.0)),
                               parts, percent(std::max(rest, 0.0)), onceSeconds, once));
    }

    static double processCpuSeconds() { return static_cast<double>(log::processCpuNs()) / 1e9; }

    const SamplerOptions options_;
    SampleLog log_;
    TimePipe moments_;
    const int64_t begunNs_;
    const double processCpuAtBegin_ = processCpuSeconds();  ///< Cost of loading this program.
    std::vector<std::unique_ptr<SamplerThread>> threads_;
    bool hasGpmInstead_ = false;
};

}  // namespace

std::vector<path> pythonCuptiFolders(const std::string& program) {
    Folders folders;
    const path place = findProgram(program);
    const path interpreter = isPython(place) ? place : interpreterOf(place);
    if (isPython(interpreter)) folders.addPython(interpreter);
    std::istringstream paths(path(environment("PYTHONPATH")).string());
    for (std::string folder; std::getline(paths, folder, ':');)
        if (path(folder).is_absolute()) folders.addPackages(folder);
    folders.addPrefix(path(environment("VIRTUAL_ENV")));
    folders.addPrefix(path(environment("CONDA_PREFIX")));
    folders.addPython(findProgram("python3"));
    if (const path home = path(environment("HOME")); !home.empty()) folders.addPrefix(home / ".local");
    return folders.take();
}

void runSampler(const SamplerOptions& options, const MakeMetricsSampler& makeMetricsSampler) {
    // The recorder ends this process; signals that end the program are not meant for it.
    for (const int signal : {SIGINT, SIGHUP, SIGQUIT, SIGPIPE, SIGXFSZ}) ::signal(signal, SIG_IGN);
    ::setpriority(PRIO_PROCESS, 0, niceness);
    if (options.eventOffsetNs != 0) log::setEventOffset(options.eventOffsetNs);
    // Never destroyed: a thread of it may hang in the driver.
    auto* samplers = new Samplers(options, makeMetricsSampler);
    samplers->run();
    samplers->end();
    ::_exit(0);
}

}  // namespace lanescope::capture
