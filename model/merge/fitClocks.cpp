// SPDX-License-Identifier: Apache-2.0
#include "model/merge/fitClocks.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <utility>

#include "model/merge/findSetting.h"
#include "model/merge/fitLines.h"

namespace lanescope {

namespace {

/// More is no clock that is set now and then.
constexpr size_t mostSettings = 32;

/// Each clock in pieces, of which each is fitted as a clock of its own. The first piece of the
/// first clock is what all are told by.
class Pieces {
  public:
    explicit Pieces(uint32_t clockCount) : settings_(clockCount) {}

    size_t count() const {
        size_t all = settings_.size();
        for (const auto& each : settings_) all += each.size();
        return all;
    }
    size_t settingCount() const { return count() - settings_.size(); }
    const std::vector<Jump>& settingsOf(size_t clock) const { return settings_[clock]; }
    void add(size_t clock, const Jump& jump) {
        auto& own = settings_[clock];
        own.insert(
            std::upper_bound(own.begin(), own.end(), jump,
                             [](const Jump& a, const Jump& b) { return a.afterNs < b.afterNs; }),
            jump);
    }
    Jump remove(size_t clock, size_t place) {
        const auto at = settings_[clock].begin() + static_cast<std::ptrdiff_t>(place);
        const Jump jump = *at;
        settings_[clock].erase(at);
        return jump;
    }
    static int64_t timeOf(const Jump& jump) { return std::midpoint(jump.afterNs, jump.beforeNs); }

    /// Number of the first piece of a clock; the others follow.
    size_t firstOf(size_t clock) const {
        size_t first = clock;
        for (size_t before = 0; before < clock; ++before) first += settings_[before].size();
        return first;
    }
    size_t clockOf(size_t piece) const {
        size_t clock = 0;
        while (clock + 1 < settings_.size() && firstOf(clock + 1) <= piece) ++clock;
        return clock;
    }

    std::vector<CommonMoment> momentsOf(const std::vector<CommonMoment>& moments) const {
        if (settingCount() == 0) return moments;
        std::vector<size_t> firsts;
        for (size_t clock = 0; clock < settings_.size(); ++clock) firsts.push_back(firstOf(clock));
        std::vector<CommonMoment> made = moments;
        for (CommonMoment& moment : made)
            for (Sighting& each : moment.sightings) {
                const size_t clock = each.clock;
                const auto placeOf = [this, clock](int64_t timeNs) {
                    const auto& own = settings_[clock];
                    return static_cast<size_t>(std::upper_bound(own.begin(), own.end(), timeNs,
                                                                [](int64_t ns, const Jump& jump) {
                                                                    return ns < timeOf(jump);
                                                                }) -
                                               own.begin());
                };
                // What began by one piece and ended by another says nothing of who was first.
                if (placeOf(each.beginNs) != placeOf(each.endNs)) moment.isCausal = false;
                each.clock = static_cast<uint32_t>(firsts[clock] + placeOf(each.endNs));
            }
        return made;
    }

