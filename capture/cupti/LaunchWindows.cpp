// SPDX-License-Identifier: Apache-2.0
#include "capture/cupti/LaunchWindows.h"

#include <algorithm>

namespace lanescope::agent {

namespace {

constexpr size_t mostLatest = 2048;
constexpr size_t mostNear = 4096;
constexpr size_t mostEdges = 2 * Windows::mostRemembered;
constexpr int64_t nearNs = 5'000'000;  // by so much a call may come late among others

/// Whether number `a` was given before `b`; they wrap around after 2^32 calls.
bool isBefore(uint32_t a, uint32_t b) {
    return static_cast<int32_t>(a - b) < 0;
}

}  // namespace

void LaunchWindows::refresh() {
    for (const Windows::Window& window : windows_.windows()) {
        if (window.index < nextWindow_) continue;
        const bool knowsBegin = window.index == nextWindow_ && knowsBegin_;
        if (!knowsBegin) addEdge(window.beginNs, true);
        const bool hasEnded = window.endNs != Windows::never;
        if (hasEnded) addEdge(window.endNs, false);
        nextWindow_ = window.index + (hasEnded ? 1 : 0);
        knowsBegin_ = !hasEnded;
    }
    while (edges_.size() > mostEdges) edges_.pop_front();
}

void LaunchWindows::addEdge(int64_t ns, bool isBegin) {
    Edge edge{ns, isBegin, false, false, 0, 0, {}};
    // All calls so far were handed over before this edge was learned, hence began before it, but
    // for those that the ring still has.
    for (const Call& call : latest_) {
        if (call.startNs > ns - nearNs) edge.near.emplace(call.correlationId, call.startNs);
        const bool isEarlier = call.startNs < ns;
        if (isEarlier && (!edge.hasBefore || isBefore(edge.lastBefore, call.correlationId))) {
            edge.hasBefore = true;
            edge.lastBefore = call.correlationId;
        }
        if (!isEarlier && (!edge.hasAfter || isBefore(call.correlationId, edge.firstAfter))) {
            edge.hasAfter = true;
            edge.firstAfter = call.correlationId;
        }
    }
    edges_.push_back(std::move(edge));
}

void LaunchWindows::sawCall(uint32_t correlationId, int64_t startNs) {
    if (latest_.size() < mostLatest) {
        latest_.push_back({correlationId, startNs});
    } else {
        latest_[nextLatest_++ % mostLatest] = {correlationId, startNs};
    }
    for (auto edge = edges_.rbegin(); edge != edges_.rend() && edge->ns > startNs - nearNs;
         ++edge) {
        if (edge->ns < startNs + nearNs && edge->near.size() < mostNear)
            edge->near.emplace(correlationId, startNs);
    }
    // Only the two edges around a call learn its number; for the others those in between speak.
    const auto after = std::find_if(edges_.rbegin(), edges_.rend(),
                                    [&](const Edge& edge) { return edge.ns <= startNs; });
    if (after != edges_.rend()) {
        if (!after->hasAfter || isBefore(correlationId, after->firstAfter))
            after->firstAfter = correlationId;
        after->hasAfter = true;
    }
    if (after != edges_.rbegin()) {
        Edge& before = *std::prev(after);
        if (!before.hasBefore || isBefore(before.lastBefore, correlationId))
            before.lastBefore = correlationId;
        before.hasBefore = true;
    }
}

LaunchWindows::Side LaunchWindows::sideOf(const Edge& edge, uint32_t correlationId, int64_t ranNs) {
    if (const auto found = edge.near.find(correlationId); found != edge.near.end())
        return found->second < edge.ns ? Side::Before : Side::After;
    if (ranNs > 0 && ranNs < edge.ns) return Side::Before;  // nothing runs before it is launched
    const bool mayBeAfter = edge.hasAfter && !isBefore(correlationId, edge.firstAfter);
    const bool mayBeBefore = edge.hasBefore && !isBefore(edge.lastBefore, correlationId);
    if (mayBeAfter == mayBeBefore) return Side::NotYetKnown;
    return mayBeAfter ? Side::After : Side::Before;
}

LaunchWindows::Answer LaunchWindows::answer(uint32_t correlationId, int64_t ranNs,
                                            bool mustDecide) const {
    if (!knowsCalls_) return windows_.isOpenAt(ranNs) ? Answer::Inside : Answer::Outside;
    for (auto edge = edges_.rbegin(); edge != edges_.rend(); ++edge) {
        Side side = sideOf(*edge, correlationId, ranNs);
        if (side == Side::NotYetKnown) {
            if (!mustDecide) return Answer::NotYetKnown;
            // Launched by a call that is not recorded, between two that are.
            side = edge->hasAfter && ranNs > 0 ? Side::After : Side::Before;
        }
        if (side == Side::After) return edge->isBegin ? Answer::Inside : Answer::Outside;
    }
    return Answer::Outside;
}

LaunchWindows::Answer LaunchWindows::find(uint32_t correlationId, int64_t ranNs) const {
    return answer(correlationId, ranNs, false);
}

LaunchWindows::Answer LaunchWindows::guess(uint32_t correlationId, int64_t ranNs) const {
    return answer(correlationId, ranNs, true);
}

}  // namespace lanescope::agent
