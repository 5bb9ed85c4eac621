// SPDX-License-Identifier: Apache-2.0
#include "capture/collector/PythonLooks.h"

#include <fmt/format.h>

#include <algorithm>

#include "model/format/tables/Stacks.h"
#include "model/format/tables/ThreadStates.h"

namespace lanescope::capture {

namespace {

constexpr int64_t nearNs = 20'000'000;
constexpr size_t mostFrames = 256, mostRuns = 50'000'000;

}  // namespace

PythonLooks PythonLooks::read(const Database& database) {
    PythonLooks looks;
    constexpr const auto& t = tables::threadStates;
    constexpr const auto& s = tables::stacks;
    // Tables without rows are there until the trace is closed; what cannot be read leaves stacks
    // without Python.
    auto frames = database.prepare(fmt::format("SELECT {}, {}, {}, {}, {} FROM {}", s.id.name,
                                               s.parentId.name, s.functionId.name, s.fileId.name,
                                               s.line.name, s.tableName()));
    while (frames) {
        const auto row = frames->step();
        if (!row || !*row) break;
        looks.frames_.emplace(frames->integer(0), Frame{frames->integer(1), frames->integer(2),
                                                        frames->integer(3), frames->integer(4)});
    }
    if (looks.frames_.empty()) return looks;
    auto runs = database.prepare(
        fmt::format("SELECT {0}, \"start\", \"end\", {1} FROM {2} WHERE {1} IS NOT NULL",
                    t.globalTid.name, t.callchainId.name, t.tableName()));
    size_t count = 0;
    while (runs && count++ < mostRuns) {
        const auto row = runs->step();
        if (!row || !*row) break;
        looks.runs_[runs->integer(0)].push_back(
            {runs->integer(1), runs->integer(2), runs->integer(3)});
    }
    for (auto& [thread, all] : looks.runs_) std::ranges::sort(all, {}, &Run::startNs);
    return looks;
}

std::span<const PythonLooks::Frame> PythonLooks::at(int64_t globalTid, int64_t timeNs) {
    found_.clear();
    const auto known = runs_.find(globalTid);
    if (known == runs_.end()) return {};
    const std::vector<Run>& runs = known->second;
    const auto next = std::ranges::upper_bound(runs, timeNs, {}, &Run::startNs);
    const auto distance = [&](const Run& run) {
        // A damaged log's times may lie further apart than fits with a sign.
        const auto apart = [](int64_t from, int64_t to) {
            return static_cast<uint64_t>(to) - static_cast<uint64_t>(from);
        };
        if (timeNs < run.startNs) return apart(timeNs, run.startNs);
        return timeNs > run.endNs ? apart(run.endNs, timeNs) : uint64_t{0};
    };
    const Run* nearest = next == runs.end() ? nullptr : &*next;
    if (next != runs.begin() &&
        (nearest == nullptr || distance(*std::prev(next)) <= distance(*nearest)))
        nearest = &*std::prev(next);
    if (nearest == nullptr || distance(*nearest) > uint64_t{nearNs}) return {};
    for (int64_t at = nearest->stack; at != 0 && found_.size() < mostFrames;) {
        const auto frame = frames_.find(at);
        if (frame == frames_.end()) break;
        found_.push_back(frame->second);
        at = frame->second.parent;
    }
    return found_;
}

}  // namespace lanescope::capture
