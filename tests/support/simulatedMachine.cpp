// SPDX-License-Identifier: Apache-2.0
#include "tests/support/simulatedMachine.h"

#include <limits>
#include <random>

#include "tests/support/SimulatedTrace.h"

namespace lanescope {

namespace {

constexpr int64_t stepNs = 20'000'000;
constexpr int64_t sampleNs = 1'000'000;
constexpr double pinnedGBps = 54, pageableGBps = 9.6, nvlinkGBps = 391, pcieGBps = 42;
constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

class Simulation {
  public:
    explicit Simulation(const SimulatedMachine& options) : options_(options) {}

    TracePtr run() {
        for (int gpu = 0; gpu < options_.gpuCount; ++gpu) builder_.addGpu();
        for (int gpu = 0; gpu < options_.gpuCount; ++gpu) addWorker(static_cast<uint32_t>(gpu));
        if (options_.hasTopology) addTopology();
        if (options_.hasCounters) {
            for (int gpu = 0; gpu < options_.gpuCount; ++gpu) addGpuCounters(static_cast<uint32_t>(gpu));
            addHostCounters();
        }
        return builder_.finish("simulated machine");
    }

  private:
    /// Small variation, equal in every run.
    double jitter(double share) { return 1 + share * (std::uniform_real_distribution<double>(-1, 1)(random_)); }

    int64_t copy(uint32_t stream, MemcpyKind kind, int64_t bytes, double gigabytesPerSecond, int64_t atNs,
                 MemoryKind source, MemoryKind destination) {
        const auto durationNs =
            static_cast<int64_t>(2000 + static_cast<double>(bytes) / (gigabytesPerSecond * jitter(0.04)));
        builder_.addMemcpy(stream, kind, bytes, atNs, atNs + durationNs, 0, source, destination);
        return atNs + durationNs + 3000;
    }

