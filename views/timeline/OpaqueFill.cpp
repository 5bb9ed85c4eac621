// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/timeline/OpaqueFill.h"

#include <QImage>
#include <QRegion>
#include <algorithm>

namespace lanescope::views {
namespace {

/// Returns the writable image of the painter, or null.
QImage* imageUnder(const QPainter& painter) {
    auto* image = dynamic_cast<QImage*>(painter.device());
    if (image == nullptr) return nullptr;
    const bool isWritable = image->format() == QImage::Format_RGB32 || image->format() == QImage::Format_ARGB32 ||
                            image->format() == QImage::Format_ARGB32_Premultiplied;
    const bool isPlain = painter.opacity() == 1 && painter.compositionMode() == QPainter::CompositionMode_SourceOver &&
                         !painter.testRenderHint(QPainter::Antialiasing) &&
                         painter.deviceTransform().type() <= QTransform::TxScale &&
                         painter.deviceTransform().m11() > 0 && painter.deviceTransform().m22() > 0;
    return isWritable && isPlain ? image : nullptr;
}

}  // namespace

OpaqueFill::OpaqueFill(QPainter& painter) : painter_(painter) {
    QImage* image = imageUnder(painter);
    if (image == nullptr) return;
    const QTransform& transform = painter.deviceTransform();
    QRect allowed = image->rect();
    if (painter.hasClipping()) {
        const QRegion clip = painter.clipRegion();
        if (clip.rectCount() > 1) return;
        allowed &= transform.mapRect(clip.boundingRect());
    }
    scaleX_ = transform.m11();
    scaleY_ = transform.m22();
    shiftX_ = transform.dx();
    shiftY_ = transform.dy();
    left_ = allowed.left();
    top_ = allowed.top();
    right_ = allowed.left() + allowed.width();
    bottom_ = allowed.top() + allowed.height();
    pixels_ = reinterpret_cast<QRgb*>(image->bits());
    lineStep_ = image->bytesPerLine() / static_cast<qsizetype>(sizeof(QRgb));
}

void OpaqueFill::fillPixels(const QRectF& area, QRgb color) {
    // Edges are rounded like the painter's.
    const double x = area.x() * scaleX_ + shiftX_;
    const double y = area.y() * scaleY_ + shiftY_;
    const int left = std::max(left_, qRound(x));
    const int right = std::min(right_, qRound(x + area.width() * scaleX_));
    const int top = std::max(top_, qRound(y));
    const int bottom = std::min(bottom_, qRound(y + area.height() * scaleY_));
    if (left >= right || top >= bottom) return;
    QRgb* line = pixels_ + top * lineStep_ + left;
    const int width = right - left;
    if (width == 1) {
        for (int row = top; row < bottom; ++row, line += lineStep_) *line = color;
        return;
    }
    for (int row = top; row < bottom; ++row, line += lineStep_) std::fill_n(line, width, color);
}

}  // namespace lanescope::views
