// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/importers/events/ImportedEvents.h"
#include "model/importers/xplane/XplaneMessages.h"
#include "model/numbers/MixedMap.h"

namespace lanescope {

/// Collects events of a plane in chunks of bounded size. Texts are views, which must be valid until `flush`.
class XplaneChunk {
  public:
    explicit XplaneChunk(ImportedEvents& events) : events_(events) {}

    uint32_t text(std::string_view text) { return chunk_.strings.add(text); }
    /// Keeps a new text until `flush` and returns it.
    std::string_view made(std::string text) { return made_.emplace_back(std::move(text)); }
    uint32_t thread(const ImportedThread& thread);
    uint32_t place(const ImportedPlace& place);
    uint32_t launch(const ImportedLaunch& launch);

    void slice(ImportedEventKind kind, const ImportedSlice& slice);
    void work(const ImportedGpuWork& work);
    void name(const ImportedName& name) { chunk_.names.push_back(name); }
    void sample(const ImportedCounter& counter, int64_t timeNs, double value);
    ImportedTally& tally() { return chunk_.tally; }

    /// Adds the contents to the events of the file. Indexes of texts and all else start again.
    void flush();
    /// Returns true if the chunk should be flushed.
    bool isFull() const { return count_ >= flushThreshold; }

  private:
    static constexpr size_t flushThreshold = size_t{1} << 16;

    ImportedEvents& events_;
    ImportedChunk chunk_;
    std::deque<std::string> made_;
    std::map<ImportedThread, uint32_t> threads_;
    std::map<ImportedPlace, uint32_t> places_;
    std::map<ImportedLaunch, uint32_t> launches_;
    std::map<ImportedCounter, uint32_t> counters_;
    size_t count_ = 0;
};

struct XplaneGpu {
    int64_t number = 0;
    std::string name, vendor;
    int64_t memoryBytes = 0, bytesPerSecond = 0, cores = 0, major = 0, minor = 0;
};

class XplaneReader {
  public:
    explicit XplaneReader(ImportedEvents& events) : chunk_(events) {}

    /// Reads a plane without keeping its bytes. GPUs must come before hosts, as in files, since
    /// calls get their operation from the work that they launched.
    void take(std::string_view plane);

    const std::vector<XplaneGpu>& gpus() const { return gpus_; }
    /// Returns the start of the profiler since 1970; 0 if unknown.
    int64_t beganNs() const { return beganNs_; }
    /// Number of events without times, and of truncated messages.
    int64_t aggregated() const { return aggregated_; }
    int64_t corruptCount() const { return corruptCount_; }

  private:
    /// An operation of a compiled program, or an interval of several.
    struct Operation {
        std::string_view operation, module;
        int64_t startNs = 0, endNs = 0;
    };
    struct Stats {
        std::string_view kernel, copy, memset, operation, module, allocator;
        bool isCopy = false, isMemset = false;
        int64_t correlation = 0, context = 0, graphNode = 0;
        std::optional<int64_t> step, allocated, reserved;
    };

    void describe(XplanePlane& plane);
    void takeGpu(XplanePlane& plane, int64_t number);
    void takeStream(XplanePlane& plane, const XplaneLine& line, int64_t gpu, int64_t stream);
    void takeThread(XplanePlane& plane, const XplaneLine& line, const ImportedThread& thread, std::string name,
                    std::string_view domain);
    void takeHostEvent(const XplaneEvent& event, const Stats& stats, ImportedSlice slice, std::string_view domain);
    void takeAllocation(const XplaneEvent& event, const Stats& stats, int64_t timeNs);
    void emitOperations(std::vector<Operation>& operations, const ImportedThread& thread);
    void emitRange(const Operation& range, std::string_view name, std::string_view domain,
                   const ImportedThread& thread);
    Stats statsOf(XplanePlane& plane, const XplaneEvent& event);
    const std::string* keptName(std::string_view name);
    bool timesOf(const XplaneLine& line, const XplaneEvent& event, int64_t& startNs, int64_t& durationNs);
    void flushIfFull() {
        if (chunk_.isFull()) chunk_.flush();
    }

    XplaneChunk chunk_;
    /// Texts that the chunk has views of until the end of a plane.
    std::deque<std::string> threadsOfPlane_;
    std::vector<XplaneGpu> gpus_;
    /// Operation and module of GPU work by correlation, as pointers into `names_`.
    MixedMap<int64_t, std::pair<const std::string*, const std::string*>> operationsOf_;
    std::set<std::string, std::less<>> names_;
    int64_t beganNs_ = 0;
    int64_t aggregated_ = 0, corruptCount_ = 0;
};

}  // namespace lanescope
