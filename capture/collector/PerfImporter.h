// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "capture/collector/TraceWriter.h"
#include "capture/perf/PerfLog.h"
#include "capture/perf/PerfStacks.h"
#include "model/format/Sqlite.h"

namespace lanescope::capture {

/// Which Python stacks looks from outside found, by thread and time, as they stand in a trace that
/// is being written. One thread.
class PythonLooks {
  public:
    /// A Python function in a stack; strings of the trace.
    struct Frame {
        int64_t parent = 0;  ///< Row of the stack without it; 0: none.
        int64_t function = 0, file = 0, line = 0;
    };
    /// Reads them. O(rows).
    static PythonLooks read(const Database& database);

    /// Whether nobody looked at any thread in Python.
    bool isEmpty() const { return runs_.empty(); }

    /// The stack of the look that is nearest to a moment, innermost first; nothing if none was
    /// within 20 ms of it. Valid until the next call.
    std::span<const Frame> at(int64_t globalTid, int64_t timeNs);

  private:
    struct Run {
        int64_t startNs, endNs, stack;
    };
    std::unordered_map<int64_t, std::vector<Run>> runs_;  ///< By thread, by start.
    std::unordered_map<int64_t, Frame> frames_;
    std::vector<Frame> found_;
};

/// Writes what the kernel told of threads: when they had a core, and samples with their stacks,
/// in which the Python functions stand that a look found at that time. One thread.
class PerfImporter {
  public:
    /// How many of what it wrote.
    struct Counts {
        int64_t samples = 0, switches = 0;
        int64_t whole = 0;       ///< Stacks down to where their thread began.
        int64_t inPython = 0;    ///< Stacks within the interpreter,
        int64_t withPython = 0;  ///< and of these those with its functions and lines.
        int64_t lost = 0;
    };
    /// To be made when the trace has all that logs told; one for all files of a trace.
    PerfImporter(TraceWriter& trace, int64_t sessionStartNs);

    /// Brings a file of samples into the trace, and says in its health how that went. `host` is the
    /// number of its host in global ids. Fails if it is none, or not of this machine. `usesLibDw`
    /// and `patienceNs` as for `PerfStacks`.
    Result<Counts> import(const std::filesystem::path& path, uint32_t host, bool usesLibDw = true,
                          int64_t patienceNs = usualPatienceNs);

    static constexpr int64_t usualPatienceNs = 60'000'000'000;
    /// Whether a file of that name is one: "<host>.-.<pid>.perf".
    static bool isPerfLog(const std::filesystem::path& path);

  private:
    struct Frame {
        int64_t function = 0, file = 0;  ///< Strings of the trace.
        int64_t line = 0;                ///< 0: none.
        bool operator==(const Frame&) const = default;
    };
    struct FrameHash {
        size_t operator()(const Frame& frame) const;
    };
    class FirstPass;
    class SecondPass;

    const Frame& nativeFrame(const PerfStacks& stacks, uint32_t function);
    /// The number of a stack in the trace, innermost first.
    int64_t chain(const std::vector<Frame>& frames);
    void writeLeftOut(size_t processes, int64_t switches);
    void writeHealth(const PerfLogFile& file, const FirstPass& first, const PerfStacks& stacks,
                     uint64_t oddBytes);

    TraceWriter& trace_;
    const int64_t sessionStartNs_;
    uint32_t host_ = 0;
    PythonLooks looks_;
    Counts counts_;
    std::vector<std::optional<Frame>> native_;         ///< By the numbers of `PerfStacks`.
    std::vector<bool> isEvaluator_;                    ///< The same.
    std::unordered_map<std::string, int64_t> chains_;  ///< By their frames.
    size_t chainBytes_ = 0;                            ///< That `chains_` takes, about.
    int64_t lastChain_ = 0;
};

}  // namespace lanescope::capture
