#include "capture/sample/runSampler.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <ctime>
#include <memory>
#include <vector>

#include "capture/agent/clocks.h"
#include "capture/sample/GpmSampler.h"
#include "capture/sample/HostSampler.h"
#include "capture/sample/MomentPipe.h"
#include "capture/sample/NvmlSampler.h"
#include "capture/sample/PcieSampler.h"
#include "capture/sample/SampleLog.h"
#include "capture/sample/SamplerThread.h"
#include "capture/sample/makePmSampler.h"

namespace lanescope {

namespace {

constexpr int niceness = 5;
constexpr int flushPeriodMs = 250;
constexpr int64_t costPeriodNs = 10'000'000'000;
constexpr int64_t endDeadlineNs = 1'000'000'000;
constexpr int64_t decodePeriodNs = 100'000'000;
constexpr uint64_t maximumLogBytes = uint64_t{16} << 30;

/// The samplers of this process.
class Samplers {
  public:
    explicit Samplers(const SamplerOptions& options)
        : options_(options),
          log_(options.runFolder.string() + "/" + options.host + ".sampler." +
                   std::to_string(::getpid()),
               maximumLogBytes),
          moments_(options.runFolder),
          begunNs_(monotonicNs()) {
        if (options.counterHz > 0) {
            const auto periodNs = static_cast<int64_t>(1e9 / options.counterHz);
            add(std::make_unique<NvmlSampler>(log_, periodNs), periodNs, &moments_);
            add(std::make_unique<HostSampler>(log_, options.recorder), periodNs);
            add(std::make_unique<PcieSampler>(log_),
                std::max<int64_t>(periodNs, PcieSampler::periodNs));
            if (options.usesGpm)
                add(std::make_unique<GpmSampler>(log_),
                    std::max(periodNs, GpmSampler::shortestPeriodNs));
        }
        if (options.metricsHz > 0) {
            auto sampler = makePmSampler(log_, options.metricsHz, decodePeriodNs);
            if (sampler != nullptr)
                add(std::move(sampler), decodePeriodNs);
            else
                log_.note(log::NoteSeverity::Warning, "gpu-metrics-absent",
                          "This Lanescope was built without CUPTI, so it samples no GPU metrics.");
        }
    }

    void run() {
        pollfd recorder{STDIN_FILENO, POLLIN, 0};
        int64_t nextCostNs = 0;
        // Nothing ever comes: it ends when the recorder closes it, or has ended itself.
        while (::poll(&recorder, 1, flushPeriodMs) <= 0) {
            const int64_t nowNs = monotonicNs();
            for (const auto& thread : threads_) thread->watch(nowNs);
            useGpmInstead();
            if (nowNs >= nextCostNs) {
                writeCost();
                nextCostNs = nowNs + costPeriodNs;
            }
            log_.flush();
        }
    }

    void end() {
        for (const auto& thread : threads_) thread->requestStop();
        const int64_t deadlineNs = monotonicNs() + endDeadlineNs;
        for (const auto& thread : threads_) thread->waitUntil(deadlineNs);
        writeCost();
        log_.end();
    }

  private:
    void add(std::unique_ptr<Sampler> sampler, int64_t periodNs, MomentPipe* moments = nullptr) {
        threads_.push_back(
            std::make_unique<SamplerThread>(std::move(sampler), periodNs, log_, moments));
    }

    /// Where the hardware counters cannot be had, GPM tells at least something.
    void useGpmInstead() {
        if (hasGpmInstead_ || options_.metricsHz <= 0 || options_.counterHz > 0) return;
        if (!threads_.empty() && !threads_.front()->hasFoundNothing()) return;
        hasGpmInstead_ = true;
        add(std::make_unique<GpmSampler>(log_), GpmSampler::shortestPeriodNs);
    }

    /// "0.21 % of a core: NVML 0.12 % at 10 Hz, /proc 0.09 % at 10 Hz".
    void writeCost() {
        timespec used{};
        ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
        const double seconds = std::max(static_cast<double>(monotonicNs() - begunNs_) / 1e9, 1e-3);
        const auto percent = [&](double cpuSeconds) { return 100 * cpuSeconds / seconds; };
        std::string text = fmt::format(
            "{:.2f} % of a core",
            percent(static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) / 1e9));
        const char* separator = ": ";
        for (const auto& thread : threads_) {
            if (!thread->isSampling()) continue;
            text += fmt::format("{}{} {:.2f} % ", separator, thread->sampler().title(),
                                percent(thread->cpuSeconds()));
            text += fmt::format("at {:g} Hz", 1e9 / static_cast<double>(thread->periodNs()));
            separator = ", ";
        }
        log_.property(options_.counterHz > 0 ? "samplers" : "gpuMetricsSampler", text);
    }

    const SamplerOptions options_;
    SampleLog log_;
    MomentPipe moments_;
    const int64_t begunNs_;
    std::vector<std::unique_ptr<SamplerThread>> threads_;
    bool hasGpmInstead_ = false;
};

}  // namespace

void runSampler(const SamplerOptions& options) {
    // The recorder tells us when to end; what ends the program is not meant for us.
    for (const int signal : {SIGINT, SIGHUP, SIGQUIT, SIGPIPE}) ::signal(signal, SIG_IGN);
    ::setpriority(PRIO_PROCESS, 0, niceness);
    // Never destroyed: a thread of it may hang in the driver.
    auto* samplers = new Samplers(options);
    samplers->run();
    samplers->end();
    ::_exit(0);
}

}  // namespace lanescope
