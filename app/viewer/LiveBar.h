// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>
#include <optional>

#include "model/trace/Trace.h"

class QLabel;
class QPushButton;

namespace lanescope::views {
class TimelineView;
struct Theme;
}  // namespace lanescope::views

namespace lanescope::viewer {

/// Says that a trace is still being recorded and how much there is of it, and keeps the end of it
/// in sight until the user looks elsewhere.
class LiveBar : public QWidget {
    Q_OBJECT

  public:
    explicit LiveBar(views::TimelineView& timeline, QWidget* parent = nullptr);

    bool isFollowing() const { return isFollowing_; }
    void setFollowing(bool isFollowing);
    QPushButton& followButton() const { return *follow_; }
    QString text() const;
    void setTheme(const views::Theme& theme);

    /// Around `TimelineView::setTrace`: what stood where, and that it stands there again, or at the
    /// new end.
    void beforeChange();
    void afterChange(const Trace& trace);
    /// Nothing more will come; an empty sentence hides the bar.
    void end(const QString& sentence);

  private:
    void noticeMove();
    void sayHowMuch(const Trace& trace);

    views::TimelineView& timeline_;
    QLabel* dot_;
    QLabel* text_;
    QPushButton* follow_;
    bool isFollowing_ = true;
    bool isChanging_ = false;
    bool wasFitted_ = true;
    TimeRange before_;
};

}  // namespace lanescope::viewer
