// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "capture/sample/SampleLog.h"
#include "model/format/UniqueFd.h"

namespace lanescope::capture {

/// A file of /proc or /sys that is kept open and read repeatedly.
class ProcFile {
  public:
    ProcFile() = default;
    explicit ProcFile(const std::string& path);

    bool isOpen() const { return descriptor_ >= 0; }
    /// Returns its present content; empty if it cannot be read any more. Valid until the next call
    /// with the same `buffer`, which is enlarged as needed.
    std::string_view read(std::vector<char>& buffer) const;

    /// Reads a file of one short line with one call.
    std::string_view readLine(std::vector<char>& buffer) const;

  private:
    UniqueFd descriptor_;
};

/// Removes the next word from the front of `text` and returns it; empty if there is none.
std::string_view takeWord(std::string_view& text);
long long numberIn(std::string_view word, long long otherwise = 0);

/// Processes below a recorder, without its own samplers. Reads the threads of known processes only, never all of /proc.
class ProcessTree {
  public:
    explicit ProcessTree(pid_t root);

    /// Returns the running processes: the children of the first thread of each known process, or of
    /// all its threads with `ofAllThreads`.
    std::vector<pid_t> find(bool ofAllThreads);

  private:
    void addChildren(pid_t parent, bool ofAllThreads, std::vector<pid_t>& found);

    const pid_t root_;
    std::string ownProgram_;
    std::vector<pid_t> known_;  ///< Children of the recorder that do not run our own program.
    std::vector<char> buffer_;
};

/// Conversion of the kernel's tick counts to shares of a core.
class CpuShare {
  public:
    /// Returns the percentage of a core used since the last reading, `elapsedNs` ago. Returns
    /// nullopt at the first reading, or if the count went backwards.
    std::optional<double> read(long long ticks, int64_t elapsedNs, double nsPerTick) {
        const long long before = std::exchange(ticks_, ticks);
        if (before < 0 || elapsedNs <= 0 || ticks < before) return std::nullopt;
        return 100.0 * static_cast<double>(ticks - before) * nsPerTick / static_cast<double>(elapsedNs);
    }

  private:
    long long ticks_ = -1;
};

/// Processor time and memory of the recorded processes. Those of the first search, or found in several later ones, have
/// counters of their own, up to `maxWithOwn`. All others, such as workers restarted in each epoch, are summed up in two
/// counters. One thread.
class ProcessCounters {
  public:
    /// Maximum number of processes with counters of their own.
    static constexpr size_t maxWithOwn = 128;

    /// `recorder` is an ancestor of the recorded processes; `source` is that of the counters.
    ProcessCounters(SampleLog& log, const char* source, pid_t recorder);

    /// Searches for processes. A process present at the first search gets its own counters at once.
    /// A later one gets them when it is found again: at the second search at first, later the more
    /// processes have them already. `buffer` is scratch memory.
    void search(SampleBatch& batch, std::vector<char>& buffer);
    /// Reads the found processes. Values of ended ones are unknown from there on.
    void sample(SampleBatch& batch, std::vector<char>& buffer);

  private:
    struct Process {
        ProcFile file;
        CpuShare share;
        int64_t readNs = 0;
        uint32_t searches = 0;
        uint32_t shareCounter = 0, memoryCounter = 0;  ///< 0: no counter of its own.
        bool hasEnded = false;                         ///< A process with its number is a different one.
    };
    /// Sums of the processes without counters of their own.
    struct Others {
        size_t count = 0, readBefore = 0;
        double percent = 0;
        int64_t bytes = 0;
    };

    uint32_t searchesUntilOwn() const;
    void addOwn(Process& process, pid_t pid);
    static void writeEnd(const Process& process, SampleBatch& batch);
    void sample(Process& process, std::vector<char>& buffer, SampleBatch& batch, Others& others);
    void write(const Others& others, SampleBatch& batch);
    uint32_t addCounter(const char* name, std::string title, const char* unit, log::CounterMeaning meaning, pid_t pid);

    SampleLog& log_;
    const char* const source_;
    ProcessTree tree_;
    const double nsPerTick_;
    const int64_t pageBytes_;
    std::map<pid_t, Process> processes_;
    size_t withOwn_ = 0;  ///< Processes that ever had counters of their own.
    uint32_t searches_ = 0;
    uint32_t othersShare_ = 0, othersMemory_ = 0;  ///< Counters; 0 until there are others.
};

}  // namespace lanescope::capture
