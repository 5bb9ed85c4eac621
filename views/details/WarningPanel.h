// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QLabel>
#include <QToolButton>
#include <QWidget>
#include <vector>

#include "model/trace/Trace.h"
#include "views/tables/Panel.h"
#include "views/text/shownText.h"
#include "views/theme/Theme.h"

namespace lanescope {
struct DescribedThing;
struct DescribedTrace;
}  // namespace lanescope

namespace lanescope::views {

/// A banner over an incomplete or inconsistent trace: the most severe sentence, the number of
/// others, and a link to all. Hidden while there is no warning.
class WarningBar : public QWidget {
    Q_OBJECT
  public:
    explicit WarningBar(QWidget* parent = nullptr);

    /// Shows the warnings and errors of `notes`; information alone does not show the banner.
    void setNotes(const std::vector<HealthNote>& notes);
    /// Offers to show the place of the most severe note.
    void setPlaceKnown(bool isKnown);
    /// Returns the most severe of the notes; its sentence is empty if none is shown.
    const HealthNote& worst() const { return worstNote_; }
    void setTheme(const Theme& theme);
    QString text() const { return label_->text(); }

  signals:
    void detailsRequested();
    /// Emitted when the user asks to see the place.
    void placeRequested();

  protected:
    void paintEvent(QPaintEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;

  private:
    void updateColors();

    Theme theme_ = Theme::light();
    HealthNote worstNote_;
    QLabel* label_ = new WrappedLabel(this);
    QToolButton* more_ = new QToolButton(this);
    QToolButton* place_ = new QToolButton(this);
    QToolButton* close_ = new QToolButton(this);
};

class FactSheet;

/// The result of `describeTrace`: losses and caveats, the recorded data, the machine and the method.
class WarningPanel : public Panel {
    Q_OBJECT
  public:
    explicit WarningPanel(QWidget* parent = nullptr);

    void setTrace(TracePtr trace) override;
    void setTheme(const Theme& theme) override;

  private:
    void refresh();
    void showNotes(const DescribedTrace& description);
    void showFacts(const DescribedTrace& description);
    void showThings(const QString& heading, const std::vector<DescribedThing>& things);

    TracePtr trace_;
    Theme theme_ = Theme::light();
    FactSheet* notes_;
    FactSheet* facts_;
};

}  // namespace lanescope::views
