// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>
#include <optional>

#include "model/compare/IdleGaps.h"
#include "model/trace/Trace.h"
#include "views/theme/Theme.h"

namespace lanescope::views {

class FactSheet;

/// What is known of a time in which a GPU did nothing: why, what came before and after, which
/// thread it waited for, and how much of that there is in the run.
class IdleCard : public QWidget {
    Q_OBJECT
  public:
    explicit IdleCard(QWidget* parent = nullptr);

    /// `gaps` is of `trace`.
    void setGap(const TracePtr& trace, std::shared_ptr<const compare::IdleGaps> gaps,
                compare::IdleGaps::Place place);
    void setTheme(const Theme& theme);
    FactSheet& sheet() const { return *sheet_; }

  signals:
    /// The user follows a link to an event.
    void eventActivated(lanescope::EventRef event);

  private:
    void refresh();
    void addCauses(const std::vector<compare::IdleCause>& causes, TimeRange gap);
    void addThreads(const compare::IdleGap& gap);
    void addNeighbours(const compare::IdleGap& gap);
    void addLink(const QString& heading, EventRef event);

    TracePtr trace_;
    std::shared_ptr<const compare::IdleGaps> gaps_;
    compare::IdleGaps::Place place_;
    Theme theme_ = Theme::light();
    FactSheet* sheet_;
};

}  // namespace lanescope::views
