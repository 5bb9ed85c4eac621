// SPDX-License-Identifier: Apache-2.0
#include "model/flame/FlameTree.h"

#include <algorithm>
#include <charconv>

#include "model/export/foldedStacks.h"
#include "model/steps/rangePattern.h"
#include "model/trace/kinds/workStacks.h"

namespace lanescope {

namespace {

constexpr const char* nothingKnown = "(no range)";

/// The ranges that are open on each thread at some time.
class OpenRanges {
  public:
    explicit OpenRanges(const Trace& trace) : trace_(trace), tracksOf_(trace.threads.size()) {
        std::vector<size_t> most(trace.processes.size(), 0);
        leaderOf_.assign(trace.processes.size(), noIndex);
        std::vector<size_t> count(trace.threads.size(), 0);
        for (const Track& track : trace.tracks) {
            if (track.kind != TrackKind::ThreadNvtx) continue;
            tracksOf_[track.subject].push_back(&track);
            for (const Lane& lane : track.lanes) count[track.subject] += lane.size();
            const uint32_t process = trace.threads[track.subject].process;
            if (count[track.subject] <= most[process]) continue;
            most[process] = count[track.subject];
            leaderOf_[process] = track.subject;
        }
    }

    /// From outside inwards; of the thread that leads its process if the thread itself has none.
    std::vector<std::string> at(uint32_t thread, int64_t timeNs) const {
        std::vector<std::string> open = on(thread, timeNs);
        const uint32_t leader = leaderOf_[trace_.threads[thread].process];
        if (open.empty() && leader != noIndex && leader != thread) open = on(leader, timeNs);
        return open;
    }

  private:
    std::vector<std::string> on(uint32_t thread, int64_t timeNs) const {
        struct Open {
            int64_t startNs, durationNs;
            StringIndex name;
        };
        std::vector<Open> open;
        for (const Track* track : tracksOf_[thread]) {
            for (const Lane& lane : track->lanes) {
                const uint32_t slice = lane.firstEndingAt(timeNs);
                if (slice < lane.size() && lane.startNs[slice] <= timeNs)
                    open.push_back({lane.startNs[slice], lane.durationNs[slice], lane.name[slice]});
            }
        }
        std::stable_sort(open.begin(), open.end(), [](const Open& a, const Open& b) {
            return a.startNs != b.startNs ? a.startNs < b.startNs : a.durationNs > b.durationNs;
        });
        std::vector<std::string> names;
        for (const Open& each : open) names.push_back(rangePattern(trace_.strings.at(each.name)));
        return names;
    }

    const Trace& trace_;
    std::vector<std::vector<const Track*>> tracksOf_;
    std::vector<uint32_t> leaderOf_;  ///< By process.
};

}  // namespace

FlameTree::FlameTree() {
    nodes_.push_back({"all", 0, noIndex, 0, {}});
}

void FlameTree::add(const std::vector<std::string>& frames, int64_t ns) {
    if (ns <= 0) return;
    uint32_t at = 0;
    nodes_[0].totalNs += ns;
    for (const std::string& frame : frames) {
        const auto [found, isNew] =
            childOf_.try_emplace({at, frame}, static_cast<uint32_t>(nodes_.size()));
        if (isNew) {
            nodes_.push_back({frame, 0, at, nodes_[at].depth + 1, {}});
            nodes_[at].children.push_back(found->second);
        }
        at = found->second;
        nodes_[at].totalNs += ns;
    }
}

void FlameTree::sort() {
    for (Node& node : nodes_)
        std::stable_sort(node.children.begin(), node.children.end(),
                         [this](uint32_t a, uint32_t b) {
                             return nodes_[a].totalNs != nodes_[b].totalNs
                                        ? nodes_[a].totalNs > nodes_[b].totalNs
                                        : nodes_[a].name < nodes_[b].name;
                         });
}

uint32_t FlameTree::depth() const {
    uint32_t deepest = 0;
    for (const Node& node : nodes_) deepest = std::max(deepest, node.depth);
    return deepest;
}

FlameTree flameOfStacks(const Trace& trace) {
    FlameTree tree;
    writeFoldedStacks(trace, [&tree](std::string_view line) {
        // "frame;frame;kernel 1234\n"
        const size_t blank = line.rfind(' ');
        if (blank == std::string_view::npos) return true;
        int64_t ns = 0;
        std::from_chars(line.data() + blank + 1, line.data() + line.size(), ns);
        std::vector<std::string> frames;
        std::string_view rest = line.substr(0, blank);
        for (;;) {
            const size_t end = rest.find(';');
            frames.emplace_back(rest.substr(0, end));
            if (end == std::string_view::npos) break;
            rest.remove_prefix(end + 1);
        }
        tree.add(frames, ns);
        return true;
    });
    tree.sort();
    return tree;
}

FlameTree flameOfRanges(const Trace& trace) {
    FlameTree tree;
    const OpenRanges ranges(trace);
    forEachLaunchedWork(trace, [&](const LaunchedWork& work) {
        std::vector<std::string> frames;
        if (work.call != noIndex)
            frames = ranges.at(trace.apiCalls.thread[work.call], trace.apiCalls.startNs[work.call]);
        if (frames.empty()) frames.emplace_back(nothingKnown);
        frames.push_back(trace.nameOf(work.work));
        tree.add(frames, work.times.durationNs());
    });
    tree.sort();
    return tree;
}

}  // namespace lanescope
