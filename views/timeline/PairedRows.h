// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>
#include <vector>

#include "model/compare/matchContributors.h"
#include "views/timeline/TimelineState.h"

namespace lanescope::views {

/// Arranges the rows of two timelines in one column: each track of the second directly under its counterpart in the
/// first. Both are folded, hidden, pinned, filtered, ordered and scrolled alike. GUI thread.
class PairedRows : public QObject {
    Q_OBJECT
  public:
    /// The states outlive this. `pairs` belong to their traces.
    PairedRows(TimelineState& first, TimelineState& second, std::vector<compare::TrackPair> pairs,
               QObject* parent = nullptr);

    /// Returns the state that keys apply to: the one with the selected event, else the first.
    TimelineState& active() const { return second_.selection().event().isValid() ? second_ : first_; }
    /// Selects in the other timeline the slice nearest to the selected one, in the same lane of the
    /// counterpart. Does nothing without a selected event or a counterpart.
    void selectCounterpart();

  private:
    void joinTrees();
    void follow(TimelineState& changed, TimelineState& other);
    void copyMarks(const TrackLayout& from, TrackLayout& to, bool isFirst) const;
    void orderLike(const TrackLayout& changed, bool isFirst);
    /// A track that stays because its counterpart matches the filter stays on both sides.
    void joinFilters();
    std::vector<uint32_t> preOrder() const;
    void arrange();
    uint32_t trackOf(uint32_t pair, bool isFirst) const {
        return isFirst ? pairs_[pair].baseline : pairs_[pair].candidate;
    }

    TimelineState& first_;
    TimelineState& second_;
    std::vector<compare::TrackPair> pairs_;
    std::vector<std::vector<uint32_t>> children_;  // pairs by pair, in order; the last are on top
    bool isArranging_ = false;
};

}  // namespace lanescope::views
