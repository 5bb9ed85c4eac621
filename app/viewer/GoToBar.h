// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QLabel>
#include <QPointer>

#include "app/viewer/Finder.h"
#include "views/jobs/LatestJob.h"
#include "views/text/typedText.h"
#include "views/timeline/TimelineView.h"

namespace lanescope::viewer {

/// Goes to a typed time, range or step of a timeline. Shows errors under the text.
class GoToBar : public PopupPanel {
    Q_OBJECT
  public:
    explicit GoToBar(QWidget* parent);

    /// Sets the timeline of the times; null for none.
    void setTimeline(views::TimelineView* timeline);
    void popUp() override;
    QString remark() const { return remark_->text(); }
    /// Returns true while a step is being searched.
    bool isSearching() const { return job_->isRunning(); }

  protected:
    void accept() override;
    QSize preferredSize() const override;

  private:
    void showStatus(const QString& sentence, bool isError);
    void showRange(TimeRange range);
    void showTime(int64_t timeNs);
    void findStep(const views::TimeTarget& target);

    QPointer<views::TimelineView> timeline_;
    QLabel* remark_;
    views::LatestJob* job_;
};

}  // namespace lanescope::viewer
