// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/viewer/windowStyle.h"

#include <QFile>
#include <QIconEngine>
#include <QPainter>
#include <QPixmap>
#include <QSvgRenderer>
#include <utility>

// Q_INIT_RESOURCE declares a function, so it must be outside of any namespace.
static void initializeResources() { Q_INIT_RESOURCE(lanescope); }

namespace lanescope::viewer {
namespace {

/// Draws an icon again for every requested size, so that it is sharp on any screen.
class DrawnIcon : public QIconEngine {
  public:
    DrawnIcon(QByteArray enabled, QByteArray disabled) : enabled_(std::move(enabled)), disabled_(std::move(disabled)) {}

    void paint(QPainter* painter, const QRect& rect, QIcon::Mode mode, QIcon::State) override {
        QSvgRenderer renderer(mode == QIcon::Disabled ? disabled_ : enabled_);
        renderer.render(painter, rect);
    }
    /// `size` is in pixels of the screen.
    QPixmap pixmap(const QSize& size, QIcon::Mode mode, QIcon::State state) override {
        QPixmap pixmap(size);
        pixmap.fill(Qt::transparent);
        QPainter painter(&pixmap);
        paint(&painter, QRect(QPoint(), size), mode, state);
        return pixmap;
    }
    QIconEngine* clone() const override { return new DrawnIcon(*this); }

  private:
    QByteArray enabled_, disabled_;
};

}  // namespace

void registerIcons() { initializeResources(); }

QIcon themedIcon(const QString& name, const views::Theme& theme) {
    QFile file(":/icons/" + name + ".svg");
    if (!file.open(QIODevice::ReadOnly)) return {};
    const QByteArray drawing = file.readAll();
    const auto inColor = [&](const QColor& color) {
        return QByteArray(drawing).replace("#000000", color.name().toLatin1());
    };
    return QIcon(new DrawnIcon(inColor(theme.text), inColor(views::Theme::mix(theme.window, theme.mutedText, 0.45))));
}

QIcon applicationIcon() { return QIcon(":/lanescope.svg"); }

QString windowStyle(const views::Theme& theme) {
    const std::pair<const char*, QColor> colors[] = {
        {"{window}", theme.window},
        {"{canvas}", theme.canvas},
        {"{panel}", theme.panel},
        {"{raised}", views::Theme::mix(theme.window, theme.text, 0.07)},
        {"{tint}", views::Theme::mix(theme.window, theme.accent, 0.22)},
        {"{separator}", theme.separator},
        {"{edge}", views::Theme::mix(theme.separator, theme.mutedText, 0.5)},
        {"{handle}", views::Theme::mix(theme.panel, theme.mutedText, 0.4)},
        {"{text}", theme.text},
        {"{muted}", theme.mutedText},
        {"{accentText}", theme.accentText},
        {"{accent}", theme.accent},
    };
    initializeResources();
    QFile file(":/window.qss");
    QString style = file.open(QIODevice::ReadOnly) ? QString::fromUtf8(file.readAll()) : QString();
    for (const auto& [name, color] : colors) style.replace(QLatin1String(name), color.name());
    return style;
}

}  // namespace lanescope::viewer
