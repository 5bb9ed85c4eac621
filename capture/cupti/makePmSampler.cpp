// SPDX-License-Identifier: Apache-2.0
#include "capture/cupti/makePmSampler.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "capture/cupti/PmGpu.h"
#include "capture/cupti/PmLibrary.h"
#include "capture/sample/SampleLog.h"
#include "capture/sample/Sampler.h"
#include "capture/sample/sampleTime.h"
#include "model/format/factNames.h"

namespace lanescope::capture {

/// Threads that repeatedly do the same work for several items at once. The first item runs on the
/// caller's thread, each other item always on the same thread of its own.
class ParallelTurns {
  public:
    explicit ParallelTurns(size_t count);
    ParallelTurns(const ParallelTurns&) = delete;
    ParallelTurns& operator=(const ParallelTurns&) = delete;
    ~ParallelTurns();

    /// Calls `work` with 0 to `count - 1`, at most one per thread, and waits for all.
    void run(size_t count, const std::function<void(size_t)>& work);
    /// Returns the processor time, in ns, of all threads but the caller's, as of the last `run`. Any thread.
    int64_t cpuNs() const { return cpuNs_.load(); }

  private:
    void serve(size_t index);

    std::mutex mutex_;
    std::condition_variable begun_, done_;
    const std::function<void(size_t)>* work_ = nullptr;
    size_t count_ = 0, left_ = 0;
    uint64_t turn_ = 0;
    bool ends_ = false;
    std::atomic<int64_t> cpuNs_{0};
    std::vector<std::thread> threads_;
};

/// Sampler of the hardware counters of all GPUs visible to this process. Each call of `sample` writes the samples since
/// the last one. At high rates a GPU takes half of a core, so each GPU then has a thread of its own.
class PmSampler : public Sampler {
  public:
    /// `takePeriodNs` is the time between calls of `sample`.
    PmSampler(SampleLog& log, double hz, int64_t takePeriodNs, std::vector<std::filesystem::path> folders)
        : log_(log), hz_(hz), takePeriodNs_(takePeriodNs), folders_(std::move(folders)) {}

    const char* source() const override { return "pm"; }
    const char* title() const override { return "CUPTI PM sampling"; }
    bool begin() override;
    bool sample() override;
    int64_t elsewhereCpuNs() const override { return turns_ ? turns_->cpuNs() : 0; }
    void end() override;

  private:
    using Refusals = std::map<CUptiResult, std::vector<uint32_t>>;

    void reportRefusals(const Refusals& refusals);
    struct Sampled {
        std::unique_ptr<PmGpu> gpu;
        std::vector<uint64_t> words;
        CUptiResult result = CUPTI_SUCCESS;
    };
    void take(Sampled& sampled);
    void reportLosses();

