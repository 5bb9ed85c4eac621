// SPDX-License-Identifier: Apache-2.0
#include "model/assemble/buildMemory.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <unordered_map>

#include "model/numbers/MixedMap.h"
#include "model/text/formatValue.h"
#include "model/trace/tasks.h"

namespace lanescope {

namespace {

/// A limit for crafted files. No real process uses all GPUs of many hosts.
constexpr size_t maxUses = size_t{1} << 14;
constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

enum class Use : uint8_t { Device, Pools, Managed, Pinned };

const char* nameOf(Use use) {
    switch (use) {
        case Use::Device: return "Device memory";
        case Use::Pools: return "Memory pools";
        case Use::Managed: return "Managed memory";
        case Use::Pinned: return "Pinned memory";
    }
    return "";
}

Use useOf(MemoryKind kind) {
    switch (kind) {
        case MemoryKind::Managed:
        case MemoryKind::ManagedStatic: return Use::Managed;
        case MemoryKind::Pinned:
        case MemoryKind::Pageable: return Use::Pinned;
        case MemoryKind::Device:
        case MemoryKind::Array:
        case MemoryKind::DeviceStatic:
        case MemoryKind::Unknown: break;
    }
    return Use::Device;
}

struct GrowingCounter {
    explicit GrowingCounter(LargeMemory* memory) : timesNs(memory), values(memory) {}

    LargeVector<int64_t> timesNs;
    LargeVector<double> values;
    double current = 0;

    void change(int64_t timeNs, double by) {
        current += by;
        timesNs.push_back(timeNs);
        values.push_back(current);
    }
};

/// By use, process and GPU. Host memory and managed memory have no GPU.
using CounterKey = std::tuple<uint32_t, uint32_t, Use>;

struct AddressKey {
    uint32_t process;
    uint64_t address;
    bool operator==(const AddressKey&) const = default;
};
struct AddressHash {
    size_t operator()(const AddressKey& key) const {
        return static_cast<size_t>(mixed(key.address ^ mixed(key.process)));
    }
};

class MemoryBuilder {
  public:
    explicit MemoryBuilder(Trace& trace) : trace_(trace) {}

    void build(const std::stop_token& stop) {
        const MemoryEventTable& events = trace_.memoryEvents;
        const MemoryPoolTable& pools = trace_.memoryPools;
        for (uint32_t row = 0; row < events.size() && !isStopped(stop, row); ++row)
            events.isFree[row] != 0 ? takeFree(row) : takeAllocation(row);
        for (uint32_t row = 0; row < pools.size() && !isStopped(stop, row); ++row) takePool(row);
        for (const auto& [key, row] : live_) {
            const TimeRange process = trace_.processes[key.process].range;
            trace_.allocations.endNs.set(row, std::max(trace_.allocations.startNs[row], process.endNs));
            trace_.allocations.isLive.set(row, 1);
        }
        for (auto& [key, counter] : counters_)
            if (!stop.stop_requested()) addSeries(key, counter);
        noteOdd();
    }

  private:
    /// Returns null if the limit is reached.
    GrowingCounter* counterFor(Use use, uint32_t process, uint32_t gpu) {
        const bool isOfGpu = use == Use::Device || use == Use::Pools;
        const CounterKey key{isOfGpu ? gpu : noIndex, process, use};
        const auto found = counters_.find(key);
        if (found != counters_.end()) return &found->second;
        if (counters_.size() < maxUses) return &counters_.try_emplace(key, trace_.memory.get()).first->second;
        ++uncounted_;
        return nullptr;
    }
    void change(Use use, uint32_t process, uint32_t gpu, int64_t timeNs, double by) {
        if (GrowingCounter* const counter = counterFor(use, process, gpu)) counter->change(timeNs, by);
    }

    void takeAllocation(uint32_t row) {
        const MemoryEventTable& events = trace_.memoryEvents;
        const AddressKey key{events.process[row], events.address[row]};
        if (const auto old = live_.find(key); old != live_.end()) {
            // The free was lost, since the address was allocated again.
            ++lostFrees_;
            end(old->second, events.timeNs[row]);
            live_.erase(old);
        }
        AllocationTable& table = trace_.allocations;
        live_.emplace(key, table.size());
        table.startNs.push_back(events.timeNs[row]);
        table.endNs.push_back(events.timeNs[row]);
        table.bytes.push_back(events.bytes[row]);
        table.address.push_back(events.address[row]);
        table.kind.push_back(events.kind[row]);
        table.isLive.push_back(0);
        table.isPooled.push_back(events.isPooled[row]);
        table.process.push_back(events.process[row]);
        table.gpu.push_back(events.gpu[row]);
        change(useOf(events.kind[row]), events.process[row], events.gpu[row], events.timeNs[row],
               static_cast<double>(events.bytes[row]));
    }

    void takeFree(uint32_t row) {
        const MemoryEventTable& events = trace_.memoryEvents;
        const auto found = live_.find({events.process[row], events.address[row]});
        if (found == live_.end()) {
            ++unknownFrees_;
            return;
        }
        end(found->second, events.timeNs[row]);
        live_.erase(found);
    }

