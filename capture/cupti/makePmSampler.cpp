// SPDX-License-Identifier: Apache-2.0
#include "capture/cupti/makePmSampler.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <limits>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include "capture/cupti/PmClock.h"
#include "capture/cupti/PmLibrary.h"
#include "capture/machine/Machine.h"
#include "capture/sample/sampleTime.h"
#include "model/format/factNames.h"

namespace lanescope::capture {

namespace {

/// Parameters for one of CUPTI's functions, zeroed except for their size, which only a macro of the header has.
#define LANESCOPE_PARAMETERS(function) parameters<function##_Params>(function##_Params_STRUCT_SIZE)

/// A metric of a trace, and the counters that can provide it, best first. The most important metrics come first. Each
/// adds to the processor time of a sample, so the list is short. Metrics that Nsight Systems has carry its names.
struct MetricChoice {
    const char* title;
    const char* names[4];
};
// Counters called pct_of_peak, and throughputs, are in percent.
constexpr MetricChoice metricChoices[] = {
    {"SMs Active [Throughput %]", {"sm__cycles_active.avg.pct_of_peak_sustained_elapsed"}},
    {"DRAM Read Bandwidth [Throughput %]",
     {"dram__read_throughput.avg.pct_of_peak_sustained_elapsed",
      "dramc__read_throughput.avg.pct_of_peak_sustained_elapsed"}},
    {"DRAM Write Bandwidth [Throughput %]",
     {"dram__write_throughput.avg.pct_of_peak_sustained_elapsed",
      "dramc__write_throughput.avg.pct_of_peak_sustained_elapsed"}},
    {"PCIe Read Bytes [B]", {"pcie__read_bytes.sum"}},
    {"PCIe Write Bytes [B]", {"pcie__write_bytes.sum"}},
    // Sent data, without the protocol's overhead of 6 %.
    {"NVLink RX User Data Bytes [B]", {"nvlrx__bytes_data_user.sum", "nvlrx__bytes.sum"}},
    {"NVLink TX User Data Bytes [B]", {"nvltx__bytes_data_user.sum", "nvltx__bytes.sum"}},
    {"Compute Warps in Flight [Throughput %]",
     {"sm__warps_active.avg.pct_of_peak_sustained_elapsed", "sm__warps_active.avg.pct_of_peak_sustained_active",
      "tpc__warps_active_shader_cs_realtime.avg.pct_of_peak_sustained_elapsed"}},
    {"Tensor Active [Throughput %]",
     {"sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed",
      "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active",
      "sm__inst_executed_pipe_tensor.avg.pct_of_peak_sustained_active"}},
};

/// Hardware counters sampled on one GPU, chosen so that all of them fit one pass, and the
/// conversion of their raw values to metrics.
class PmMetrics {
  public:
    explicit PmMetrics(const PmLibrary& library) : library_(library) {}
    PmMetrics& operator=(PmMetrics&&) = delete;
    ~PmMetrics() { forget(host_); }

    /// Chooses metrics for the GPU with that CUDA number. Returns CUPTI's first error if no metric is available.
    CUptiResult choose(size_t device) {
        auto chip = LANESCOPE_PARAMETERS(CUpti_Device_GetChipName);
        chip.deviceIndex = device;
        if (const CUptiResult result = library_.chipName(&chip)) return result;
        chip_ = chip.pChipName;
        auto available = LANESCOPE_PARAMETERS(CUpti_PmSampling_GetCounterAvailability);
        available.deviceIndex = device;
        if (const CUptiResult result = library_.availability(&available)) return result;
        availability_.resize(available.counterAvailabilityImageSize);
        available.pCounterAvailabilityImage = availability_.data();
        if (const CUptiResult result = library_.availability(&available)) return result;

        CUptiResult firstProblem = CUPTI_SUCCESS;
        for (const MetricChoice& metric : metricChoices) {
            for (const char* name : metric.names) {
                if (name == nullptr) break;
                std::vector<const char*> names = names_;
                names.push_back(name);
                std::vector<uint8_t> configuration;
                CUpti_Profiler_Host_Object* host = nullptr;
                size_t passes = 0;
                const CUptiResult result = tryWith(names, configuration, host, passes);
                if (result != CUPTI_SUCCESS || passes != 1) {
                    if (firstProblem == CUPTI_SUCCESS) firstProblem = result;
                    forget(host);
                    continue;
                }
                forget(std::exchange(host_, host));
                names_ = std::move(names);
                configuration_ = std::move(configuration);
                titles_.emplace_back(metric.title);
                break;
            }
        }
        if (!names_.empty()) return CUPTI_SUCCESS;
        return firstProblem != CUPTI_SUCCESS ? firstProblem : CUPTI_ERROR_NOT_SUPPORTED;
    }