    SampleLog& log_;
    const double hz_;
    const int64_t takePeriodNs_;
    const std::vector<std::filesystem::path> folders_;
    PmLibrary library_;
    std::vector<Sampled> gpus_;
    std::unique_ptr<ParallelTurns> turns_;  ///< Null: all GPUs one after the other.
};

ParallelTurns::ParallelTurns(size_t count) {
    for (size_t index = 1; index < count; ++index) threads_.emplace_back([this, index] { serve(index); });
}

ParallelTurns::~ParallelTurns() {
    {
        const std::lock_guard lock(mutex_);
        ends_ = true;
    }
    begun_.notify_all();
    for (std::thread& thread : threads_) thread.join();
}

void ParallelTurns::run(size_t count, const std::function<void(size_t)>& work) {
    {
        const std::lock_guard lock(mutex_);
        work_ = &work;
        count_ = count;
        left_ = threads_.size();
        ++turn_;
    }
    begun_.notify_all();
    if (count > 0) work(0);
    std::unique_lock lock(mutex_);
    done_.wait(lock, [this] { return left_ == 0; });
}

void ParallelTurns::serve(size_t index) {
    uint64_t served = 0;
    int64_t countedNs = 0;
    std::unique_lock lock(mutex_);
    while (true) {
        begun_.wait(lock, [&] { return ends_ || turn_ != served; });
        if (ends_) return;
        served = turn_;
        if (index < count_) {
            lock.unlock();
            (*work_)(index);
            lock.lock();
        }
        const int64_t nowNs = threadCpuNs();
        cpuNs_.fetch_add(nowNs - countedNs);
        countedNs = nowNs;
        if (--left_ == 0) done_.notify_one();
    }
}

namespace {

constexpr int maxDevices = 64;
constexpr double fastHz = 2000;

std::string uuidText(const CUuuid& uuid) {
    std::string text = "GPU-";
    for (int at = 0; at < 16; ++at) {
        if (at == 4 || at == 6 || at == 8 || at == 10) text += '-';
        text += fmt::format("{:02x}", static_cast<unsigned char>(uuid.bytes[at]));
    }
    return text;
}

}  // namespace

bool PmSampler::begin() {
    std::string problem;
    int count = 0;
    if (!library_.open(folders_, problem)) {
        log_.note(Severity::Warning, HealthCode::GpuMetricsAbsent, problem);
        return false;
    }
    if (library_.init(0) != CUDA_SUCCESS || library_.deviceCount(&count) != CUDA_SUCCESS || count == 0) {
        log_.note(Severity::Warning, HealthCode::GpuMetricsAbsent,
                  "CUDA finds no GPU here; no GPU metrics were sampled.");
        return false;
    }
    auto initialized = parameters<CUpti_Profiler_Initialize_Params>(CUpti_Profiler_Initialize_Params_STRUCT_SIZE);
    if (const CUptiResult result = library_.initialize(&initialized)) {
        reportRefusals({{result, {}}});
        return false;
    }
    Refusals refusals;
    for (uint32_t device = 0; device < static_cast<uint32_t>(std::min(count, maxDevices)); ++device) {
        CUdevice handle = 0;
        CUuuid uuid{};
        char name[96] = {};
        if (library_.device(&handle, static_cast<int>(device)) != CUDA_SUCCESS) continue;
        library_.deviceUuid(&uuid, handle);
        library_.deviceName(name, sizeof name - 1, handle);
        auto gpu = std::make_unique<PmGpu>(library_, device);
        if (const CUptiResult result = gpu->prepare(hz_, takePeriodNs_)) {
            refusals[result].push_back(device);
            continue;
        }
        log_.addGpu(device, uuidText(uuid), name);
        for (size_t at = 0; at < gpu->titles().size(); ++at)
            log_.addMetric(device, static_cast<uint32_t>(at), gpu->titles()[at]);
        gpus_.push_back({std::move(gpu), {}});
    }
    // All at once, so that no GPU waits with a full buffer while the others are prepared.
    std::erase_if(gpus_, [&refusals](const Sampled& each) {
        const CUptiResult result = each.gpu->start();
        if (result != CUPTI_SUCCESS) refusals[result].push_back(each.gpu->device());
        return result != CUPTI_SUCCESS;
    });
    reportRefusals(refusals);
    if (gpus_.size() > 1 && hz_ > fastHz) turns_ = std::make_unique<ParallelTurns>(gpus_.size());
    if (!gpus_.empty()) log_.property(facts::gpuMetricsHz, fmt::format("{:g}", hz_));
    return !gpus_.empty();
}

void PmSampler::reportRefusals(const Refusals& refusals) {
    for (const auto& [result, devices] : refusals) {
        std::string reason = fmt::format("CUPTI answered {}", library_.describe(result));
        if (result == CUPTI_ERROR_INSUFFICIENT_PRIVILEGES)
            reason =
                "this user may not read hardware counters; run as root or with CAP_SYS_ADMIN, or load the driver with "
                "NVreg_RestrictProfilingToAdminUsers=0";
        if (result == CUPTI_ERROR_HARDWARE_BUSY)
            reason = "another tool uses the hardware counters, such as DCGM, Nsight or another record";
        if (result == CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED ||
            result == CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES)
            reason = "virtual GPUs have none unless the host permits access";
        std::string which;
        if (!devices.empty())
            which = fmt::format(" of CUDA's GPU{} {}", devices.size() == 1 ? "" : "s", fmt::join(devices, ", "));
        log_.note(Severity::Warning, HealthCode::GpuMetricsAbsent,
                  fmt::format("No GPU metrics were sampled{}: {}.", which, reason));
    }
}

bool PmSampler::sample() {
    if (turns_)
        turns_->run(gpus_.size(), [this](size_t index) { take(gpus_[index]); });
    else
        for (Sampled& each : gpus_) take(each);
    std::erase_if(gpus_, [](const Sampled& each) { return each.result != CUPTI_SUCCESS; });
    return !gpus_.empty();
}

void PmSampler::take(Sampled& sampled) {
    PmGpu& gpu = *sampled.gpu;
    sampled.result = gpu.take(sampled.words);
    log_.writeMetrics(gpu.device(), static_cast<uint32_t>(gpu.titles().size()), sampled.words);
    if (sampled.result == CUPTI_SUCCESS) return;
    log_.note(
        Severity::Warning, HealthCode::GpuMetricsEnded,
        fmt::format("CUDA GPU {}: sampling ended early (CUPTI: {}).", gpu.device(), library_.describe(sampled.result)));
}

void PmSampler::reportLosses() {
    for (const Sampled& each : gpus_)
        log_.property(numberedFactName(facts::gpuMetricsLost, each.gpu->device()),
                      fmt::format("{} of {}", each.gpu->lost(), each.gpu->lost() + each.gpu->taken()));
}

void PmSampler::end() {
    uint64_t lost = 0, all = 0, overflows = 0;
    for (Sampled& each : gpus_) {
        PmGpu& gpu = *each.gpu;
        gpu.stop();
        take(each);
        log_.property(numberedFactName(facts::gpuMetricsClock, gpu.device()), gpu.clock().describe());
        lost += gpu.lost();
        all += gpu.lost() + gpu.taken();
        overflows += gpu.overflows();
    }
    reportLosses();
    if (lost == 0) return;
    log_.note(Severity::Warning, HealthCode::GpuMetricsLost,
              fmt::format("Lost {:.2g} % of the samples at {:g} Hz{}. Use a lower rate: --gpu-metrics=HZ.",
                          100 * static_cast<double>(lost) / static_cast<double>(all), hz_,
                          overflows > 0 ? " (GPU buffer full)" : ""),
              lost);
}

std::unique_ptr<Sampler> makePmSampler(SampleLog& log, double hz, int64_t takePeriodNs,
                                       std::vector<std::filesystem::path> folders) {
    return std::make_unique<PmSampler>(log, hz, takePeriodNs, std::move(folders));
}

}  // namespace lanescope::capture
