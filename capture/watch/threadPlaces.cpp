// SPDX-License-Identifier: Apache-2.0
#include "capture/watch/threadPlaces.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>
#include <set>
#include <system_error>

#include "capture/log/LogFolder.h"
#include "capture/sample/ProcessCounters.h"
#include "capture/threads/StateRuns.h"
#include "model/format/files.h"
#include "model/format/text.h"

namespace lanescope::capture {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view agentThreadPrefix = "lanescope-";
constexpr size_t maxThreads = 1'024, maxShown = 64, maxChildren = 64, maxFiles = 4'096, maxPolled = 64;

/// Returns the words of a `stat` file after the name: state, parent and so on.
std::vector<std::string> statWords(const std::string& folder) {
    const std::string text = readSystemFile(folder + "/stat").value_or("");
    std::string_view rest = std::string_view(text).substr(std::min(text.size(), text.rfind(')') + 1));
    std::vector<std::string> words;
    for (std::string_view word = takeWord(rest); !word.empty(); word = takeWord(rest)) words.emplace_back(word);
    return words;
}

/// One end of a pipe that a process has open.
struct PipeEnd {
    pid_t process;
    bool reads, writes;
};
using Pipes = std::multimap<std::string, PipeEnd>;  // by the target of the link

void addPipes(pid_t pid, Pipes& pipes) {
    const std::string folder = fmt::format("/proc/{}/fd", pid);
    std::vector<std::string> files = log::namesIn(folder);
    files.resize(std::min(files.size(), maxFiles));
    for (const std::string& file : files) {
        std::error_code error;
        const std::string target = fs::read_symlink(folder + "/" + file, error).string();
        if (!target.starts_with("pipe:")) continue;
        const fs::perms open = fs::symlink_status(folder + "/" + file, error).permissions();
        pipes.emplace(target, PipeEnd{pid, (open & fs::perms::owner_read) != fs::perms::none,
                                      (open & fs::perms::owner_write) != fs::perms::none});
    }
}

/// Returns true if it has ended. Sets `isAlive` and `end`.
bool hasEnded(ProcessState& process) {
    constexpr size_t state = 0, start = 19, exitCode = 49;
    const std::vector<std::string> words = statWords(fmt::format("/proc/{}", process.pid));
    const bool isOther =
        words.size() <= exitCode || (!process.startTicks.empty() && words[start] != process.startTicks);
    process.isAlive = !isOther && words[state] != "Z" && words[state] != "X";
    process.isStopped = process.isAlive && (words[state] == "T" || words[state] == "t");
    if (process.isAlive) return false;
    if (isOther || !process.end.empty()) return true;
    const auto status = static_cast<int>(numberIn(words[exitCode]));
    process.end = WIFSIGNALED(status) ? fmt::format("signal {}", WTERMSIG(status))
                                      : fmt::format("exit status {}", WEXITSTATUS(status));
    return true;
}

}  // namespace

