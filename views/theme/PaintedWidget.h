// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QHelpEvent>
#include <QToolTip>
#include <QWidget>
#include <optional>

#include "views/theme/Theme.h"

class QCustomPlot;

namespace lanescope::views {

/// A widget with a tool tip for each place.
class TippedWidget : public QWidget {
  public:
    using QWidget::QWidget;

  protected:
    /// Returns the tool tip of a place, as rich text; empty for none there, nullopt if the widget has no tips.
    virtual std::optional<QString> toolTipAt(QPoint) const { return std::nullopt; }

    bool event(QEvent* event) override {
        const auto* help = event->type() == QEvent::ToolTip ? static_cast<QHelpEvent*>(event) : nullptr;
        const auto tip = help ? toolTipAt(help->pos()) : std::nullopt;
        if (!tip) return QWidget::event(event);
        QToolTip::showText(help->globalPos(), *tip, this);
        return true;
    }
};

/// A widget that paints itself in the colours of a theme.
class PaintedWidget : public TippedWidget {
  public:
    using TippedWidget::TippedWidget;

    void setTheme(const Theme& theme) {
        theme_ = theme;
        themeChanged();
    }

  protected:
    virtual void themeChanged() { update(); }

    Theme theme_ = Theme::light();
};

/// A widget filled by one plot. It gets the keyboard focus and shows it. A subclass calls `rebuild`
/// at the end of its constructor.
class PlotWidget : public QWidget {
    Q_OBJECT
  public:
    void setTheme(const Theme& theme);
    QCustomPlot& plot() const { return *plot_; }

  protected:
    explicit PlotWidget(QWidget* parent);

    /// Draws everything, for another theme or size too.
    void rebuild();
    /// Draws into the empty plot.
    virtual void draw() = 0;
    /// Handles an event of the plot. Returns true if it is consumed.
    virtual bool plotEvent(QEvent* event) = 0;

    void focusInEvent(QFocusEvent* event) override;
    void focusOutEvent(QFocusEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;

    Theme theme_ = Theme::light();
    QCustomPlot* const plot_;
};

}  // namespace lanescope::views