    std::vector<const char*>& names() { return names_; }
    /// Returns the names in a trace, for example "SMs Active [Throughput %]".
    const std::vector<std::string>& titles() const { return titles_; }
    const std::vector<uint8_t>& configuration() const { return configuration_; }

    /// Puts the metrics of sample `index` of `counterData` into `values`.
    CUptiResult evaluate(const std::vector<uint8_t>& counterData, size_t index, std::vector<double>& values) {
        values.resize(names_.size());
        auto params = LANESCOPE_PARAMETERS(CUpti_Profiler_Host_EvaluateToGpuValues);
        params.pHostObject = host_;
        params.pCounterDataImage = counterData.data();
        params.counterDataImageSize = counterData.size();
        params.rangeIndex = index;
        params.ppMetricNames = names_.data();
        params.numMetrics = names_.size();
        params.pMetricValues = values.data();
        return library_.evaluate(&params);
    }

  private:
    /// `host` must be released after a failure too.
    CUptiResult tryWith(std::vector<const char*>& names, std::vector<uint8_t>& configuration,
                        CUpti_Profiler_Host_Object*& host, size_t& passes) const {
        auto made = LANESCOPE_PARAMETERS(CUpti_Profiler_Host_Initialize);
        made.profilerType = CUPTI_PROFILER_TYPE_PM_SAMPLING;
        made.pChipName = chip_.c_str();
        made.pCounterAvailabilityImage = availability_.data();
        if (const CUptiResult result = library_.hostInitialize(&made)) return result;
        host = made.pHostObject;
        auto added = LANESCOPE_PARAMETERS(CUpti_Profiler_Host_ConfigAddMetrics);
        added.pHostObject = host;
        added.ppMetricNames = names.data();
        added.numMetrics = names.size();
        if (const CUptiResult result = library_.addMetrics(&added)) return result;
        auto size = LANESCOPE_PARAMETERS(CUpti_Profiler_Host_GetConfigImageSize);
        size.pHostObject = host;
        if (const CUptiResult result = library_.configSize(&size)) return result;
        configuration.resize(size.configImageSize);
        auto image = LANESCOPE_PARAMETERS(CUpti_Profiler_Host_GetConfigImage);
        image.pHostObject = host;
        image.configImageSize = configuration.size();
        image.pConfigImage = configuration.data();
        if (const CUptiResult result = library_.config(&image)) return result;
        auto count = LANESCOPE_PARAMETERS(CUpti_Profiler_Host_GetNumOfPasses);
        count.configImageSize = configuration.size();
        count.pConfigImage = configuration.data();
        const CUptiResult result = library_.passes(&count);
        passes = count.numOfPasses;
        return result;
    }

    void forget(CUpti_Profiler_Host_Object* host) const {
        if (host == nullptr) return;
        auto params = LANESCOPE_PARAMETERS(CUpti_Profiler_Host_Deinitialize);
        params.pHostObject = host;
        library_.hostDeinitialize(&params);
    }

    const PmLibrary& library_;
    std::string chip_;
    std::vector<uint8_t> availability_;
    std::vector<const char*> names_;
    std::vector<std::string> titles_;
    std::vector<uint8_t> configuration_;
    CUpti_Profiler_Host_Object* host_ = nullptr;
};

constexpr size_t hardwareBufferBytes = 64u << 20, fastHardwareBufferBytes = 128u << 20;
constexpr double fastHz = 2000;  // From here on, each GPU has a thread and a larger buffer.
/// Samples that do not fit into the counter data are lost. Its room covers several decoding
/// periods, and 0.4 s, the longest pause on a busy machine. Each sample takes some 40 KB that have
/// to be initialized, so the room is used up before all of it is initialized again.
constexpr uint32_t minRoom = 256, maxRoom = 4096;
constexpr double roomForPeriods = 3, roomSeconds = 0.4;
constexpr double spareRoom = 1.25;
constexpr int maxDecodings = 64;  // at a time, so that one GPU does not delay the others

/// One GPU whose hardware counters are sampled. Needs no CUDA context. One thread.
class PmGpu {
  public:
    PmGpu(const PmLibrary& library, uint32_t device) : library_(library), device_(device), metrics_(library) {}

