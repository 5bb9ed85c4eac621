// SPDX-License-Identifier: Apache-2.0
#include "model/trace/processes.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <map>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>
#include <utility>

namespace lanescope {

namespace {

/// Returns the part of a packed process id that is shared by all processes of a machine.
int64_t machineOf(const Process& process) {
    constexpr int64_t machines = int64_t{1} << 48;
    return process.globalPid / machines;
}

constexpr double minShare = 0.01;

}  // namespace

unsigned defaultThreads() { return std::clamp(std::thread::hardware_concurrency(), 1u, 4u); }

void runTasks(unsigned threads, const Tasks& tasks) {
    std::atomic<size_t> next{0};
    std::mutex mutex;
    std::exception_ptr error;
    const auto work = [&] {
        for (size_t task = next++; task < tasks.size(); task = next++) {
            try {
                tasks[task]();
            } catch (...) {
                const std::lock_guard lock(mutex);
                if (!error) error = std::current_exception();
                next = tasks.size();
            }
        }
    };
    std::vector<std::thread> others;
    const size_t count = std::min<size_t>(std::max(threads, 1u), tasks.size());
    try {
        for (size_t thread = 1; thread < count; ++thread) others.emplace_back(work);
    } catch (const std::system_error&) {
        // The system creates no more threads; the existing ones do all tasks.
    } catch (const std::bad_alloc&) {
        // No memory for another thread; the existing ones do all tasks.
    }
    work();
    for (std::thread& thread : others) thread.join();
    if (error) std::rethrow_exception(error);
}

std::string commandLineOf(const Trace& trace) {
    if (!trace.facts.commandLine.empty()) return trace.facts.commandLine;
    for (const Process& process : trace.processes)
        if (!process.facts->commandLine.empty()) return process.facts->commandLine;
    return {};
}

int64_t clockErrorNs(const Process& process) { return std::max<int64_t>(process.facts->clockErrorNs.value_or(0), 0); }

std::vector<uint32_t> parentProcesses(const Trace& trace) {
    std::map<std::pair<int64_t, uint32_t>, uint32_t> byNumber;
    const auto count = static_cast<uint32_t>(trace.processes.size());
    for (uint32_t process = 0; process < count; ++process)
        byNumber.try_emplace({machineOf(trace.processes[process]), trace.processes[process].pid}, process);
    std::vector<uint32_t> parents(count, noIndex);
    for (uint32_t process = 0; process < count; ++process) {
        const Process& info = trace.processes[process];
        const int64_t pid = info.facts->parentPid.value_or(-1);
        if (pid < 0 || pid > UINT32_MAX) continue;
        const auto parent = byNumber.find({machineOf(info), static_cast<uint32_t>(pid)});
        if (parent != byNumber.end() && parent->second != process) parents[process] = parent->second;
    }
    return parents;
}

std::vector<std::optional<int>> ranksServed(const Trace& trace) {
    const std::vector<uint32_t> parents = parentProcesses(trace);
    std::vector<std::optional<int>> ranks(parents.size());
    for (uint32_t process = 0; process < parents.size(); ++process) {
        uint32_t at = process;
        // Limit of ancestors, because a file may contain cycles.
        constexpr int maxGenerations = 16;
        for (int generation = 0; generation < maxGenerations && at != noIndex; ++generation) {
            if ((ranks[process] = trace.processes[at].rank)) break;
            at = parents[at];
        }
    }
    return ranks;
}

GpusOfProcesses::GpusOfProcesses(const Trace& trace) : gpus_(trace.processes.size()) {
    std::vector<std::map<uint32_t, double>> busyNs(trace.processes.size());
    for (const Track& track : trace.tracks) {
        if (track.kind != TrackKind::Stream) continue;
        const Stream& stream = trace.streams[track.subject];
        for (const Lane& lane : track.lanes)
            busyNs[stream.process][stream.gpu] += static_cast<double>(lane.busyBefore(lane.size()));
    }
    for (size_t process = 0; process < busyNs.size(); ++process) {
        const std::map<uint32_t, double>& spent = busyNs[process];
        double maxNs = 0;
        for (const auto& [gpu, ns] : spent) maxNs = std::max(maxNs, ns);
        std::vector<uint32_t>& gpus = gpus_[process];
        for (const auto& [gpu, ns] : spent)
            if (ns >= minShare * maxNs) gpus.push_back(gpu);
        counts_.push_back(gpus.size());
        if (gpus.size() <= maxGpus) continue;
        std::ranges::stable_sort(gpus, [&spent](uint32_t a, uint32_t b) { return spent.at(a) > spent.at(b); });
        gpus.resize(maxGpus);
        std::ranges::sort(gpus);
    }
}

}  // namespace lanescope
