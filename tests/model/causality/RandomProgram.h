// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "model/assemble/TraceBuilder.h"
#include "model/causality/StepReplay.h"
#include "model/trace/Trace.h"

namespace lanescope::causality {

/// A random program of several ranks on a simulated machine, which runs it by a plain rule: each thread executes its
/// operations one after the other, and work starts when everything before it has ended. Times are even, so that half
/// of each is exact.
class RandomProgram {
  public:
    explicit RandomProgram(uint32_t seed);

    enum class Do : uint8_t {
        Host,        ///< Host code.
        Kernel,      ///< Launches a kernel.
        Graph,       ///< Launches a graph of a chain of kernels.
        Copy,        ///< Copies asynchronously.
        WaitedCopy,  ///< Copies and waits for it.
        Memset,
        Record,     ///< Records an event in a stream.
        WaitEvent,  ///< Makes a stream wait for an event.
        SyncStream,
        SyncDevice,
        Collective,  ///< Launches a kernel that waits for all ranks.
        HandOver,    ///< Lets the helper run, and waits for it.
    };
    struct Operation {
        Do what = Do::Host;
        uint32_t stream = 0;
        uint32_t name = 0;  ///< Number in the name of the kernel, or of the event.
        int64_t ns = 0;
        int64_t count = 1;              ///< Kernels of a graph.
        std::vector<Operation> helper;  ///< Operations of the helper.
    };

    /// One call or piece of work of a run.
    struct Ran {
        Do what = Do::Host;
        uint32_t rank = 0, thread = 0, stream = 0, name = 0;
        uint32_t correlation = 0;
        int64_t callStartNs = 0, callEndNs = 0;
        uint32_t number = 0;  ///< Among the work of its rank and thread, the same in each run.
        std::optional<int64_t> readyNs, startNs, endNs;  ///< Times of work, known when its causes are.
        int64_t ownNs = 0;
        int64_t collective = -1;  ///< Number of the collective.
        bool isWork = false, isCall = true;
        bool isFirst = true;  ///< First node of a graph.
        /// Causes with their delays: indices of work.
        std::vector<std::pair<size_t, int64_t>> causes;
        size_t recordedStream = 0;
        uint32_t recordCorrelation = 0;
    };
    using Key = std::tuple<uint32_t, uint32_t, uint32_t>;
    static Key keyOf(const Ran& work) { return {work.rank, work.thread, work.number}; }
    /// A time in which a thread waited for another.
    struct Waited {
        uint32_t rank = 0, thread = 0;
        int64_t startNs = 0, endNs = 0;
    };
    struct Run {
        std::vector<Ran> all;
        std::vector<Waited> waits;
        std::vector<std::vector<int64_t>> endNs;  ///< By rank and thread.
    };

    /// Runs the program after a change.
    Run run(const Change& change = {}) const;
    /// Returns the trace of a run of the unchanged program, and the event of each work.
    TracePtr trace(const Run& run, std::map<Key, EventRef>& events) const;
    /// Returns changes that the program can show.
    std::vector<Change> changes() const;
    uint32_t rankCount() const { return static_cast<uint32_t>(ranks_.size()); }

  private:
    struct Rank {
        std::vector<Operation> main, other;  ///< `other` is a thread of its own, without waits.
    };
    /// Times that the machine adds, the same in all programs of a seed.
    struct Machine {
        int64_t launchNs = 0, graphNs = 0, gapNs = 0, eventNs = 0, defaultNs = 0, returnNs = 0, copiedNs = 0;
        std::map<Do, int64_t> callNs;
        int64_t wakeNs = 0;
    };
    friend class Execution;

    int64_t even(int64_t least, int64_t most);
    Operation random(uint32_t firstStream, uint32_t endStream, bool isOfMain);
    void addPrologue(std::vector<Operation>& operations);

    std::mt19937 random_;
    std::vector<Rank> ranks_;
    Machine machine_;
    uint32_t streams_ = 1;
    bool isBlocking_ = false;  ///< The default stream, 0, waits for all others, and these for it.
    bool hasOther_ = false, hasHelper_ = false, hasCollectives_ = false;
};

}  // namespace lanescope::causality