    void end(uint32_t allocation, int64_t timeNs) {
        AllocationTable& table = trace_.allocations;
        table.endNs.set(allocation, std::max(table.startNs[allocation], timeNs));
        change(useOf(table.kind[allocation]), table.process[allocation], table.gpu[allocation], timeNs,
               -static_cast<double>(table.bytes[allocation]));
    }

    void takePool(uint32_t row) {
        const MemoryPoolTable& pools = trace_.memoryPools;
        double& size = poolBytes_[{pools.process[row], pools.address[row]}];
        const auto bytes = static_cast<double>(pools.bytes[row]);
        GrowingCounter* const counter = counterFor(Use::Pools, pools.process[row], pools.gpu[row]);
        if (counter != nullptr && (bytes != size || counter->timesNs.empty()))
            counter->change(pools.timeNs[row], bytes - size);
        size = bytes;
    }

    /// Memory is unknown outside of the recording windows of a process.
    void addSeries(const CounterKey& key, GrowingCounter& grown) {
        const auto& [gpu, processIndex, use] = key;
        const Process& process = trace_.processes[processIndex];
        LargeMemory* const memory = trace_.memory.get();
        LargeVector<int64_t> timesNs(memory);
        LargeVector<double> values(memory);
        const auto add = [&](int64_t timeNs, double bytes) {
            timesNs.push_back(timeNs);
            values.push_back(bytes);
        };
        if (!process.hasWindows && process.range.startNs < grown.timesNs.front()) add(process.range.startNs, 0.0);
        size_t next = 0;
        double value = 0;
        for (const TimeRange& window : process.windows) {
            for (; next < grown.timesNs.size() && grown.timesNs[next] < window.startNs; ++next)
                value = grown.values[next];
            const int64_t endNs = std::min(window.endNs, std::max(window.startNs, process.range.endNs));
            add(window.startNs, value);
            for (; next < grown.timesNs.size() && grown.timesNs[next] < window.endNs; ++next) {
                value = grown.values[next];
                add(grown.timesNs[next], value);
            }
            if (endNs < process.range.endNs) add(endNs, unknown);
        }
        if (!process.hasWindows)
            for (; next < grown.timesNs.size(); ++next) add(grown.timesNs[next], grown.values[next]);
        CounterSeries series;
        series.name = nameOf(use);
        series.unit = CounterUnit::Bytes;
        series.gpu = gpu;
        series.process = processIndex;
        series.set(timesNs, values, process.range.endNs);
        trace_.counters.push_back(std::move(series));
    }

    void noteOdd() {
        if (uncounted_ > 0)
            trace_.health.push_back(
                {Severity::Warning, HealthCode::CounterLeftOut,
                 fmt::format("Memory in use is shown for {} counters only; {} changes belong to others.",
                             formatCount(static_cast<int64_t>(maxUses)), formatCount(uncounted_))});
        if (unknownFrees_ > 0)
            trace_.health.push_back(
                {Severity::Info, HealthCode::FreesUnmatched,
                 fmt::format("{} frees of memory match no allocation in the trace (allocated outside the "
                             "recording); their sizes are missing from the memory in use.",
                             formatCount(unknownFrees_))});
        if (lostFrees_ > 0)
            trace_.health.push_back({Severity::Info, HealthCode::FreesMissing,
                                     fmt::format("{} allocations reuse an address that was not freed in the trace; the "
                                                 "earlier allocation counts as freed.",
                                                 formatCount(lostFrees_))});
    }

    Trace& trace_;
    std::unordered_map<AddressKey, uint32_t, AddressHash> live_;  ///< Rows of allocations.
    std::unordered_map<AddressKey, double, AddressHash> poolBytes_;
    std::map<CounterKey, GrowingCounter> counters_;
    int64_t unknownFrees_ = 0;
    int64_t lostFrees_ = 0;
    int64_t uncounted_ = 0;
};

}  // namespace

void buildMemory(Trace& trace, const std::stop_token& stop) {
    trace.allocations = tableIn<AllocationTable>(trace.memory.get());
    MemoryBuilder(trace).build(stop);
    numberSamples(trace);
}

void numberSamples(Trace& trace) {
    trace.counterRows.clear();
    uint64_t rows = 0;
    std::vector<CounterSeries> kept;
    for (CounterSeries& series : trace.counters) {
        if (series.isEmpty()) continue;
        if (rows + series.size() > EventRef::maxRow) {
            trace.health.push_back(
                {Severity::Warning, HealthCode::CounterLeftOut,
                 fmt::format("The counter \"{}\" has too many values to be shown next to the others.", series.name)});
            continue;
        }
        trace.counterRows.push_back(static_cast<uint32_t>(rows));
        rows += series.size();
        kept.push_back(std::move(series));
    }
    trace.counters = std::move(kept);
}

}  // namespace lanescope
