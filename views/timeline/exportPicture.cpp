// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/timeline/exportPicture.h"

#include <QBuffer>
#include <QFileInfo>
#include <QPainter>
#include <QSaveFile>
#include <QSvgGenerator>

#include "views/timeline/TimelineView.h"

namespace lanescope::views {

QImage pictureOf(TimelineView& view) {
    const double ratio = view.devicePixelRatioF();
    QImage image((QSizeF(view.size()) * ratio).toSize(), QImage::Format_RGB32);
    image.setDevicePixelRatio(ratio);
    QPainter painter(&image);
    view.renderTo(&painter, view.size());
    return image;
}

namespace {

QByteArray asSvg(TimelineView& view) {
    QByteArray bytes;
    QBuffer buffer(&bytes);
    buffer.open(QIODevice::WriteOnly);
    QSvgGenerator generator;
    generator.setOutputDevice(&buffer);
    generator.setResolution(view.logicalDpiX());  // else text is smaller than measured
    generator.setSize(view.size());
    generator.setViewBox(QRect(QPoint(), view.size()));
    generator.setTitle(view.trace() ? QString::fromStdString(view.trace()->title) : QString());
    QPainter painter(&generator);
    view.renderTo(&painter, view.size());
    painter.end();
    return bytes;
}

}  // namespace

QByteArray pngOf(const QImage& picture) {
    QByteArray bytes;
    QBuffer buffer(&bytes);
    buffer.open(QIODevice::WriteOnly);
    picture.save(&buffer, "PNG");
    return bytes;
}

Result<void> exportPicture(TimelineView& view, const std::filesystem::path& path) {
    const QString name = QString::fromStdString(path.string());
    const QString ending = QFileInfo(name).suffix().toLower();
    const bool isSvg = ending == QStringLiteral("svg");
    if (!isSvg && ending != QStringLiteral("png"))
        return fail("A picture can be written as .png or .svg, but {} ends in neither.", path.string());
    const QByteArray bytes = isSvg ? asSvg(view) : pngOf(pictureOf(view));
    if (bytes.isEmpty())
        return fail("The picture for {} is empty; make the window larger and try again.", path.string());
    QSaveFile file(name);
    if (!file.open(QIODevice::WriteOnly) || file.write(bytes) != bytes.size() || !file.commit())
        return fail("Cannot write {}: {}. Choose another place.", path.string(), file.errorString().toStdString());
    return {};
}

}  // namespace lanescope::views