  private:
    std::vector<std::vector<Jump>> settings_;  ///< By clock, ascending.
};

struct Found {
    size_t clock = 0;
    Jump jump;
};

/// The surest setting that no piece knows of yet. Of two clocks each is as sure of the other's;
/// then it is the one that is told by the other.
std::optional<Found> surestSetting(const LineFit& fit, const Pieces& pieces) {
    constexpr double clearly = 1.5;
    std::optional<Found> surest;
    for (size_t piece = 0; piece < fit.distances.size(); ++piece) {
        const auto jump = findSetting(fit.distances[piece]);
        if (!jump) continue;
        const size_t clock = pieces.clockOf(piece);
        const bool isOfFirst = surest && surest->clock == 0 && clock != 0;
        const double needed = !surest     ? 0
                              : isOfFirst ? surest->jump.sureness / clearly
                                          : surest->jump.sureness;
        if (jump->sureness > needed) surest = Found{clock, *jump};
    }
    return surest;
}

/// Whether all pieces are tied to the first.
bool isKnown(const LineFit& fit, const LineFit& before, const Pieces& pieces, size_t clock) {
    const size_t first = pieces.firstOf(clock);
    for (size_t piece = first; piece <= first + pieces.settingsOf(clock).size(); ++piece)
        if (piece != 0 && fit.clocks[piece].moments == 0) return false;
    const auto found = [](const LineFit& each) {
        return std::count_if(each.clocks.begin(), each.clocks.end(),
                             [](const FittedLine& one) { return one.moments > 0; });
    };
    return found(fit) > found(before);
}

LineFit fitPieces(const Pieces& pieces, const std::vector<CommonMoment>& moments) {
    return fitLines(static_cast<uint32_t>(pieces.count()), pieces.momentsOf(moments));
}

/// Looks for settings until there are no more, and takes back those without which nothing jumps:
/// where one clock was set, others that meet it often seem to have been set, too.
LineFit findSettings(const std::vector<CommonMoment>& moments, Pieces& pieces, size_t clockCount) {
    LineFit fit = fitPieces(pieces, moments);
    while (pieces.settingCount() < mostSettings) {
        const auto found = surestSetting(fit, pieces);
        if (!found) break;
        Pieces more = pieces;
        more.add(found->clock, found->jump);
        LineFit better = fitPieces(more, moments);
        if (!isKnown(better, fit, more, found->clock)) break;
        pieces = std::move(more);
        fit = std::move(better);
    }
    if (pieces.settingCount() < 2) return fit;
    for (size_t clock = 0; clock < clockCount; ++clock)
        for (size_t place = 0; place < pieces.settingsOf(clock).size();) {
            Pieces less = pieces;
            less.remove(clock, place);
            LineFit without = fitPieces(less, moments);
            if (surestSetting(without, less)) {
                ++place;
                continue;
            }
            pieces = std::move(less);
            fit = std::move(without);
        }
    return fit;
}

FittedClock joined(const LineFit& fit, const Pieces& pieces, size_t clock) {
    const size_t first = pieces.firstOf(clock);
    const FittedLine& begin = fit.clocks[first];
    FittedClock out;
    static_cast<ClockLine&>(out.map) = begin.line;
    out.errorNs = begin.errorNs;
    out.moments = begin.moments;
    out.slackNs = begin.slackNs;
    for (const Jump& jump : pieces.settingsOf(clock)) {
        const FittedLine& next = fit.clocks[first + out.settings.size() + 1];
        const int64_t atNs = Pieces::timeOf(jump);
        const ClockLine& before = out.map.later.empty() ? out.map : out.map.later.back().line;
        // It showed more by as much less as the others then show more.
        out.settings.push_back({jump.afterNs, jump.beforeNs, before.at(atNs) - next.line.at(atNs)});
        out.map.later.push_back({atNs, next.line});
        out.errorNs = std::max(out.errorNs, next.errorNs);
        out.moments += next.moments;
        if (out.slackNs && next.slackNs)
            out.slackNs = TimeRange{std::max(out.slackNs->startNs, next.slackNs->startNs),
                                    std::min(out.slackNs->endNs, next.slackNs->endNs)};
        else if (next.slackNs)
            out.slackNs = next.slackNs;
    }
    return out;
}

}  // namespace

ClockFit fitClocks(uint32_t clockCount, const std::vector<CommonMoment>& moments) {
    Pieces pieces(clockCount);
    ClockFit out;
    if (clockCount == 0) return out;
    const LineFit fit = findSettings(moments, pieces, clockCount);
    for (size_t clock = 0; clock < clockCount; ++clock)
        out.clocks.push_back(joined(fit, pieces, clock));
    out.spreadNs = fit.spreadNs;
    out.violations = fit.violations;
    out.causalMoments = fit.causalMoments;
    return out;
}

}  // namespace lanescope
