// SPDX-License-Identifier: Apache-2.0
#include "model/compare/trackPairs.h"

#include <fmt/format.h>

#include <algorithm>

namespace lanescope::compare {

namespace {

// A corrupt or strange trace may have thousands of threads; pairing them by name is too expensive.
constexpr size_t maxCells = 4'000'000;

/// Returns the children of each track, and the top tracks at the end.
std::vector<std::vector<uint32_t>> childrenOf(const Trace& trace) {
    std::vector<std::vector<uint32_t>> children(trace.tracks.size() + 1);
    for (uint32_t track = 0; track < trace.tracks.size(); ++track) {
        const int32_t parent = trace.tracks[track].parent;
        const bool isInside = parent >= 0 && static_cast<uint32_t>(parent) < track;
        children[isInside ? static_cast<size_t>(parent) : trace.tracks.size()].push_back(track);
    }
    return children;
}

bool isNccl(const Track& track) {
    return std::any_of(track.lanes.begin(), track.lanes.end(),
                       [](const Lane& lane) { return lane.size() > 0 && isOfNcclKernel(lane.category.front()); });
}

std::string rankText(const Trace& trace, uint32_t process) {
    if (process >= trace.processes.size()) return {};
    const auto& rank = trace.processes[process].rank;
    return rank ? fmt::format("rank {}", *rank) : std::string();
}

/// Returns the key that equal tracks share: without anything that differs from run to run, such as process ids.
std::string keyOf(const Trace& trace, const Track& track) {
    std::string owner;
    if (track.kind == TrackKind::Process) {
        owner = rankText(trace, track.subject);
        if (owner.empty() && track.subject < trace.processes.size()) owner = trace.processes[track.subject].name;
        return fmt::format("{}|{}", static_cast<int>(track.kind), owner);
    }
    if (track.kind == TrackKind::Stream && track.subject < trace.streams.size()) {
        owner = rankText(trace, trace.streams[track.subject].process);
        if (isNccl(track)) owner += " NCCL";
        // Their titles also contain their purpose, which a few more copies may change.
        return fmt::format("{}|{}|{}", static_cast<int>(track.kind), owner, trace.streams[track.subject].streamId);
    }
    return fmt::format("{}|{}|{}", static_cast<int>(track.kind), owner, track.title);
}

/// Returns a shorter key, by which the remaining tracks are paired.
std::string looseKeyOf(const Trace& trace, const Track& track) {
    std::string owner;
    if (track.kind == TrackKind::Stream && track.subject < trace.streams.size()) {
        owner = rankText(trace, trace.streams[track.subject].process);
        if (isNccl(track)) owner += " NCCL";
    }
    return fmt::format("{}|{}", static_cast<int>(track.kind), owner);
}

using Keys = std::vector<std::string>;

/// Returns the longest common subsequence of two lists of keys, as pairs of indices in order of both.
std::vector<std::pair<size_t, size_t>> commonKeys(const Keys& a, const Keys& b) {
    std::vector<std::pair<size_t, size_t>> common;
    if (a.size() * b.size() > maxCells) return common;
    std::vector<std::vector<uint32_t>> length(a.size() + 1, std::vector<uint32_t>(b.size() + 1, 0));
    for (size_t i = a.size(); i-- > 0;) {
        for (size_t j = b.size(); j-- > 0;) {
            length[i][j] = a[i] == b[j] ? length[i + 1][j + 1] + 1 : std::max(length[i + 1][j], length[i][j + 1]);
        }
    }
    for (size_t i = 0, j = 0; i < a.size() && j < b.size();) {
        if (a[i] == b[j]) {
            common.emplace_back(i++, j++);
        } else {
            (length[i + 1][j] >= length[i][j + 1] ? i : j) += 1;
        }
    }
    return common;
}

class Pairing {
  public:
    Pairing(const Trace& baseline, const Trace& candidate)
        : baseline_(baseline),
          candidate_(candidate),
          baselineChildren_(childrenOf(baseline)),
          candidateChildren_(childrenOf(candidate)) {}

    std::vector<TrackPair> run() {
        pairLists(baselineChildren_.back(), candidateChildren_.back());
        return std::move(pairs_);
    }

  private:
    using List = std::vector<uint32_t>;

    template <class KeyOf>
    static Keys keys(const Trace& trace, const List& tracks, KeyOf keyOf) {
        Keys all;
        for (const uint32_t track : tracks) all.push_back(keyOf(trace, trace.tracks[track]));
        return all;
    }

    template <class KeyOf, class Between>
    void pairBy(KeyOf keyOf, const List& a, const List& b, Between between) {
        size_t nextA = 0, nextB = 0;
        const auto rest = [&](size_t untilA, size_t untilB) {
            between(List(a.begin() + ptrdiff_t(nextA), a.begin() + ptrdiff_t(untilA)),
                    List(b.begin() + ptrdiff_t(nextB), b.begin() + ptrdiff_t(untilB)));
        };
        for (const auto& [i, j] : commonKeys(keys(baseline_, a, keyOf), keys(candidate_, b, keyOf))) {
            rest(i, j);
            pairs_.push_back({a[i], b[j]});
            pairLists(baselineChildren_[a[i]], candidateChildren_[b[j]]);
            nextA = i + 1;
            nextB = j + 1;
        }
        rest(a.size(), b.size());
    }

    void pairLists(const List& a, const List& b) {
        pairBy(keyOf, a, b, [this](const List& restA, const List& restB) {
            pairBy(looseKeyOf, restA, restB, [this](const List& aloneA, const List& aloneB) {
                for (const uint32_t track : aloneA) addAlone(track, true);
                for (const uint32_t track : aloneB) addAlone(track, false);
            });
        });
    }

    void addAlone(uint32_t track, bool isBaseline) {
        pairs_.push_back(isBaseline ? TrackPair{track, noIndex} : TrackPair{noIndex, track});
        const auto& children = isBaseline ? baselineChildren_[track] : candidateChildren_[track];
        for (const uint32_t child : children) addAlone(child, isBaseline);
    }

    const Trace& baseline_;
    const Trace& candidate_;
    std::vector<List> baselineChildren_, candidateChildren_;
    std::vector<TrackPair> pairs_;
};

}  // namespace

std::vector<TrackPair> pairTracks(const Trace& baseline, const Trace& candidate) {
    return Pairing(baseline, candidate).run();
}

}  // namespace lanescope::compare
