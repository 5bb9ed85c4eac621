// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "capture/sample/ProcFile.h"
#include "capture/sample/SampleLog.h"

namespace lanescope::capture {

/// Makes shares of a core of what the kernel counts in ticks of its clock.
class CpuShare {
  public:
    /// The percentage of a core that was used since the last reading, `elapsedNs` ago; nothing at
    /// the first reading, or if the count went backwards.
    std::optional<double> read(long long ticks, int64_t elapsedNs, double nsPerTick) {
        const long long before = std::exchange(ticks_, ticks);
        if (before < 0 || elapsedNs <= 0 || ticks < before) return std::nullopt;
        return 100.0 * static_cast<double>(ticks - before) * nsPerTick /
               static_cast<double>(elapsedNs);
    }

  private:
    long long ticks_ = -1;
};

/// Processor time and memory of the recorded processes. Those that stay have counters of their own;
/// all others, such as workers that are started anew for each epoch, are summed up in two. So there
/// are few counters however many processes come and go. One thread.
class ProcessCounters {
  public:
    /// Never more processes than these have counters of their own.
    static constexpr size_t mostWithOwn = 128;

    /// `recorder` is the process below which the recorded ones are; `source` that of the counters.
    ProcessCounters(SampleLog& log, const char* source, pid_t recorder);

    /// Looks which processes there are. One that is there at the first look has counters of its own
    /// at once, one that comes later when it is still there later: in the second look at first, the
    /// more have them already the later. `buffer` is for its own use.
    void look(SampleBatch& batch, std::vector<char>& buffer);
    /// Reads those that were found. What has ended is unknown from there on.
    void sample(SampleBatch& batch, std::vector<char>& buffer);

  private:
    struct Process {
        ProcFile file;
        CpuShare share;
        int64_t readNs = 0;
        uint32_t looks = 0;
        uint32_t shareCounter = 0, memoryCounter = 0;  ///< 0: none of its own.
        bool hasEnded = false;                         ///< Whoever has its number is another one.
    };
    /// What those without counters of their own come to.
    struct Others {
        size_t count = 0, readBefore = 0;
        double percent = 0;
        int64_t bytes = 0;
    };

    uint32_t looksUntilOwn() const;
    void addOwn(Process& process, pid_t pid);
    static void writeEnd(const Process& process, SampleBatch& batch);
    void sample(Process& process, std::vector<char>& buffer, SampleBatch& batch, Others& others);
    void write(const Others& others, SampleBatch& batch);
    uint32_t addCounter(const char* name, std::string title, const char* unit,
                        log::CounterMeaning meaning, pid_t pid);

    SampleLog& log_;
    const char* const source_;
    ProcessTree tree_;
    const double nsPerTick_;
    const int64_t pageBytes_;
    std::map<pid_t, Process> processes_;
    size_t withOwn_ = 0;  ///< That ever had counters of their own.
    uint32_t looks_ = 0;
    uint32_t othersShare_ = 0, othersMemory_ = 0;  ///< Counters; 0 until there are others.
};

}  // namespace lanescope::capture
