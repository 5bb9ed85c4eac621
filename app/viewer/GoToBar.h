// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QPointer>

#include "app/viewer/Finder.h"
#include "views/text/typedText.h"

class QLabel;

namespace lanescope::views {
class LatestJob;
class TimelineView;
}  // namespace lanescope::views

namespace lanescope::viewer {

/// Goes to a typed time, range or step of a timeline. What is wrong with the text stands under it.
class GoToBar : public PopupCard {
    Q_OBJECT
  public:
    explicit GoToBar(QWidget* parent);

    /// Which timeline the times are about; null for none.
    void setTimeline(views::TimelineView* timeline);
    void popUp() override;
    QString remark() const;
    /// A step is being looked for.
    bool isSearching() const;

  protected:
    void accept() override;
    QSize wantedSize() const override;

  private:
    void say(const QString& sentence, bool isError);
    void showRange(TimeRange range);
    void showMoment(int64_t timeNs);
    void findStep(const views::TimeTarget& target);

    QPointer<views::TimelineView> timeline_;
    QLabel* remark_;
    views::LatestJob* job_;
};

}  // namespace lanescope::viewer
