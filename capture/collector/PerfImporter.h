// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "capture/collector/TraceWriter.h"
#include "capture/perf/PerfLog.h"
#include "capture/perf/PerfStacks.h"
#include "model/format/Sqlite.h"

namespace lanescope::capture {

/// Python stacks sampled from outside, by thread and time, read from the unfinished trace. One thread.
class PythonSamples {
  public:
    /// A Python function in a stack; strings of the trace.
    struct Frame {
        int64_t parent = 0;  ///< Row of the stack without it; 0: none.
        int64_t function = 0, file = 0, line = 0;
    };
    static PythonSamples read(const Database& database);

    bool isEmpty() const { return runs_.empty(); }

    /// Returns the stack of the sample nearest to `timeNs`, innermost first; empty if none was
    /// within 20 ms. Valid until the next call.
    std::span<const Frame> at(int64_t globalTid, int64_t timeNs);

  private:
    struct Run {
        int64_t startNs, endNs, stack;
    };
    std::unordered_map<int64_t, std::vector<Run>> runs_;  ///< By thread, each sorted by start.
    std::unordered_map<int64_t, Frame> frames_;
    std::vector<Frame> found_;
};

/// Importer of the kernel's thread data: times on a core, and samples with their stacks, merged
/// with the Python stacks sampled at that time. One thread.
class PerfImporter {
  public:
    struct Counts {
        int64_t samples = 0, switches = 0;
        int64_t whole = 0;       ///< Stacks that reach the beginning of their thread.
        int64_t inPython = 0;    ///< Stacks within the interpreter.
        int64_t withPython = 0;  ///< Stacks among these with Python functions and lines.
        int64_t lost = 0;
    };
    /// To be made when the trace has the contents of all logs; one for all files of a trace.
    PerfImporter(TraceWriter& trace, int64_t sessionStartNs);

    /// Imports a file of samples into the trace, and reports the result in its health. `host` is
    /// the number of its host in global ids. Fails if the file is no perf log of this machine.
    /// `usesLibDw` and `unwindBudgetNs` as for `PerfStacks`.
    Result<Counts> import(const Folder& folder, const std::string& name, uint32_t host, bool usesLibDw = true,
                          int64_t unwindBudgetNs = defaultUnwindBudgetNs);

    static constexpr int64_t defaultUnwindBudgetNs = 60'000'000'000;
    /// Returns true if the name is that of a perf log: "<host>.-.<pid>.perf".
    static bool isPerfLog(std::string_view name);

  private:
    struct Frame {
        int64_t function = 0, file = 0;  ///< Strings of the trace.
        int64_t line = 0;                ///< 0: none.
    };
    class FirstPass;
    class SecondPass;

    const Frame& nativeFrame(const PerfStacks& stacks, uint32_t function);
    /// Returns the number of a stack in the trace. `frames` are innermost first.
    int64_t chain(const std::vector<Frame>& frames);
    void writeSkipped(size_t processes, int64_t switches);
    void writeWarnings(const PerfLogFile& file, const FirstPass& first, const PerfStacks& stacks, uint64_t oddBytes);

    TraceWriter& trace_;
    const int64_t sessionStartNs_;
    uint32_t host_ = 0;
    PythonSamples pythonSamples_;
    Counts counts_;
    std::vector<std::optional<Frame>> native_;         ///< By the numbers of `PerfStacks`.
    std::vector<bool> isEvaluator_;                    ///< By the numbers of `PerfStacks`.
    std::unordered_map<std::string, int64_t> chains_;  ///< By their frames.
    size_t chainBytes_ = 0;                            ///< Approximate size of `chains_`.
    int64_t lastChain_ = 0;
};

}  // namespace lanescope::capture
