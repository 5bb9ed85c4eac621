// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/tables/ScopeChoice.h"

#include "model/values/formatValue.h"
#include "views/text/toQString.h"
#include "views/timeline/timeTicks.h"

namespace lanescope::views {

ScopeChoice::ScopeChoice(QWidget* parent) : QComboBox(parent) {
    setAccessibleName(tr("Which time is counted"));
    addItems({tr("Selection, else all"), tr("Visible range"), tr("Whole trace")});
    setToolTip(tr("Which time is counted. Without a selected range, all of it."));
    connect(this, &QComboBox::currentIndexChanged, this, &ScopeChoice::countedChanged);
}

void ScopeChoice::setSelectedRange(std::optional<TimeRange> range) {
    if (range == selected_) return;
    selected_ = range;
    if (scope() == Scope::Selected) emit countedChanged();
}

void ScopeChoice::setVisibleRange(TimeRange range) {
    if (visible_ == range) return;
    visible_ = range;
    if (scope() == Scope::Visible) emit countedChanged();
}

std::optional<TimeRange> ScopeChoice::counted() const {
    switch (scope()) {
        case Scope::Selected:
            return selected_;
        case Scope::Visible:
            return visible_;
        case Scope::Whole:
            break;
    }
    return std::nullopt;
}

QString ScopeChoice::remark() const {
    const std::optional<TimeRange> range = counted();
    if (!range) return tr("Whole trace");
    return (scope() == Scope::Visible ? tr("Visible range, %1 from %2")
                                      : tr("Selected range, %1 from %2"))
        .arg(toQString(formatDuration(range->durationNs())), formatTime(range->startNs));
}

}  // namespace lanescope::views