    /// Chooses metrics, which takes 0.5 s, and returns CUPTI's result. `takePeriodNs` is the time
    /// between calls of `take`.
    CUptiResult prepare(double hz, int64_t takePeriodNs) {
        if (const CUptiResult result = metrics_.choose(device_)) return result;
        auto enabled = LANESCOPE_PARAMETERS(CUpti_PmSampling_Enable);
        enabled.deviceIndex = device_;
        if (const CUptiResult result = library_.enable(&enabled)) return result;
        sampling_ = enabled.pPmSamplingObject;
        return configure(hz, takePeriodNs);
    }

    /// Starts sampling. From here on, `take` must be called before the GPU's buffer is full.
    CUptiResult start() {
        auto params = LANESCOPE_PARAMETERS(CUpti_PmSampling_Start);
        params.pPmSamplingObject = sampling_;
        startedNs_ = decodedNs_ = sampleTimeNs();
        isFirst_ = true;
        isReady_ = false;
        return library_.start(&params);
    }

    /// Reads the samples since the last call: `1 + metrics` words per sample, as in the log. Clears `words` first. If
    /// samples are missing, a sample with NaN metrics ends where the next one begins.
    CUptiResult take(std::vector<uint64_t>& words) {
        words.clear();
        bool isMore = true;
        for (int round = 0; isMore && round < maxDecodings; ++round) {
            bool isFull = false;
            const CUptiResult result = decodeOnce(words, isMore, isFull);
            // CUPTI also returns this when the GPU's buffer is full.
            isFull = isFull || result == CUPTI_ERROR_OUT_OF_MEMORY;
            if (result != CUPTI_SUCCESS && !isFull) return result;
            if (!isFull) continue;
            // A full buffer accepts nothing more until sampling restarts.
            ++overflows_;
            stop();
            return start();
        }
        return CUPTI_SUCCESS;
    }

    void stop() {
        if (sampling_ == nullptr) return;
        auto params = LANESCOPE_PARAMETERS(CUpti_PmSampling_Stop);
        params.pPmSamplingObject = sampling_;
        library_.stop(&params);
    }

    uint32_t device() const { return device_; }
    const std::vector<std::string>& titles() const { return metrics_.titles(); }
    const PmClock& clock() const { return clock_; }
    uint64_t taken() const { return taken_; }
    /// Returns the number of missing samples, estimated from gaps between sample times.
    uint64_t lost() const { return lost_; }
    /// Returns the number of overflows of the GPU's buffer.
    uint64_t overflows() const { return overflows_; }

  private:
    CUptiResult configure(double hz, int64_t takePeriodNs) {
        auto config = LANESCOPE_PARAMETERS(CUpti_PmSampling_SetConfig);
        config.pPmSamplingObject = sampling_;
        config.configSize = metrics_.configuration().size();
        config.pConfig = metrics_.configuration().data();
        config.hardwareBufferSize = hz > fastHz ? fastHardwareBufferBytes : hardwareBufferBytes;
        periodNs_ = std::max<int64_t>(1, static_cast<int64_t>(1e9 / hz));
        config.samplingInterval = static_cast<uint64_t>(periodNs_);
        config.triggerMode = CUPTI_PM_SAMPLING_TRIGGER_MODE_GPU_TIME_INTERVAL;
        config.hwBufferAppendMode = CUPTI_PM_SAMPLING_HARDWARE_BUFFER_APPEND_MODE_KEEP_OLDEST;
        if (const CUptiResult result = library_.setConfig(&config)) return result;
        auto size = LANESCOPE_PARAMETERS(CUpti_PmSampling_GetCounterDataSize);
        size.pPmSamplingObject = sampling_;
        size.pMetricNames = metrics_.names().data();
        size.numMetrics = metrics_.names().size();
        const double expected = hz * static_cast<double>(takePeriodNs) / 1e9;
        expected_ = static_cast<uint32_t>(std::clamp(expected, 1.0, static_cast<double>(maxRoom)));
        room_ = static_cast<uint32_t>(std::clamp(std::max(expected * roomForPeriods, hz * roomSeconds),
                                                 static_cast<double>(minRoom), static_cast<double>(maxRoom)));
        size.maxSamples = room_;
        if (const CUptiResult result = library_.counterDataSize(&size)) return result;
        counterData_.resize(size.counterDataSize);
        return CUPTI_SUCCESS;
    }

