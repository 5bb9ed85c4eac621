// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/theme/applyTheme.h"

#include <QApplication>
#include <QPalette>
#include <QStyleFactory>
#include <QToolTip>

namespace lanescope::views {
namespace {

QPalette paletteFor(const Theme& theme) {
    QPalette palette;
    palette.setColor(QPalette::Window, theme.window);
    palette.setColor(QPalette::WindowText, theme.text);
    palette.setColor(QPalette::Base, theme.canvas);
    palette.setColor(QPalette::AlternateBase, theme.panel);
    palette.setColor(QPalette::Text, theme.text);
    palette.setColor(QPalette::PlaceholderText, theme.mutedText);
    palette.setColor(QPalette::Button, theme.panel);
    palette.setColor(QPalette::ButtonText, theme.text);
    palette.setColor(QPalette::BrightText, theme.error);
    palette.setColor(QPalette::ToolTipBase, theme.card);
    palette.setColor(QPalette::ToolTipText, theme.text);
    palette.setColor(QPalette::Highlight, theme.accent);
    palette.setColor(QPalette::HighlightedText, theme.accentText);
    palette.setColor(QPalette::Link, theme.accent);
    palette.setColor(QPalette::LinkVisited, theme.accent);
    palette.setColor(QPalette::Light,
                     Theme::mix(theme.panel, theme.text, theme.isDark ? 0.12 : 0.0));
    palette.setColor(QPalette::Midlight, Theme::mix(theme.panel, theme.text, 0.06));
    palette.setColor(QPalette::Mid, theme.separator);
    palette.setColor(QPalette::Dark, Theme::mix(theme.separator, theme.text, 0.15));
    palette.setColor(QPalette::Shadow, Theme::mix(theme.window, QColor(Qt::black), 0.5));

    const QColor disabled = Theme::mix(theme.window, theme.mutedText, 0.6);
    for (const auto role :
         {QPalette::WindowText, QPalette::Text, QPalette::ButtonText, QPalette::HighlightedText}) {
        palette.setColor(QPalette::Disabled, role, disabled);
    }
    palette.setColor(QPalette::Disabled, QPalette::Highlight, theme.separator);
    return palette;
}

}  // namespace

void applyTheme(QApplication& application, const Theme& theme) {
    // Fusion draws from the palette alone, so both themes look the same on every desktop.
    application.setStyle(QStyleFactory::create(QStringLiteral("Fusion")));
    const QPalette palette = paletteFor(theme);
    application.setPalette(palette);
    QToolTip::setPalette(palette);
    application.setStyleSheet(
        QStringLiteral("QToolTip { color: %1; background: %2; border: 1px solid %3; padding: 4px; }"
                       "QSplitter::handle { background: %3; }"
                       "QSplitter::handle:horizontal { width: 1px; }"
                       "QSplitter::handle:vertical { height: 1px; }")
            .arg(theme.text.name(), theme.card.name(), theme.separator.name()));
}

}  // namespace lanescope::views
