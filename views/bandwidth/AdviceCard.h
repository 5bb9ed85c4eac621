// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QFrame>
#include <vector>

#include "model/bandwidth/BandwidthAdvice.h"
#include "views/theme/Theme.h"

class QToolButton;
class QVBoxLayout;

namespace lanescope::views {

/// What could be better about the copies, in sentences, the greatest gain first. Each has a button
/// that shows the copy it is told by. Hidden while there is nothing to say.
class AdviceCard : public QFrame {
    Q_OBJECT
  public:
    explicit AdviceCard(QWidget* parent = nullptr);

    void setAdvice(const std::vector<BandwidthAdvice>& advice);
    void setTheme(const Theme& theme);
    /// What is on the screen, a sentence each.
    QStringList sentences() const;
    /// The button beside sentence `index`.
    QToolButton* button(int index) const;

  signals:
    void exampleActivated(lanescope::EventRef event);

  protected:
    void changeEvent(QEvent* event) override;

  private:
    void rebuild();
    void addLine(const BandwidthAdvice& advice);
    void style();

    std::vector<BandwidthAdvice> advice_;
    bool showsAll_ = false;
    Theme theme_ = Theme::light();
    QVBoxLayout* lines_;
    QWidget* page_ = nullptr;
    std::vector<QToolButton*> buttons_;
    QStringList sentences_;
};

}  // namespace lanescope::views
