// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "capture/log/Records.h"
#include "capture/watch/HangReport.h"

namespace lanescope::capture {

/// Values of the latest keys, at most twice `maxYoung`; a key that is used stays.
template <class Value, size_t maxYoung>
class LatestValues {
  public:
    /// Returns null for an unknown key. Valid until the next call, as the result of the next function.
    Value* find(uint64_t key) {
        if (const auto young = young_.find(key); young != young_.end()) return &young->second;
        const auto old = old_.find(key);
        return old == old_.end() ? nullptr : &set(key, Value(old->second));
    }
    Value& set(uint64_t key, Value value) {
        if (young_.size() >= maxYoung && !young_.contains(key)) old_ = std::exchange(young_, {});
        return young_.insert_or_assign(key, std::move(value)).first->second;
    }
    size_t size() const { return young_.size() + old_.size(); }

  private:
    std::unordered_map<uint64_t, Value> young_, old_;
};

/// Latest state of one process, from the records of its log: a receiver for `LogReader::poll`. Begins anywhere in a
/// log, since each part repeats its definitions. Bounded memory for any log. 0.3 us per record, 1.4 us per NCCL record.
/// One thread.
class ProcessProgress {
  public:
    void operator()(const log::StringRecord& record, std::string_view text);
    void operator()(const log::PropertyRecord& record);
    void operator()(const log::StackRecord& record);
    void operator()(const log::ApiRecord& record);
    void operator()(const log::KernelRecord& record) { addGpuWork(record, {text(record.name)}); }
    void operator()(const log::MemcpyRecord& record) { addGpuWork(record, {}); }
    void operator()(const log::MemsetRecord& record) { addGpuWork(record, {}); }
    void operator()(const log::GraphRecord& record) { addGpuWork(record, {std::to_string(record.graphId), true}); }
    void operator()(const log::NvtxRecord& record, std::span<const std::byte>) { addTime(record.timestampNs); }
    void operator()(const log::DroppedRecord& record) {
        if (record.what != Loss::NvtxCalls && record.what != Loss::NcclEvents) forgetLaunches();
    }
    void operator()(const log::WindowRecord&) { forgetLaunches(); }
    void operator()(const log::NcclCommunicatorRecord& record);
    void operator()(const log::NcclOperationRecord& record);
    void operator()(const log::NcclStopRecord& record);
    void operator()(const log::EndRecord& record);

    /// Forgets unfinished launches: from here on, finished GPU work may have no record.
    void forgetLaunches() { launches_.clear(); }

    /// Returns the state of the process, without threads. `pid` is that of the log's header.
    ProcessState state(uint32_t pid, int64_t nowNs);

    /// Returns -1 without a launcher.
    int64_t rank() const { return process_.rank; }
    /// Returns the number of ranks of a communicator; 0 if it is unknown.
    int32_t rankCount(uint64_t hash) const;
    bool hasCommunicators() const { return !communicators_.empty(); }
    /// Returns a string of the log; empty if it is unknown.
    std::string text(uint32_t id);
    int64_t lastEventNs() const { return process_.lastEventNs; }
    int64_t lastGpuEndNs() const { return process_.lastGpuEndNs; }
    /// Returns the number of kept values, which is bounded.
    size_t kept() const;

    static constexpr size_t maxStrings = 1 << 15, maxStringBytes = 512, maxStacks = 1 << 15, maxLaunches = 1 << 15;
    static constexpr size_t maxLines = 1 << 13, maxOpen = 1 << 12;
    static constexpr size_t maxCommunicators = 256, maxOperations = 32, maxFunctions = 32;

  private:
    struct Frame {
        uint32_t parent;
        bool isOwn;  ///< Outside of libraries.
        std::string line;
    };
    struct Launch {
        int64_t startNs;
        uint32_t thread, stack;
        std::string api;
        bool isGraph;  ///< By its call.
    };
    /// Work of one launch.
    struct Work {
        std::string name;
        bool isGraph = false;  ///< A whole CUDA graph, named by its number.
        bool operator==(const Work&) const = default;
    };
    /// Earlier launches at one stack.
    struct Line {
        Work work;
        bool isAmbiguous = false;
        int64_t lastFinishedNs = 0;  ///< Begin of the latest launch whose GPU work has ended.
    };
    struct Communicator {
        CommunicatorPlace place;
        uint64_t callId = 0;
        int64_t lastNs = 0;
    };
    using CommunicatorKey = std::pair<uint64_t, int32_t>;  // hash, rank

    void addTime(int64_t timeNs) { process_.lastEventNs = std::max(process_.lastEventNs, timeNs); }
    void addGpuWork(const auto& record, Work work) { addGpuWork(record.endNs, record.correlationId, std::move(work)); }
    void addGpuWork(int64_t endNs, uint32_t correlation, Work work);
    void finish(const Launch& launch, const Work& work);
    std::string lineOf(uint32_t stack);
    Communicator& communicator(uint64_t hash, int32_t rank);

    ProcessState process_;
    LatestValues<std::string, maxStrings> strings_;  // by id
    LatestValues<Frame, maxStacks> stacks_;          // by number
    LatestValues<Line, maxLines> lines_;             // by stack
    LatestValues<Work, maxLaunches> finishedEarly_;  // GPU work read before its call, by correlation
    LatestValues<Work, maxLaunches> unfinished_;     // work that had not ended, by correlation
    int64_t unfinishedNs_ = 0;                       // time of the latest event before it was reported
    std::unordered_map<uint32_t, Launch> launches_;  // by correlation
    std::map<CommunicatorKey, Communicator> communicators_;
    std::unordered_map<uint64_t, std::pair<CommunicatorKey, int64_t>> open_;  // by id of the event, with its begin
    LatestValues<int64_t, maxOpen> earlyStops_;                               // read before their start
};

}  // namespace lanescope::capture
