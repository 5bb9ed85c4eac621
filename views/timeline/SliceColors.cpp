// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/timeline/SliceColors.h"

#include <QImage>
#include <QRegion>
#include <algorithm>

#include "model/format/checksums.h"
#include "model/format/ncclFunctions.h"
#include "model/text/collectiveKernels.h"
#include "model/trace/kinds/Kernel.h"
#include "model/trace/kinds/eventFacts.h"
#include "model/trace/kinds/workModules.h"
#include "model/trace/stacks.h"

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

constexpr double greyShare = 0.3;
// More lines than hues exist, so each hue has several shades.
constexpr uint32_t hues = 8, shades = 3;
constexpr double shadeStep = 0.2;

/// One kernel, "SendRecv", does both. Unknown operations come last.
uint32_t numberOf(std::string_view operation) {
    if (operation == "Recv" || operation == "SendRecv") operation = "Send";
    const NcclFunction* function = findNcclFunction(operation);
    return static_cast<uint32_t>(function == nullptr ? ncclFunctions.size() : function - ncclFunctions.data());
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

void SliceColors::reset(TracePtr trace, const Theme& theme, ColorMode mode) {
    trace_ = std::move(trace);
    theme_ = theme;
    mode_ = mode;
    grey_ = Theme::mix(theme_.canvas, theme_.mutedText, greyShare).rgb();
    const size_t nameCount = trace_ ? trace_->strings.size() : 0;
    byKernelName_.reset(nameCount);
    byRangeName_.reset(nameCount);
    byOperation_.reset(nameCount);
    const bool isByPython = mode == ColorMode::PythonLine || mode == ColorMode::PythonFunction;
    places_ = trace_ && isByPython ? ownPlaces(*trace_) : std::vector<uint32_t>();
    byPlace_.reset(places_.size());
    operations_.clear();
    if (trace_ && mode == ColorMode::NcclOperation)
        for (const LaunchConfig& config : trace_->launchConfigs)
            if (config.isCollective()) operations_.insert(kinds::Kernel::nameIndex(config), config.collective);
    for (size_t i = 0; i < byCategory_.size(); ++i)
        byCategory_[i] = theme_.colorOf(static_cast<SliceCategory>(i)).rgb();
    textByFill_.clear();
}

QRgb SliceColors::fillOf(const Lane& lane, const DrawnSlice& drawn) {
    switch (mode_) {
        case ColorMode::Kind: return fillOf(drawn.category);
        case ColorMode::Stream: return colorByStream(lane, drawn.slice);
        case ColorMode::NcclOperation: return colorByOperation(drawn);
        case ColorMode::PythonLine:
        case ColorMode::PythonFunction: return colorByPython(lane.event[drawn.slice]);
        case ColorMode::Name: break;
    }
    return colorByName(lane, drawn);
}

QRgb SliceColors::fillOfRun(const Lane& lane, const DrawnSlice& drawn) {
    const bool isByCategory = mode_ == ColorMode::Name || mode_ == ColorMode::Kind;
    return isByCategory ? fillOf(drawn.category) : fillOf(lane, drawn);
}

QRgb SliceColors::colorByName(const Lane& lane, const DrawnSlice& drawn) {
    const auto& [slice, category, name] = drawn;
    const bool isRange = category == SliceCategory::Nvtx || category == SliceCategory::Projection;
    if (isRange) {
        if (trace_->nvtx.hasColors)
            if (const QRgb color = programColor(lane.event[slice])) return color;
    } else if (category != SliceCategory::Kernel) {
        return fillOf(category);
    }
    QRgb* const known = (isRange ? byRangeName_ : byKernelName_).at(name);
    if (known == nullptr) return fillOf(category);
    if (*known == 0) *known = theme_.colorOf(category, trace_->strings.at(name)).rgb();
    return *known;
}

QRgb SliceColors::colorByStream(const Lane& lane, uint32_t slice) const {
    const uint32_t stream = streamOf(*trace_, lane.event[slice]);
    return stream == noIndex ? grey_ : theme_.colorOfNumber(stream).rgb();
}

/// Returns an empty text for slices that are no communication.
std::string SliceColors::operationOf(SliceCategory category, StringIndex index) const {
    if (category == SliceCategory::NcclKernel) {
        const auto found = operations_.find(index);
        return found == operations_.end() ? std::string() : std::string(trace_->strings.at(*found));
    }
    if (category == SliceCategory::NcclCall) return std::string(ncclOperationOf(trace_->strings.at(index)));
    return {};
}

QRgb SliceColors::colorByOperation(const DrawnSlice& drawn) {
    if (drawn.category == SliceCategory::NcclWait) return fillOf(drawn.category);
    QRgb* const known = byOperation_.at(drawn.name);
    if (known == nullptr) return grey_;
    if (*known == 0) {
        const std::string operation = operationOf(drawn.category, drawn.name);
        *known = operation.empty() ? grey_ : theme_.colorOfNumber(numberOf(operation)).rgb();
    }
    return *known;
}

uint32_t SliceColors::placeOf(EventRef event) const {
    const uint32_t stack = pythonPlace(*trace_, event).stack;
    return stack < places_.size() ? places_[stack] : noIndex;
}

QRgb SliceColors::colorByPython(EventRef event) {
    const uint32_t place = placeOf(event);
    QRgb* const known = place == noIndex ? nullptr : byPlace_.at(place);
    if (known == nullptr) return grey_;
    if (*known == 0) {
        Fnv1a sum;
        sum.add(trace_->strings.at(trace_->stacks.function[place]));
        sum.add(trace_->strings.at(trace_->stacks.file[place]));
        if (mode_ == ColorMode::PythonLine) sum.add(uint64_t{trace_->stacks.line[place]});
        const auto number = static_cast<uint32_t>((sum.value() >> 32) % (hues * shades));
        *known = Theme::mix(theme_.colorOfNumber(number % hues), theme_.canvas, shadeStep * (number / hues)).rgb();
    }
    return *known;
}

QString SliceColors::meaningOf(const Lane& lane, uint32_t slice) const {
    if (mode_ == ColorMode::PythonLine || mode_ == ColorMode::PythonFunction) {
        const uint32_t place = placeOf(lane.event[slice]);
        if (place == noIndex) return QStringLiteral("grey: unknown Python line");
        const std::string_view function = trace_->strings.at(trace_->stacks.function[place]);
        return QStringLiteral("colour: ") + QString::fromStdString(mode_ == ColorMode::PythonLine
                                                                       ? frameText(*trace_, place)
                                                                       : std::string(function));
    }
    if (mode_ == ColorMode::Stream) {
        const uint32_t stream = streamOf(*trace_, lane.event[slice]);
        if (stream == noIndex) return QStringLiteral("grey: on no stream");
        return QStringLiteral("colour: stream %1").arg(trace_->streams[stream].streamId);
    }
    if (mode_ == ColorMode::NcclOperation) {
        if (lane.category[slice] == SliceCategory::NcclWait) return QStringLiteral("pale: waits for other ranks");
        const std::string operation = operationOf(lane.category[slice], lane.name[slice]);
        return operation.empty() ? QStringLiteral("grey: no communication")
                                 : QStringLiteral("colour: %1").arg(QString::fromStdString(withLibrary(operation)));
    }
    return {};
}

QRgb SliceColors::fillOf(SliceCategory category) const {
    const auto index = static_cast<size_t>(category);
    return index < byCategory_.size() ? byCategory_[index] : theme_.mutedText.rgb();
}

QRgb SliceColors::edgeOf(QRgb fill) const {
    // Towards black in either theme: an edge is a shadow. Integers, as this runs for every rectangle.
    return qRgb(qRed(fill) * 3 / 4, qGreen(fill) * 3 / 4, qBlue(fill) * 3 / 4);
}

QRgb SliceColors::textOn(QRgb fill) {
    const auto known = textByFill_.constFind(fill);
    if (known != textByFill_.constEnd()) return *known;
    const QRgb color = theme_.textOn(QColor::fromRgb(fill)).rgb();
    textByFill_.insert(fill, color);
    return color;
}

QRgb SliceColors::programColor(EventRef event) const {
    uint32_t row = event.row();
    if (event.kind() == EventKind::Projection) {
        if (row >= trace_->projections.size()) return 0;
        row = trace_->projections.nvtx[row];
    } else if (event.kind() != EventKind::Nvtx) {
        return 0;
    }
    if (row >= trace_->nvtx.size() || trace_->nvtx.colorArgb[row] == 0) return 0;
    return trace_->nvtx.colorArgb[row] | 0xff000000u;
}

}  // namespace lanescope::views