    CUptiResult makeReady() {
        auto image = LANESCOPE_PARAMETERS(CUpti_PmSampling_CounterDataImage_Initialize);
        image.pPmSamplingObject = sampling_;
        image.counterDataSize = counterData_.size();
        image.pCounterData = counterData_.data();
        const CUptiResult result = library_.initializeCounterData(&image);
        isReady_ = isFresh_ = result == CUPTI_SUCCESS;
        done_ = 0;
        return result;
    }

    CUptiResult endOf(size_t index, int64_t& endNs) const {
        auto sample = LANESCOPE_PARAMETERS(CUpti_PmSampling_CounterData_GetSampleInfo);
        sample.pPmSamplingObject = sampling_;
        sample.pCounterDataImage = counterData_.data();
        sample.counterDataImageSize = counterData_.size();
        sample.sampleIndex = index;
        const CUptiResult result = library_.sampleInfo(&sample);
        endNs = static_cast<int64_t>(sample.endTimestamp);
        return result;
    }

    /// Initializes the counter data, unless the next samples fit after the former ones: as many as
    /// usual, or more after a late decoding.
    CUptiResult makeRoom(int64_t nowNs) {
        const double left = static_cast<double>(room_) - static_cast<double>(done_);
        const double pending = static_cast<double>(nowNs - decodedNs_) / static_cast<double>(periodNs_);
        const double needed = spareRoom * std::max(pending, static_cast<double>(expected_));
        if (isReady_ && isAppending_ && left >= needed) return CUPTI_SUCCESS;
        return makeReady();
    }

    /// Adds a sample without values if samples are missing before the one that ends at `endNs`. Their
    /// time is unknown and does not belong to that sample.
    void noticeGap(int64_t endNs, std::vector<uint64_t>& words) {
        ++taken_;
        const int64_t sinceNs = endNs - std::exchange(lastEndNs_, endNs);
        if (sinceNs == endNs || 2 * sinceNs < 3 * periodNs_) return;
        lost_ += static_cast<uint64_t>((sinceNs + periodNs_ / 2) / periodNs_ - 1);
        words.push_back(static_cast<uint64_t>(clock_.realtimeNs(endNs) - periodNs_));
        words.insert(words.end(), values_.size(), std::bit_cast<uint64_t>(std::numeric_limits<double>::quiet_NaN()));
    }