    void addWorker(uint32_t gpu) {
        const uint32_t process = gpu == 0 ? 0 : builder_.addProcess(4242 + gpu, "python3", static_cast<int>(gpu));
        const uint32_t thread = builder_.addThread(process, 100 + gpu, "main");
        const uint32_t compute = builder_.addStream(process, gpu, 7);
        const uint32_t copies = builder_.addStream(process, gpu, 13);
        for (int step = 0; step < options_.steps; ++step) {
            const int64_t startNs = step * stepNs;
            builder_.addNvtx(thread, "step " + std::to_string(step), startNs, startNs + stepNs - 1000);
            for (int kernel = 0; kernel < 30; ++kernel) {
                const int64_t atNs = startNs + 4'000'000 + kernel * 400'000;
                builder_.addKernel(compute, kernel % 3 == 0 ? "gemm" : "layer_norm", atNs, atNs + 360'000);
            }
            addCopies(copies, startNs);
            addPeerCopies(copies, gpu, startNs);
        }
    }

    void addCopies(uint32_t stream, int64_t startNs) {
        int64_t atNs = startNs + 10'000;
        for (int index = 0; index < options_.copiesPerStep; ++index) {
            const auto bytes = int64_t{1} << (8 + index * 7 % 15);
            const bool isPageable = index % 3 == 0;
            atNs = copy(stream, MemcpyKind::HtoD, bytes, isPageable ? pageableGBps : pinnedGBps, atNs,
                        isPageable ? MemoryKind::Pageable : MemoryKind::Pinned, MemoryKind::Device);
        }
        atNs = copy(stream, MemcpyKind::HtoD, 24 << 20, pageableGBps, atNs, MemoryKind::Pageable, MemoryKind::Device);
        atNs = copy(stream, MemcpyKind::DtoD, 64 << 20, 1900, atNs, MemoryKind::Device, MemoryKind::Device);
        copy(stream, MemcpyKind::DtoH, 4 << 20, 50, startNs + stepNs - 900'000, MemoryKind::Device, MemoryKind::Pinned);
    }

    void addPeerCopies(uint32_t stream, uint32_t gpu, int64_t startNs) {
        if (options_.gpuCount < 2) return;
        const auto peer = (gpu + 1) % static_cast<uint32_t>(options_.gpuCount);
        const double rate = options_.linksPerGpu > 0 ? nvlinkGBps : pcieGBps;
        for (int index = 0; index < 4; ++index) {
            const int64_t bytes = int64_t{8 << 20} << (index % 3);
            const int64_t atNs = startNs + 9'000'000 + index * 1'500'000;
            const auto durationNs = static_cast<int64_t>(3000 + static_cast<double>(bytes) / (rate * jitter(0.05)));
            builder_.addPeerCopy(stream, gpu, peer, bytes, atNs, atNs + durationNs);
        }
    }

    void addTopology() {
        Interconnect& links = builder_.description().interconnect;
        for (int64_t gpu = 0; gpu < options_.gpuCount; ++gpu) {
            LinkPeak pcie{.gpu = gpu, .bytesPerSecond = 63'015'000'000, .generation = 5, .width = 16};
            links.peaks.push_back(pcie);
            links.peaks.push_back(LinkPeak{.kind = LinkKind::Dram, .gpu = gpu, .bytesPerSecond = 4'800'000'000'000});
            if (options_.linksPerGpu > 0) {
                LinkPeak nvlink{.kind = LinkKind::NvLink,
                                .gpu = gpu,
                                .bytesPerSecond = options_.linksPerGpu * int64_t{26'562'000'000},
                                .links = options_.linksPerGpu};
                links.peaks.push_back(nvlink);
            }
            const int64_t node = gpu * 2 / options_.gpuCount;
            links.affinities.push_back({gpu, node == 0 ? "0-31,64-95" : "32-63,96-127", static_cast<int32_t>(node)});
            for (int64_t peer = 0; peer < options_.gpuCount; ++peer)
                if (peer != gpu) links.connections.push_back(connectionTo(gpu, peer));
        }
    }

    GpuConnection connectionTo(int64_t gpu, int64_t peer) const {
        if (options_.linksPerGpu > 0)
            return {gpu, peer, options_.linksPerGpu, "NVSwitch", "NV" + std::to_string(options_.linksPerGpu)};
        const bool isSameNode = gpu * 2 / options_.gpuCount == peer * 2 / options_.gpuCount;
        return isSameNode ? GpuConnection{gpu, peer, 0, "host bridge", "PHB"}
                          : GpuConnection{gpu, peer, 0, "system", "SYS"};
    }

    static CounterSeries series(const char* name, const char* key, const char* source, CounterUnit unit) {
        CounterSeries series;
        series.name = name;
        series.key = key;
        series.source = source;
        series.unit = unit;
        return series;
    }

    /// Adds a series with a value for each sample, some of them unknown.
    template <class Value>
    void addSeries(CounterSeries series, Value valueAt) {
        const int64_t endNs = options_.steps * stepNs;
        LargeVector<int64_t> times;
        LargeVector<double> values;
        for (int64_t atNs = 0; atNs < endNs; atNs += sampleNs) {
            const bool isLost = atNs >= endNs * 6 / 10 && atNs < endNs * 65 / 100;
            times.push_back(atNs);
            values.push_back(isLost ? unknown : valueAt(atNs % stepNs));
        }
        series.set(times, values, endNs);
        builder_.counter(std::move(series));
    }

    void addGpuCounters(uint32_t gpu) {
        const auto isBusy = [](int64_t ns) { return ns > 4'000'000 && ns < 16'000'000; };
        const auto add = [&](const char* name, const char* key, const char* source, CounterUnit unit, double idle,
                             double busy) {
            CounterSeries ofGpu = series(name, key, source, unit);
            ofGpu.gpu = gpu;
            addSeries(std::move(ofGpu), [&](int64_t ns) { return (isBusy(ns) ? busy : idle) * jitter(0.06); });
        };
        add("SM activity", "sm.activity", "gpm", CounterUnit::Percent, 2, 88);
        add("SM occupancy", "sm.occupancy", "gpm", CounterUnit::Percent, 1, 42);
        add("Tensor activity", "tensor.activity", "gpm", CounterUnit::Percent, 0, 55);
        add("Memory in use", "memory.used", "nvml", CounterUnit::Bytes, 61e9, 61e9);
        add("PCIe received", "pcie.rx", "gpm", CounterUnit::BytesPerSecond, 38e9, 0.2e9);
        add("PCIe transmitted", "pcie.tx", "gpm", CounterUnit::BytesPerSecond, 4e9, 0.1e9);
        add("Power", "power", "nvml", CounterUnit::Watts, 130, 640);
        add("Temperature", "temperature", "nvml", CounterUnit::Celsius, 52, 58);
        add("SM clock", "clock.sm", "nvml", CounterUnit::Hertz, 1.98e9, 1.755e9);
        CounterSeries reasons = series("Throttle reasons", "throttle.reasons", "nvml", CounterUnit::Flags);
        reasons.gpu = gpu;
        addSeries(std::move(reasons), [&](int64_t ns) { return isBusy(ns) && ns > 10'000'000 ? 4.0 : 0.0; });
        for (int link = 0; link < options_.linksPerGpu; ++link) {
            for (const bool isSent : {true, false}) {
                CounterSeries ofLink = series(isSent ? "NVLink transmitted" : "NVLink received",
                                              isSent ? "nvlink.tx" : "nvlink.rx", "nvml", CounterUnit::BytesPerSecond);
                ofLink.gpu = gpu;
                ofLink.link = link;
                addSeries(std::move(ofLink), [&](int64_t ns) {
                    const bool isOn = ns > 9'000'000 && ns < 14'000'000;
                    return isOn ? (isSent ? 5e9 : 4.6e9) * jitter(0.1) : 0.0;
                });
            }
        }
    }

    void addHostCounters() {
        addSeries(series("CPU", "cpu.share", "host", CounterUnit::Percent), [&](int64_t) { return 310 * jitter(0.2); });
        for (int core = 0; core < 8; ++core) {
            CounterSeries ofCore = series("CPU", "cpu.share", "host", CounterUnit::Percent);
            ofCore.core = core;
            addSeries(std::move(ofCore), [&](int64_t) { return std::min(100.0, (20 + 11 * core) * jitter(0.4)); });
        }
        addSeries(series("Memory available", "memory.available", "host", CounterUnit::Bytes),
                  [&](int64_t) { return 410e9 * jitter(0.01); });
        CounterSeries disk = series("read", "disk.read", "host", CounterUnit::BytesPerSecond);
        disk.device = "nvme0n1";
        addSeries(std::move(disk), [&](int64_t ns) { return ns < 6'000'000 ? 2.1e9 * jitter(0.3) : 0.0; });
        CounterSeries net = series("received", "net.rx", "host", CounterUnit::BytesPerSecond);
        net.device = "eth0";
        addSeries(std::move(net), [&](int64_t) { return 1.2e6 * jitter(0.8); });
    }

    SimulatedMachine options_;
    SimulatedTrace builder_;
    std::mt19937_64 random_{11};
};

}  // namespace

TracePtr simulatedMachine(const SimulatedMachine& options) { return Simulation(options).run(); }

}  // namespace lanescope
