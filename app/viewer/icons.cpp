// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/viewer/icons.h"

#include <QFile>
#include <QPainter>
#include <QPixmap>
#include <QSvgRenderer>

// Q_INIT_RESOURCE declares a function, so it must stand outside of any namespace.
static void initializeResources() {
    Q_INIT_RESOURCE(lanescope);
}

namespace lanescope::viewer {
namespace {

QPixmap render(const QByteArray& svg, int size) {
    QSvgRenderer renderer(svg);
    QPixmap pixmap(size, size);
    pixmap.fill(Qt::transparent);
    QPainter painter(&pixmap);
    renderer.render(&painter);
    return pixmap;
}

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
    QIcon icon;
    for (const int size : {16, 20, 32, 40}) {
        icon.addPixmap(render(inColor(theme.text), size), QIcon::Normal);
        icon.addPixmap(
            render(inColor(views::Theme::mix(theme.window, theme.mutedText, 0.45)), size),
            QIcon::Disabled);
    }
    return icon;
}

QIcon applicationIcon() {
    return QIcon(":/lanescope.svg");
}

}  // namespace lanescope::viewer