std::vector<ThreadPlaces::Waited> ThreadPlaces::readThreads(int64_t nowNs, ProcessState& process) {
    const std::string folder = fmt::format("/proc/{}", pid_);
    process.program = process.program.empty() ? cleaned(trimmed(readSystemFile(folder + "/comm").value_or(""), "\n"))
                                              : process.program;
    memory_.forget();
    // Stacks by number, from 1: the number of the stack without the innermost frame, and that frame.
    std::vector<std::pair<std::string, std::string>> codes;
    std::vector<std::pair<uint32_t, std::string>> stacks;
    StackStore store{[&](std::string_view function, std::string_view file) {
                         codes.emplace_back(function, file);
                         return static_cast<uint32_t>(codes.size());
                     },
                     [&](uint32_t parent, uint32_t code, int32_t line) {
                         stacks.emplace_back(parent, pythonLine(codes[code - 1].first, codes[code - 1].second, line));
                         return static_cast<uint32_t>(stacks.size());
                     }};
    StackReading reading;
    std::optional<PythonProcess> python;
    if (const ImagesOfProcess images = readImages(pid_, memory_); images.python) {
        python.emplace(images.python, memory_, std::move(store), reading);
        python->findThreads(nowNs);
    }
    std::vector<uint32_t> threads;
    for (const std::string& name : log::namesIn(folder + "/task"))
        if (threads.size() < maxThreads) threads.push_back(static_cast<uint32_t>(numberIn(name)));
    const auto rank = [&](uint32_t id) {
        return id == process.pid ? 0 : python && python->hasThread(static_cast<pid_t>(id)) ? 1 : 2;
    };
    std::ranges::sort(threads, {}, [&](uint32_t id) { return std::pair(rank(id), id); });
    threads.resize(std::min(threads.size(), maxShown));

    std::vector<Waited> waited;
    std::map<uint32_t, Place> places;
    for (const uint32_t id : threads) {
        if (python && rank(id) == 2) break;  // native threads of libraries
        const std::string task = fmt::format("{}/task/{}", folder, id);
        const std::string callText = readSystemFile(task + "/syscall").value_or("");
        const SystemCall call = parseSystemCall(callText);
        const std::vector<std::string> words = statWords(task);
        if (words.empty()) continue;
        ThreadPlace thread;
        thread.id = id;
        thread.name = cleaned(trimmed(readSystemFile(task + "/comm").value_or(""), "\n"));
        if (thread.name.starts_with(agentThreadPrefix)) continue;
        const bool isRunning = call.isKnown ? call.isRunning : words[0] == "R";
        ThreadState state = isRunning ? ThreadState::Running : call.isKnown ? sleepReason(call) : ThreadState::Blocked;
        if (!isRunning && words[0] == "D" && (!call.isKnown || mayBeDisk(call))) state = ThreadState::Disk;
        if (!isRunning) thread.call = nameOfCall(call.number);
        if (python) {
            const pid_t holder = python->gilHolder();
            thread.holdsGil = holder == static_cast<pid_t>(id);
            if (isFutex(call.number) && python->isGil(call.argument)) {
                state = ThreadState::Gil;
                thread.gilHolder = static_cast<uint32_t>(std::max(python->gilHolder(), 0));
            }
            memory_.forget();
            for (uint32_t stack = python->stackOf(static_cast<pid_t>(id)); stack != 0; stack = stacks[stack - 1].first)
                thread.stack.push_back(stacks[stack - 1].second);
        }
        thread.state = nameOf(state).identifier;
        if (state == ThreadState::Poll) {
            std::string_view rest = callText;
            takeWord(rest), takeWord(rest);
            const std::string_view second = takeWord(rest);
            uint64_t count = 0;
            std::from_chars(second.data() + std::min<size_t>(second.size(), 2), second.data() + second.size(), count,
                            16);
            if (!thread.call.ends_with("poll")) {
                waited.push_back({process.threads.size(), static_cast<int>(call.argument),
                                  thread.call.find("write") != std::string::npos});
            } else {
                pollfd file{};
                for (uint64_t i = 0; i < std::min<uint64_t>(count, maxPolled); ++i)
                    if (memory_.get(call.argument + i * sizeof file, file))
                        waited.push_back({process.threads.size(), file.fd, (file.events & POLLOUT) != 0});
            }
        }
        std::string text = fmt::format("{} {} {}", thread.state, thread.call, fmt::join(thread.stack, "\n"));
        const auto before = places_.find(id);
        thread.sinceNs = before != places_.end() && before->second.text == text ? before->second.sinceNs : nowNs;
        places[id] = {std::move(text), thread.sinceNs};
        process.threads.push_back(std::move(thread));
    }
    places_ = std::move(places);
    return waited;
}

void ThreadPlaces::read(int64_t nowNs, ProcessState& process) {
    process.pid = static_cast<uint32_t>(pid_);
    process.atNs = nowNs;
    process.threads.clear();
    process.children.clear();
    if (hasEnded(process)) return;
    std::vector<pid_t> pids = ProcessTree(pid_).find(true);
    pids.resize(std::min(pids.size(), maxChildren));
    Pipes pipes;
    addPipes(pid_, pipes);
    std::vector<std::pair<ProcessState*, std::vector<Waited>>> all{{&process, readThreads(nowNs, process)}};
    process.children.resize(pids.size());
    for (size_t i = 0; i < pids.size(); ++i) {
        ProcessState& child = process.children[i];
        child.pid = static_cast<uint32_t>(pids[i]);
        child.host = process.host;
        child.atNs = nowNs;
        addPipes(pids[i], pipes);
        if (!hasEnded(child))
            all.emplace_back(&child, children_.try_emplace(pids[i], pids[i]).first->second.readThreads(nowNs, child));
    }
    std::erase_if(children_, [&](const auto& each) { return std::ranges::find(pids, each.first) == pids.end(); });
    // Idle data loaders wait for the process, so a busy one is the more likely reason.
    std::ranges::reverse(all);
    std::set<pid_t> idle;
    for (const auto& [owner, waited] : all)
        for (const Waited& each : waited) {
            ThreadPlace& thread = owner->threads[each.thread];
            std::error_code error;
            const auto [first, last] = pipes.equal_range(
                fs::read_symlink(fmt::format("/proc/{}/fd/{}", owner->pid, each.file), error).string());
            bool isOwn = false;
            for (auto end = first; end != last; ++end) {
                if (!(each.isWrite ? end->second.reads : end->second.writes)) continue;
                const auto peer = static_cast<uint32_t>(end->second.process);
                isOwn |= peer == owner->pid;
                if (peer != owner->pid && (thread.pipePeer == 0 || idle.contains(static_cast<pid_t>(thread.pipePeer))))
                    thread.pipePeer = peer;
            }
            thread.hasNoPeer = isOwn && thread.pipePeer == 0;
            if (thread.pipePeer == process.pid && !each.isWrite && each.thread == 0)
                idle.insert(static_cast<pid_t>(owner->pid));
        }
}

}  // namespace lanescope::capture
