#include "capture/sample/ProcessCounters.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "capture/agent/clocks.h"

namespace lanescope {

namespace {

using log::CounterMeaning;

/// Few processes are started by another thread than the first.
constexpr uint32_t looksAtAllThreads = 5;
/// So many have to be found twice, as many again four times, and so on.
constexpr size_t withOwnByPatience = 32;

double nsOfTick() {
    const long ticks = ::sysconf(_SC_CLK_TCK);
    return 1e9 / static_cast<double>(ticks > 0 ? ticks : 100);
}

/// What /proc/PID/stat tells.
struct Usage {
    long long ticks = 0, pages = 0;
};

std::optional<Usage> usageIn(std::string_view text) {
    // The name in brackets may hold anything.
    const size_t nameEnd = text.rfind(") ");
    if (nameEnd == std::string_view::npos) return std::nullopt;
    text.remove_prefix(nameEnd + 2);
    Usage usage;
    for (int column = 3; column <= 24; ++column) {
        const std::string_view word = takeWord(text);
        if (column == 14 || column == 15) usage.ticks += numberIn(word);
        if (column == 24) usage.pages = numberIn(word);
    }
    return usage;
}

}  // namespace

ProcessCounters::ProcessCounters(SampleLog& log, const char* source, pid_t recorder)
    : log_(log),
      source_(source),
      tree_(recorder),
      nsPerTick_(nsOfTick()),
      pageBytes_(std::max(::sysconf(_SC_PAGESIZE), 1L)) {}

uint32_t ProcessCounters::looksUntilOwn() const {
    return looks_ == 1 ? 1 : uint32_t{2} << (withOwn_ / withOwnByPatience);
}

void ProcessCounters::look(SampleBatch& batch) {
    const std::vector<pid_t> running = tree_.find(looks_ % looksAtAllThreads == 0);
    ++looks_;
    for (auto known = processes_.begin(); known != processes_.end();) {
        if (std::find(running.begin(), running.end(), known->first) != running.end()) {
            ++known;
            continue;
        }
        if (known->second.shareCounter != 0) {
            batch.addUnknown(known->second.shareCounter);
            batch.addUnknown(known->second.memoryCounter);
        }
        known = processes_.erase(known);
    }
    for (const pid_t pid : running) {
        Process& process = processes_[pid];
        if (process.looks == 0) process.file = ProcFile("/proc/" + std::to_string(pid) + "/stat");
        if (!process.file.isOpen()) {
            processes_.erase(pid);
            continue;
        }
        ++process.looks;
        if (process.shareCounter == 0 && withOwn_ < mostWithOwn && process.looks >= looksUntilOwn())
            addOwn(process, pid);
    }
}

uint32_t ProcessCounters::addCounter(const char* name, std::string title, const char* unit,
                                     CounterMeaning meaning, pid_t pid) {
    CounterDescription counter{source_, name, std::move(title), unit, meaning};
    counter.processId = static_cast<uint32_t>(pid);
    return log_.addCounter(std::move(counter));
}

void ProcessCounters::addOwn(Process& process, pid_t pid) {
    ++withOwn_;
    process.shareCounter = addCounter("cpu.share", fmt::format("Processors, process {}", pid), "%",
                                      CounterMeaning::Average, pid);
    process.memoryCounter = addCounter("memory.rss", fmt::format("Memory of process {}", pid), "B",
                                       CounterMeaning::Gauge, pid);
}

void ProcessCounters::sample(SampleBatch& batch, std::vector<char>& buffer) {
    Others others;
    for (auto& [pid, process] : processes_) sample(process, buffer, batch, others);
    write(others, batch);
}

void ProcessCounters::sample(Process& process, std::vector<char>& buffer, SampleBatch& batch,
                             Others& others) {
    const std::optional<Usage> usage = usageIn(process.file.read(buffer));
    if (!usage) return;
    const int64_t nowNs = monotonicNs();
    const int64_t elapsedNs = nowNs - std::exchange(process.readNs, nowNs);
    const std::optional<double> percent = process.share.read(usage->ticks, elapsedNs, nsPerTick_);
    const int64_t bytes = usage->pages * pageBytes_;
    if (process.shareCounter == 0) {
        ++others.count;
        others.readBefore += percent ? 1 : 0;
        others.percent += percent.value_or(0);
        others.bytes += bytes;
        return;
    }
    if (percent)
        batch.add(process.shareCounter, *percent);
    else
        batch.addUnknown(process.shareCounter);
    batch.add(process.memoryCounter, bytes);
}

/// Once there have been others, that there are none is a value, too.
void ProcessCounters::write(const Others& others, SampleBatch& batch) {
    if (othersShare_ == 0) {
        if (others.count == 0) return;
        othersShare_ = addCounter("cpu.others", "Processors, other processes of the program", "%",
                                  CounterMeaning::Average, 0);
        othersMemory_ = addCounter("memory.others", "Memory of other processes of the program", "B",
                                   CounterMeaning::Gauge, 0);
    }
    if (others.count > 0 && others.readBefore == 0)
        batch.addUnknown(othersShare_);
    else
        batch.add(othersShare_, others.percent);
    batch.add(othersMemory_, others.bytes);
}

}  // namespace lanescope
