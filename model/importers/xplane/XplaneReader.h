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

#include "model/importers/events/ForeignEvents.h"
#include "model/importers/xplane/XplaneMessages.h"
#include "model/numbers/MixedMap.h"

namespace lanescope {

/// Takes events of a plane a chunk at a time, so that what is under way stays small. Texts are
/// views, which must stay until `flush`.
class XplaneChunk {
  public:
    explicit XplaneChunk(JsonEvents& events) : events_(events) {}

    uint32_t text(std::string_view text) { return chunk_.strings.add(text); }
    /// A text that is made on the way, kept until `flush`.
    std::string_view made(std::string text) { return made_.emplace_back(std::move(text)); }
    uint32_t thread(const JsonThread& thread);
    uint32_t place(const JsonPlace& place);
    uint32_t launch(const JsonLaunch& launch);

    void slice(JsonEventKind kind, const JsonSlice& slice);
    void work(const JsonGpuWork& work);
    void name(const JsonName& name) { chunk_.names.push_back(name); }
    void sample(const JsonCounter& counter, int64_t timeNs, double value);
    JsonTally& tally() { return chunk_.tally; }

    /// Hands over what is here; numbers of texts and all else are new from then on.
    void flush();
    /// Whether there is enough for that.
    bool isFull() const { return count_ >= enough; }

  private:
    static constexpr size_t enough = size_t{1} << 16;

    JsonEvents& events_;
    ScannedChunk chunk_;
    std::deque<std::string> made_;
    std::map<JsonThread, uint32_t> threads_;
    std::map<JsonPlace, uint32_t> places_;
    std::map<JsonLaunch, uint32_t> launches_;
    std::map<JsonCounter, uint32_t> counters_;
    size_t count_ = 0;
};

/// What a plane says of its GPU.
struct XplaneGpu {
    int64_t number = 0;
    std::string name, vendor;
    int64_t memoryBytes = 0, bytesPerSecond = 0, cores = 0, major = 0, minor = 0;
};

/// Makes events of planes.
class XplaneReader {
  public:
    explicit XplaneReader(JsonEvents& events) : chunk_(events) {}

    /// Takes all of a plane, whose bytes need not stay. GPUs before hosts, as files have them:
    /// calls learn from the work that they launched which operation they are of.
    void take(std::string_view plane);

    const std::vector<XplaneGpu>& gpus() const { return gpus_; }
    /// When the profiler began, since 1970; 0 if no plane says.
    int64_t beganNs() const { return beganNs_; }
    /// Events of which only a count is known, and messages that end where none may.
    int64_t aggregated() const { return aggregated_; }
    int64_t damages() const { return damages_; }

  private:
    /// An operation of a compiled program, or a stretch of some of one.
    struct Operation {
        std::string_view operation, module;
        int64_t startNs = 0, endNs = 0;
    };
    /// Of the stats of an event what is of use.
    struct Stats {
        std::string_view kernel, copy, memset, operation, module, allocator;
        bool isCopy = false, isMemset = false;
        int64_t correlation = 0, context = 0, graphNode = 0;
        std::optional<int64_t> step, allocated, reserved;
    };

    void describe(XplanePlane& plane);
    void takeGpu(XplanePlane& plane, int64_t number);
    void takeStream(XplanePlane& plane, const XplaneLine& line, int64_t gpu, int64_t stream);
    void takeThread(XplanePlane& plane, const XplaneLine& line, const JsonThread& thread,
                    std::string name, std::string_view domain);
    void takeHostEvent(const XplaneEvent& event, const Stats& stats, JsonSlice slice,
                       std::string_view domain);
    void takeAllocation(const XplaneEvent& event, const Stats& stats, int64_t timeNs);
    void giveOperations(std::vector<Operation>& operations, const JsonThread& thread);
    void giveRange(const Operation& range, std::string_view name, std::string_view domain,
                   const JsonThread& thread);
    Stats statsOf(XplanePlane& plane, const XplaneEvent& event);
    const std::string* keptName(std::string_view name);
    bool timesOf(const XplaneLine& line, const XplaneEvent& event, int64_t& startNs,
                 int64_t& durationNs);
    void flushIfFull() {
        if (chunk_.isFull()) chunk_.flush();
    }

    XplaneChunk chunk_;
    /// What the chunk has views of, until it hands over the last of a plane.
    std::deque<std::string> threadsOfPlane_;
    std::vector<XplaneGpu> gpus_;
    /// Operation and module of GPU work by its correlation, as places in `names_`.
    MixedMap<int64_t, std::pair<const std::string*, const std::string*>> operationsOf_;
    std::set<std::string, std::less<>> names_;
    int64_t beganNs_ = 0;
    int64_t aggregated_ = 0, damages_ = 0;
};

}  // namespace lanescope