    CUptiResult decodeOnce(std::vector<uint64_t>& words, bool& isMore, bool& overflowed) {
        const int64_t begunNs = sampleTimeNs();
        if (const CUptiResult result = makeRoom(begunNs)) return result;
        decodedNs_ = begunNs;
        auto decoded = LANESCOPE_PARAMETERS(CUpti_PmSampling_DecodeData);
        decoded.pPmSamplingObject = sampling_;
        decoded.pCounterDataImage = counterData_.data();
        decoded.counterDataImageSize = counterData_.size();
        const bool isFresh = std::exchange(isFresh_, false);
        CUptiResult decodeResult = library_.decode(&decoded);
        if (decodeResult != CUPTI_SUCCESS && decodeResult != CUPTI_ERROR_OUT_OF_MEMORY && !isFresh) {
            // The CUPTI may reject counter data that were used before.
            isAppending_ = false;
            if (const CUptiResult result = makeReady()) return result;
            decodeResult = library_.decode(&decoded);
        }
        if (decodeResult != CUPTI_SUCCESS) {
            isReady_ = false;
            return decodeResult;
        }
        const int64_t nowNs = sampleTimeNs();
        overflowed = decoded.overflow != 0;
        auto info = LANESCOPE_PARAMETERS(CUpti_PmSampling_GetCounterDataInfo);
        info.pCounterDataImage = counterData_.data();
        info.counterDataImageSize = counterData_.size();
        if (const CUptiResult result = library_.counterDataInfo(&info)) return result;

        const size_t completed = info.numCompletedSamples;
        size_t first = 0;
        if (const CUptiResult result = firstNew(completed, first)) return result;
        const size_t count = completed - first;
        // The reason alone is not enough: CUPTI also ends at other bounds with more samples available.
        isMore = count > 0 && (decoded.decodeStopReason == CUPTI_PM_SAMPLING_DECODE_STOP_REASON_COUNTER_DATA_FULL ||
                               count >= room_ / 2);
        if (decoded.decodeStopReason == CUPTI_PM_SAMPLING_DECODE_STOP_REASON_COUNTER_DATA_FULL) isReady_ = false;
        int64_t endNs = 0;
        if (count > 0) {
            if (const CUptiResult result = endOf(completed - 1, endNs)) return result;
            clock_.observe(nowNs, endNs);
            done_ = completed;
            doneEndNs_ = endNs;
        }
        for (size_t index = first; index < completed; ++index) {
            if (const CUptiResult result = endOf(index, endNs)) return result;
            // The first sample began before sampling did, the second one after.
            if (std::exchange(isFirst_, false)) {
                clock_.begin(startedNs_, endNs);
                continue;
            }
            if (const CUptiResult result = metrics_.evaluate(counterData_, index, values_)) return result;
            noticeGap(endNs, words);
            words.push_back(static_cast<uint64_t>(clock_.realtimeNs(endNs)));
            for (const double value : values_) words.push_back(std::bit_cast<uint64_t>(value));
        }
        return CUPTI_SUCCESS;
    }

    /// Finds the first of the `completed` samples in the counter data that was not taken yet.
    CUptiResult firstNew(size_t completed, size_t& first) {
        first = 0;
        if (done_ == 0) return CUPTI_SUCCESS;
        if (completed >= done_) {
            int64_t endNs = 0;
            if (const CUptiResult result = endOf(done_ - 1, endNs)) return result;
            if (endNs == doneEndNs_) {
                first = done_;
                return CUPTI_SUCCESS;
            }
        }
        // This CUPTI begins each decoding at the front.
        isAppending_ = false;
        return CUPTI_SUCCESS;
    }

    const PmLibrary& library_;
    const uint32_t device_;
    PmMetrics metrics_;
    PmClock clock_;
    CUpti_PmSampling_Object* sampling_ = nullptr;
    std::vector<uint8_t> counterData_;
    uint32_t room_ = 0;        ///< Maximum number of samples in `counterData_`.
    uint32_t expected_ = 0;    ///< Samples of one decoding.
    size_t done_ = 0;          ///< Samples in `counterData_` that were taken already.
    int64_t doneEndNs_ = 0;    ///< End of the last of them.
    bool isReady_ = false;     ///< `counterData_` can be decoded into.
    bool isFresh_ = false;     ///< `counterData_` was not used since its initialization.
    bool isAppending_ = true;  ///< A decoding continues after the former one.
    std::vector<double> values_;
    int64_t periodNs_ = 1;
    int64_t decodedNs_ = 0;  ///< Time of the last decoding, CLOCK_REALTIME.
    int64_t lastEndNs_ = 0;  ///< End of the last sample that was taken; 0: none was.
    uint64_t taken_ = 0, lost_ = 0, overflows_ = 0;
    int64_t startedNs_ = 0;
    bool isFirst_ = true;  ///< The first sample covers an interval that began before sampling did.
};

/// Threads that repeatedly do the same work for several items at once. The first item runs on the
/// caller's thread, each other item always on the same thread of its own.
class ParallelTurns {
  public:
    explicit ParallelTurns(size_t count) {
        for (size_t index = 1; index < count; ++index) threads_.emplace_back([this, index] { serve(index); });
    }

    ~ParallelTurns() {
        {
            const std::lock_guard lock(mutex_);
            ends_ = true;
        }
        begun_.notify_all();
        for (std::thread& thread : threads_) thread.join();
    }

