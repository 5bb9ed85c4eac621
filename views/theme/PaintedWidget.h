// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QHelpEvent>
#include <QToolTip>
#include <QWidget>
#include <optional>

#include "views/theme/Theme.h"

namespace lanescope::views {

/// A widget that paints itself in the colours of a theme.
class PaintedWidget : public QWidget {
  public:
    using QWidget::QWidget;

    void setTheme(const Theme& theme) {
        theme_ = theme;
        themeChanged();
    }

  protected:
    virtual void themeChanged() { update(); }
    /// Returns the tool tip of a place, as rich text; empty for none there, nullopt if the widget has no tips.
    virtual std::optional<QString> toolTipAt(QPoint) const { return std::nullopt; }

    bool event(QEvent* event) override {
        const auto* help = event->type() == QEvent::ToolTip ? static_cast<QHelpEvent*>(event) : nullptr;
        const auto tip = help ? toolTipAt(help->pos()) : std::nullopt;
        if (!tip) return QWidget::event(event);
        QToolTip::showText(help->globalPos(), *tip, this);
        return true;
    }

    Theme theme_ = Theme::light();
};

}  // namespace lanescope::views
