// SPDX-License-Identifier: Apache-2.0
#include "capture/sample/ProcessCounters.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <system_error>

#include "capture/log/LogFolder.h"
#include "capture/log/clocks.h"

namespace lanescope::capture {

using log::CounterMeaning;

namespace {

constexpr size_t firstBytes = 16u << 10;
constexpr size_t maxBytes = 4u << 20;

constexpr size_t maxProcesses = 256;
constexpr const char* deletedMark = " (deleted)";

std::string programOf(pid_t pid) {
    std::error_code error;
    std::string program = std::filesystem::read_symlink("/proc/" + std::to_string(pid) + "/exe", error).string();
    if (program.ends_with(deletedMark)) program.resize(program.size() - std::string_view(deletedMark).size());
    return program;
}

bool contains(const std::vector<pid_t>& pids, pid_t pid) {
    return std::find(pids.begin(), pids.end(), pid) != pids.end();
}

/// Only each fifth search reads all threads, because few processes are started by a thread other than the first.
constexpr uint32_t fullSearchInterval = 5;
/// This number of processes must be found twice, the same number again four times, and so on.
constexpr size_t processesPerDoubling = 32;

double nsOfTick() {
    const long ticks = ::sysconf(_SC_CLK_TCK);
    return 1e9 / static_cast<double>(ticks > 0 ? ticks : 100);
}

struct Usage {
    long long ticks = 0, pages = 0;
};

std::optional<Usage> usageIn(std::string_view text) {
    // The name in brackets may contain any character.
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

ProcFile::ProcFile(const std::string& path) : descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}

std::string_view ProcFile::read(std::vector<char>& buffer) const {
    if (buffer.size() < firstBytes) buffer.resize(firstBytes);
    size_t length = 0;
    while (descriptor_ >= 0) {
        const ssize_t count =
            ::pread(descriptor_, buffer.data() + length, buffer.size() - length, static_cast<off_t>(length));
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) break;
        length += static_cast<size_t>(count);
        if (length < buffer.size()) continue;
        if (buffer.size() >= maxBytes) break;
        buffer.resize(2 * buffer.size());
    }
    return {buffer.data(), length};
}

std::string_view ProcFile::readLine(std::vector<char>& buffer) const {
    if (buffer.size() < firstBytes) buffer.resize(firstBytes);
    ssize_t count = -1;
    do {
        if (descriptor_ < 0) return {};
        count = ::pread(descriptor_, buffer.data(), buffer.size(), 0);
    } while (count < 0 && errno == EINTR);
    return {buffer.data(), static_cast<size_t>(std::max<ssize_t>(count, 0))};
}

std::string_view takeWord(std::string_view& text) {
    static constexpr std::string_view blanks = " \t\n";
    text.remove_prefix(std::min(text.size(), text.find_first_not_of(blanks)));
    const std::string_view word = text.substr(0, text.find_first_of(blanks));
    text.remove_prefix(word.size());
    return word;
}

long long numberIn(std::string_view word, long long otherwise) {
    long long number = 0;
    const auto result = std::from_chars(word.data(), word.data() + word.size(), number);
    return result.ec == std::errc{} ? number : otherwise;
}

ProcessTree::ProcessTree(pid_t root) : root_(root), ownProgram_(programOf(::getpid())) {}

std::vector<pid_t> ProcessTree::find(bool ofAllThreads) {
    std::vector<pid_t> found;
    addChildren(root_, true, found);
    // The recorder's children may be its samplers; other parents' children need no further check.
    std::erase_if(found, [&](pid_t pid) {
        if (contains(known_, pid)) return false;
        // The program itself runs our executable until its exec.
        const bool isOwnProgram = programOf(pid) == ownProgram_;
        if (!isOwnProgram) known_.push_back(pid);
        return isOwnProgram;
    });
    for (size_t at = 0; at < found.size() && found.size() < maxProcesses; ++at)
        addChildren(found[at], ofAllThreads, found);
    std::erase_if(known_, [&](pid_t pid) { return !contains(found, pid); });
    return found;
}

void ProcessTree::addChildren(pid_t parent, bool ofAllThreads, std::vector<pid_t>& found) {
    const std::string folder = "/proc/" + std::to_string(parent) + "/task";
    const auto take = [&](const std::string& thread) {
        std::string_view text = ProcFile(folder + "/" + thread + "/children").read(buffer_);
        for (std::string_view word = takeWord(text); !word.empty(); word = takeWord(text)) {
            const auto pid = static_cast<pid_t>(numberIn(word));
            if (pid > 0 && found.size() < maxProcesses && !contains(found, pid)) found.push_back(pid);
        }
    };
    if (!ofAllThreads) return take(std::to_string(parent));
    for (const std::string& thread : log::namesIn(folder)) take(thread);
}

ProcessCounters::ProcessCounters(SampleLog& log, const char* source, pid_t recorder)
    : log_(log),
      source_(source),
      tree_(recorder),
      nsPerTick_(nsOfTick()),
      pageBytes_(std::max(::sysconf(_SC_PAGESIZE), 1L)) {}

uint32_t ProcessCounters::searchesUntilOwn() const {
    return searches_ == 1 ? 1 : uint32_t{2} << (withOwn_ / processesPerDoubling);
}

void ProcessCounters::search(SampleBatch& batch, std::vector<char>& buffer) {
    const bool isAtAllThreads = searches_ % fullSearchInterval == 0;
    const std::vector<pid_t> found = tree_.find(isAtAllThreads);
    ++searches_;
    // A process started by a thread other than the first is not found each time.
    std::erase_if(processes_, [&](const auto& known) {
        const auto& [pid, process] = known;
        const bool isThere = contains(found, pid) || (!isAtAllThreads && usageIn(process.file.read(buffer)));
        if (isThere && !process.hasEnded) return false;
        writeEnd(process, batch);
        return true;
    });
    for (const pid_t pid : found) {
        if (processes_.contains(pid)) continue;
        ProcFile file("/proc/" + std::to_string(pid) + "/stat");
        if (file.isOpen()) processes_[pid].file = std::move(file);
    }
    for (auto& [pid, process] : processes_) {
        ++process.searches;
        if (process.shareCounter == 0 && withOwn_ < maxWithOwn && process.searches >= searchesUntilOwn())
            addOwn(process, pid);
    }
}

uint32_t ProcessCounters::addCounter(const char* name, std::string title, const char* unit, CounterMeaning meaning,
                                     pid_t pid) {
    CounterDescription counter{source_, name, std::move(title), unit, meaning};
    counter.processId = static_cast<uint32_t>(pid);
    return log_.addCounter(std::move(counter));
}

void ProcessCounters::addOwn(Process& process, pid_t pid) {
    ++withOwn_;
    process.shareCounter =
        addCounter("cpu.share", fmt::format("Processors, process {}", pid), "%", CounterMeaning::Average, pid);
    process.memoryCounter =
        addCounter("memory.rss", fmt::format("Memory of process {}", pid), "B", CounterMeaning::Gauge, pid);
}

void ProcessCounters::writeEnd(const Process& process, SampleBatch& batch) {
    if (process.shareCounter == 0) return;
    batch.addUnknown(process.shareCounter);
    batch.addUnknown(process.memoryCounter);
}

void ProcessCounters::sample(SampleBatch& batch, std::vector<char>& buffer) {
    Others others;
    for (auto& [pid, process] : processes_) sample(process, buffer, batch, others);
    write(others, batch);
}

void ProcessCounters::sample(Process& process, std::vector<char>& buffer, SampleBatch& batch, Others& others) {
    const std::optional<Usage> usage = usageIn(process.file.read(buffer));
    if (!usage) {
        if (!std::exchange(process.hasEnded, true)) writeEnd(process, batch);
        return;
    }
    const int64_t nowNs = log::monotonicNs();
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
    batch.add(process.shareCounter, percent);
    batch.add(process.memoryCounter, bytes);
}

/// After others existed, their absence is a value too.
void ProcessCounters::write(const Others& others, SampleBatch& batch) {
    if (othersShare_ == 0) {
        if (others.count == 0) return;
        othersShare_ =
            addCounter("cpu.others", "Processors, other processes of the program", "%", CounterMeaning::Average, 0);
        othersMemory_ =
            addCounter("memory.others", "Memory of other processes of the program", "B", CounterMeaning::Gauge, 0);
    }
    const bool isKnown = others.count == 0 || others.readBefore > 0;
    batch.add(othersShare_, isKnown ? std::optional(others.percent) : std::nullopt);
    batch.add(othersMemory_, others.bytes);
}

}  // namespace lanescope::capture
