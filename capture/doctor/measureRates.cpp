// SPDX-License-Identifier: Apache-2.0
#include "capture/doctor/measureRates.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <memory>

#include "capture/collector/GpuInventory.h"
#include "capture/doctor/measureRoofs.h"

namespace lanescope::capture {

namespace {

using Clock = std::chrono::steady_clock;
using Pointer = CudaDriver::Pointer;
using Handle = CudaDriver::Handle;

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
    HostMemory(const HostMemory&) = delete;
    HostMemory& operator=(const HostMemory&) = delete;

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
template <class Copy>
int64_t bestRate(const GpuContext& place, size_t maxBytes, Clock::time_point end, Copy copy) {
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
        MeasuredGpu gpu;
        gpu.ordinal = ordinal;
        int device = 0;
        char name[128] = {};
        unsigned char uuid[16] = {};
        if (driver_.device(&device, ordinal) != 0) {
            gpu.refusal = "CUDA does not open it.";
            return gpu;
        }
        if (driver_.deviceName(name, sizeof(name) - 1, device) == 0) gpu.name = name;
        if (driver_.deviceUuid(uuid, device) == 0) gpu.uuid = formatGpuUuid(uuid);
        int clockKhz = 0, busBits = 0;
        if (driver_.deviceAttribute(&clockKhz, memoryClockAttribute, device) == 0 &&
            driver_.deviceAttribute(&busBits, busWidthAttribute, device) == 0)
            gpu.nominalMemoryBytesPerSecond = int64_t{clockKhz} * 1000 * 2 * (busBits / 8);
        const auto read = [&](int& value, int attribute) {
            if (driver_.deviceAttribute(&value, attribute, device) != 0) value = 0;
        };
        read(gpu.smCount, smCountAttribute);
        read(gpu.computeMajor, majorAttribute);
        read(gpu.computeMinor, minorAttribute);
        return gpu;
    }

    void refuseBusy(MeasuredGpu& gpu) const {
        if (!gpu.refusal.empty() || options_.isForced || !options_.utilization) return;
        const std::optional<unsigned> percent = options_.utilization(gpu.uuid);
        if (percent && *percent >= busyPercent)
            gpu.refusal = fmt::format(
                "It is {} % busy; measuring would disturb other programs and be inaccurate. Wait, "
                "or use --force.",
                *percent);
    }

    double copySecondsOfEach() const {
        return std::min(options_.copySecondsPerGpu, options_.copySeconds / static_cast<double>(result_.gpus.size()));
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
        const auto share = std::chrono::duration_cast<Clock::duration>(
            std::chrono::duration<double>(copySecondsOfEach() / static_cast<double>(kinds)));
        const auto keep = [&](MeasuredPeak peak, size_t bytes, auto copy) {
            if (bytes < minCopyBytes || !isWanted_) return;
            if (options_.progress && !options_.progress(describeCopy(gpu, peak))) {
                isWanted_ = false;
                return;
            }
            place.enter();
            peak.bytesPerSecond *= bestRate(place, bytes, Clock::now() + share, copy);
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
        RoofPlace place{.driver = driver_,
                        .gpu = context,
                        .uuid = gpu.uuid,
                        .first = first,
                        .second = second,
                        .bytes = bytes,
                        .budget = std::chrono::duration<double>(seconds * memoryShare),
                        .state = options_.state,
                        .note = [&gpu](const std::string& what) { gpu.notes.push_back(what); },
                        .progress =
                            [&](const std::string& what) {
                                isWanted_ = isWanted_ && (!options_.progress || options_.progress(fmt::format(
                                                                                    "GPU {}: {}", gpu.ordinal, what)));
                                return isWanted_;
                            }};
        std::ranges::move(measureMemory(place), std::back_inserter(result_.roofs));
        if (options_.products == nullptr || !isWanted_) return;
        place.budget = std::chrono::duration<double>(seconds * (1 - memoryShare));
        std::ranges::move(measureProducts(place, *options_.products), std::back_inserter(result_.roofs));
    }

    template <class Keep>
    void measurePeer(const MeasuredGpu& gpu, const GpuContext& place, Pointer from, size_t availableBytes, int ordinal,
                     Keep keep) {
        const MeasuredGpu& peer = result_.gpus[static_cast<size_t>(ordinal)];
        int device = 0, peerDevice = 0, reaches = 0;
        driver_.device(&device, gpu.ordinal);
        driver_.device(&peerDevice, ordinal);
        refuseBusyPeer(peer, [&] {
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
        });
    }

    template <class Then>
    void refuseBusyPeer(const MeasuredGpu& peer, Then then) const {
        MeasuredGpu other = peer;
        refuseBusy(other);
        if (other.refusal.empty()) then();
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
