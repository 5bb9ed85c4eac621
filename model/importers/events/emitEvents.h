// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "model/importers/events/ImportedEvents.h"
#include "model/numbers/LargeMemory.h"

namespace lanescope {

/// Maps the processes, threads and streams of a file to those of the trace. Files may use any names for processes and
/// threads. A name that is not a system id gets a free id and stays the display name.
class ImportedIdentities {
  public:
    ImportedIdentities(const ImportedEvents& events, TraceBuilder& builder);

    // A trace holds a limited number of each: all return `noIndex` for one that does not fit.

    /// Returns the thread of an index of `ImportedEvents::threads`.
    uint32_t thread(uint32_t number);
    /// Returns the thread if `thread` was called for it before, else `noIndex`.
    uint32_t knownThread(uint32_t number) const { return threads_[number]; }
    /// Returns a thread for events without one: work on that stream, as named by the file.
    uint32_t threadOfPlace(uint32_t place);
    uint32_t process(const std::string& name);
    /// Returns the process with the most calls. Without calls: with the most events.
    uint32_t mainProcess() { return process(mainProcess_); }
    /// Returns the process that launched the work: the caller with its correlation, of several the owner of its GPU.
    uint32_t processOfWork(const ImportedGpuWork& work);
    /// Returns a stream of `ImportedEvents::places`, or `noIndex` if the place has none.
    uint32_t stream(uint32_t place, uint32_t process);

  private:
    static constexpr uint32_t maxSystemId = 0xffffff;
    /// Used ids and the next free one, from the largest downwards.
    struct Ids {
        std::set<uint32_t> used;
        uint32_t free = maxSystemId;
        uint32_t take(std::optional<uint32_t> wanted);
    };
    int64_t packedProcess(const std::string& name);
    int64_t packedThread(int64_t process, const std::string& name);
    void findMainProcess();

    const ImportedEvents& events_;
    TraceBuilder& builder_;
    std::string mainProcess_;
    std::map<std::string, int64_t> processes_;
    std::map<int64_t, Ids> threadIds_;  ///< By process.
    Ids processIds_;
    std::vector<uint32_t> threads_;
    std::map<uint32_t, uint32_t> threadsOfPlaces_;
    /// A call with a correlation. Processes may use equal ones.
    struct Call {
        uint32_t correlation = 0;
        uint32_t process = 0;
        int64_t startNs = 0;
    };
    std::span<const Call> callsOf(uint32_t correlation) const;
    void findOwners();

    LargeVector<Call> calls_;             ///< By correlation, once per process, if several processes make calls.
    std::map<int64_t, uint32_t> owners_;  ///< Processes of GPUs whose work has several callers.
};

struct EmitContext {
    ImportedEvents& events;
    ImportedIdentities& identities;
    TraceBuilder& builder;
    int64_t zeroNs = 0;  ///< The zero of the trace on the clock of the file.
    int rank = -1;       ///< Rank of the process, or -1 if unknown.
};

/// Inconsistencies found while emitting.
struct EmitFindings {
    int64_t workWithoutCall = 0;
    int64_t launches = 0;  ///< Calls that launch work.
    int64_t callsWithoutWork = 0;
    int64_t callsWithoutWorkBetween = 0;     ///< Calls before the last one with work.
    int64_t overlaps = 0, maxOverlapNs = 0;  ///< Overlaps of work on one stream.
    int64_t unmatchedEdges = 0;              ///< Ends of ranges that never began.
    int64_t unmatchedFlowEnds = 0;           ///< Without their other end or an operator.
    int64_t unmatchedBackwards = 0;          ///< Backward operators without their forward.
};

// Each function emits events of some kinds and frees those that no later one needs, in the order below. O(n log n).

void checkWork(EmitContext& output, EmitFindings& findings);
void emitGpuWork(EmitContext& output);
void emitCalls(EmitContext& output);
/// Emits annotations, operators with their collective operations and backwards, Python functions and others.
void emitRanges(EmitContext& output, EmitFindings& findings);
/// Connects operators with their backward. The operators are the rows `[first, end)` of the ranges.
/// Flow ends and sequence numbers refer to these rows and are freed.
void emitBackwards(EmitContext& output, EmitFindings& findings, uint32_t first, uint32_t end);
void emitEdges(EmitContext& output, EmitFindings& findings);
void emitCounters(EmitContext& output);

/// Calls all of these. `isWanted` gets fractions in [0, 1]. Once it returns false, the rest is skipped.
void emitEvents(EmitContext& output, EmitFindings& findings, const std::function<bool(double)>& isWanted);

}  // namespace lanescope
