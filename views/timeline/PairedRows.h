#pragma once

#include <QObject>
#include <vector>

#include "model/compare/trackPairs.h"
#include "views/timeline/TimelineState.h"

namespace lanescope {

/// Keeps the rows of two timelines in one column: each track of the second right under its
/// counterpart in the first, both folded alike and scrolled together. GUI thread.
class PairedRows : public QObject {
    Q_OBJECT

  public:
    /// The states outlive this. `pairs` belong to their traces.
    PairedRows(TimelineState& first, TimelineState& second, std::vector<TrackPair> pairs,
               QObject* parent = nullptr);

    /// The one with the selected event, else the first: which of the two the keys are about.
    TimelineState& active() const;
    /// Selects in the other timeline the slice nearest to the selected one, in the same lane of the
    /// counterpart. Does nothing without a selected event or a counterpart.
    void selectCounterpart();

  private:
    void follow(TimelineState& changed, TimelineState& other);
    void arrange();

    TimelineState& first_;
    TimelineState& second_;
    std::vector<TrackPair> pairs_;
    bool isArranging_ = false;
};

}  // namespace lanescope
