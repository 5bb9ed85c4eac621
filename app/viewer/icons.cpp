// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/viewer/icons.h"

#include <QFile>
#include <QIconEngine>
#include <QPainter>
#include <QPixmap>
#include <QSvgRenderer>
#include <utility>

// Q_INIT_RESOURCE declares a function, so it must stand outside of any namespace.
static void initializeResources() {
    Q_INIT_RESOURCE(lanescope);
}

namespace lanescope::viewer {
namespace {

/// Draws an icon anew for every size that is asked for, so that it is sharp on any screen.
class DrawnIcon : public QIconEngine {
  public:
    DrawnIcon(QByteArray enabled, QByteArray disabled)
        : enabled_(std::move(enabled)), disabled_(std::move(disabled)) {}

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

void registerIcons() {
    initializeResources();
}

QIcon themedIcon(const QString& name, const views::Theme& theme) {
    QFile file(":/icons/" + name + ".svg");
    if (!file.open(QIODevice::ReadOnly)) return {};
    const QByteArray drawing = file.readAll();
    const auto inColor = [&](const QColor& color) {
        return QByteArray(drawing).replace("#000000", color.name().toLatin1());
    };
    return QIcon(new DrawnIcon(inColor(theme.text),
                               inColor(views::Theme::mix(theme.window, theme.mutedText, 0.45))));
}

QIcon applicationIcon() {
    return QIcon(":/lanescope.svg");
}

}  // namespace lanescope::viewer