    /// Calls `work` with 0 to `count - 1`, at most one per thread, and waits for all.
    void run(size_t count, const std::function<void(size_t)>& work) {
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

    /// Returns the processor time, in ns, of all threads but the caller's, as of the last `run`. Any thread.
    int64_t cpuNs() const { return cpuNs_.load(); }

  private:
    void serve(size_t index) {
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
            const int64_t nowNs = log::threadCpuNs();
            cpuNs_.fetch_add(nowNs - countedNs);
            countedNs = nowNs;
            if (--left_ == 0) done_.notify_one();
        }
    }

    std::mutex mutex_;
    std::condition_variable begun_, done_;
    const std::function<void(size_t)>* work_ = nullptr;
    size_t count_ = 0, left_ = 0;
    uint64_t turn_ = 0;
    bool ends_ = false;
    std::atomic<int64_t> cpuNs_{0};
    std::vector<std::thread> threads_;
};

constexpr int maxDevices = 64;

/// Sampler of the hardware counters of all GPUs visible to this process. Each call of `sample` writes the samples since
/// the last one. At high rates a GPU takes half of a core, so each GPU then has a thread of its own.
class PmSampler : public Sampler {
  public:
    /// `takePeriodNs` is the time between calls of `sample`.
    PmSampler(SampleLog& log, double hz, int64_t takePeriodNs, std::vector<std::filesystem::path> folders)
        : log_(log), hz_(hz), takePeriodNs_(takePeriodNs), folders_(std::move(folders)) {}

    const char* source() const override { return "pm"; }
    const char* title() const override { return "CUPTI PM sampling"; }
    bool begin() override {
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
        auto initialized = LANESCOPE_PARAMETERS(CUpti_Profiler_Initialize);
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
            log_.addGpu(device, formatGpuUuid(std::bit_cast<std::array<uint8_t, 16>>(uuid)), name);
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

    bool sample() override {
        if (turns_)
            turns_->run(gpus_.size(), [this](size_t index) { take(gpus_[index]); });
        else
            for (Sampled& each : gpus_) take(each);
        std::erase_if(gpus_, [](const Sampled& each) { return each.result != CUPTI_SUCCESS; });
        return !gpus_.empty();
    }

    int64_t elsewhereCpuNs() const override { return turns_ ? turns_->cpuNs() : 0; }
    void end() override {
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

  private:
    using Refusals = std::map<CUptiResult, std::vector<uint32_t>>;

    void reportRefusals(const Refusals& refusals) {
        for (const auto& [result, devices] : refusals) {
            std::string reason = fmt::format("CUPTI answered {}", library_.describe(result));
            if (result == CUPTI_ERROR_INSUFFICIENT_PRIVILEGES)
                reason =
                    "this user may not read hardware counters; run as root or with CAP_SYS_ADMIN, or load the driver "
                    "with NVreg_RestrictProfilingToAdminUsers=0";
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

    struct Sampled {
        std::unique_ptr<PmGpu> gpu;
        std::vector<uint64_t> words;
        CUptiResult result = CUPTI_SUCCESS;
    };
    void take(Sampled& sampled) {
        PmGpu& gpu = *sampled.gpu;
        sampled.result = gpu.take(sampled.words);
        log_.writeMetrics(gpu.device(), static_cast<uint32_t>(gpu.titles().size()), sampled.words);
        if (sampled.result == CUPTI_SUCCESS) return;
        log_.note(Severity::Warning, HealthCode::GpuMetricsEnded,
                  fmt::format("CUDA GPU {}: sampling ended early (CUPTI: {}).", gpu.device(),
                              library_.describe(sampled.result)));
    }

    void reportLosses() {
        for (const Sampled& each : gpus_)
            log_.property(numberedFactName(facts::gpuMetricsLost, each.gpu->device()),
                          fmt::format("{} of {}", each.gpu->lost(), each.gpu->lost() + each.gpu->taken()));
    }

    SampleLog& log_;
    const double hz_;
    const int64_t takePeriodNs_;
    const std::vector<std::filesystem::path> folders_;
    PmLibrary library_;
    std::vector<Sampled> gpus_;
    std::unique_ptr<ParallelTurns> turns_;  ///< Null: all GPUs one after the other.
};

}  // namespace

std::unique_ptr<Sampler> makePmSampler(SampleLog& log, double hz, int64_t takePeriodNs,
                                       std::vector<std::filesystem::path> folders) {
    return std::make_unique<PmSampler>(log, hz, takePeriodNs, std::move(folders));
}

}  // namespace lanescope::capture
