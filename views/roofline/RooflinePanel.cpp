// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/roofline/RooflinePanel.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QSplitter>
#include <QToolTip>
#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "model/analysis/shownNumbers.h"
#include "model/reports/reports.h"
#include "model/text/formatValue.h"

namespace lanescope::views {

namespace {

constexpr int margin = 8;
constexpr double minRadiusPx = 3, maxRadiusPx = 12;
constexpr double aimPx = 3;  ///< Distance from a dot that still counts as on it.
constexpr std::array kinds{OperatorKind::Product, OperatorKind::Convolution, OperatorKind::Attention,
                           OperatorKind::Elementwise};

/// Returns "1 T" for 12 decades.
QString decadeText(int decade) {
    static constexpr std::array prefixes{"", " k", " M", " G", " T", " P", " E"};
    if (decade < 0) return QString::number(std::pow(10.0, decade));
    const auto step = std::min<size_t>(static_cast<size_t>(decade) / 3, prefixes.size() - 1);
    return QString::number(std::pow(10.0, decade - 3 * static_cast<int>(step))) + QString::fromUtf8(prefixes[step]);
}

QString rateText(double perSecond, const char* unit) {
    constexpr double tera = 1e12, giga = 1e9;
    const bool isTera = perSecond >= tera;
    return QString::fromStdString(analysis::rateText(perSecond / (isTera ? tera : giga))) +
           (isTera ? QStringLiteral(" T") : QStringLiteral(" G")) + QString::fromUtf8(unit);
}

}  // namespace

RooflineChart::RooflineChart(QWidget* parent) : PaintedWidget(parent) {
    setMouseTracking(true);
    setFocusPolicy(Qt::StrongFocus);
    setAccessibleName(tr("Operators against the roofs of the GPU"));
}

void RooflineChart::setRoofline(RooflinePtr roofline, uint32_t gpu) {
    roofline_ = std::move(roofline);
    gpu_ = gpu;
    current_.reset();
    fitBounds();
    update();
}

void RooflineChart::setCurrent(std::optional<size_t> row) {
    current_ = row;
    if (row && roofline_ && *row < roofline_->rows.size()) setAccessibleDescription(textOf(roofline_->rows[*row]));
    update();
}

const analysis::GpuRoofs* RooflineChart::roofs() const {
    if (!roofline_) return nullptr;
    const auto found = std::ranges::find(roofline_->roofs, gpu_, &analysis::GpuRoofs::gpu);
    return found == roofline_->roofs.end() ? nullptr : &*found;
}

bool RooflineChart::isDrawn(const analysis::RooflineRow& row) const {
    return row.gpu == gpu_ && row.intensity() > 0 && row.flopsPerSecond() > 0;
}

void RooflineChart::fitBounds() {
    bounds_ = {};
    longestNs_ = 1;
    if (!roofline_) return;
    double left = 1e9, right = -1e9, bottom = 1e9, top = -1e9;
    const auto include = [&](double intensity, double perSecond) {
        left = std::min(left, std::log10(intensity));
        right = std::max(right, std::log10(intensity));
        bottom = std::min(bottom, std::log10(perSecond));
        top = std::max(top, std::log10(perSecond));
    };
    for (const analysis::RooflineRow& row : roofline_->rows) {
        if (!isDrawn(row)) continue;
        include(row.intensity(), row.flopsPerSecond());
        longestNs_ = std::max(longestNs_, row.work.kernelNs);
    }
    if (const analysis::GpuRoofs* of = roofs(); of != nullptr && of->memory.perSecond > 0)
        for (const analysis::GpuRoofs::Compute& each : of->compute)
            include(each.rate.perSecond / of->memory.perSecond, each.rate.perSecond);
    if (left > right) return;
    bounds_ = {std::floor(left), std::max(std::ceil(right + 0.3), std::floor(left) + 1), std::floor(bottom),
               std::max(std::ceil(top + 0.1), std::floor(bottom) + 1)};
}

QRect RooflineChart::plotArea() const {
    const int labels = fontMetrics().horizontalAdvance(QStringLiteral("100 T")) + margin;
    const int line = fontMetrics().height();
    return {margin + labels, margin + line, std::max(1, width() - labels - 2 * margin),
            std::max(1, height() - 3 * line - 2 * margin)};
}

QPointF RooflineChart::pointAt(double intensity, double perSecond) const {
    const QRectF area = plotArea();
    const double x = (std::log10(intensity) - bounds_.left) / (bounds_.right - bounds_.left);
    const double y = (std::log10(perSecond) - bounds_.bottom) / (bounds_.top - bounds_.bottom);
    return {area.left() + x * area.width(), area.bottom() - y * area.height()};
}

double RooflineChart::radiusOf(const analysis::RooflineRow& row) const {
    const double share = static_cast<double>(row.work.kernelNs) / static_cast<double>(longestNs_);
    return std::max(minRadiusPx, maxRadiusPx * std::sqrt(share));
}

std::optional<QPointF> RooflineChart::placeOf(size_t row) const {
    if (!roofline_ || row >= roofline_->rows.size() || !isDrawn(roofline_->rows[row])) return std::nullopt;
    return pointAt(roofline_->rows[row].intensity(), roofline_->rows[row].flopsPerSecond());
}

std::optional<size_t> RooflineChart::rowAt(QPointF position) const {
    std::optional<size_t> found;
    for (size_t row = 0; roofline_ && row < roofline_->rows.size(); ++row) {
        const auto place = placeOf(row);
        if (!place) continue;
        const double radius = radiusOf(roofline_->rows[row]);
        if (std::hypot(place->x() - position.x(), place->y() - position.y()) > radius + aimPx) continue;
        if (!found || radius < radiusOf(roofline_->rows[*found])) found = row;
    }
    return found;
}

QString RooflineChart::textOf(const analysis::RooflineRow& row) const {
    const analysis::ShapedWork& work = row.work;
    QString text =
        QStringLiteral("%1 %2 %3").arg(toQString(work.operation), toQString(work.shape), toQString(work.precision));
    if (work.kind != OperatorKind::Elementwise) text += "\n" + rateText(row.flopsPerSecond(), "FLOP/s");
    text += tr(", %1 in memory").arg(rateText(row.bytesPerSecond(), "B/s"));
    if (const auto share = work.ofRoof())
        text += tr("\n%1 % of the %2 %3 roof, %4 above it")
                    .arg(toQString(analysis::percentText(100 * *share)),
                         work.isMeasured ? tr("measured") : tr("data sheet"),
                         work.isMemoryBound ? tr("memory") : tr("compute"), shortDuration(work.aboveRoofNs()));
    if (!work.place.empty()) text += "\n" + toQString(work.place);
    return text;
}

void RooflineChart::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.fillRect(rect(), theme_.canvas);
    if (!roofline_ || roofline_->rows.empty()) return;
    paintGrid(painter);
    painter.setRenderHint(QPainter::Antialiasing);
    paintRoofs(painter);
    for (size_t row = roofline_->rows.size(); row-- > 0;) {
        const auto place = placeOf(row);
        if (!place) continue;
        painter.setPen(current_ == row ? QPen(theme_.accent, 2) : QPen(theme_.canvas, 1));
        painter.setBrush(translucent(colorOf(roofline_->rows[row].work.kind), 170));
        const double radius = radiusOf(roofline_->rows[row]);
        painter.drawEllipse(*place, radius, radius);
    }
    paintLegend(painter);
    if (!hasFocus()) return;
    painter.setRenderHint(QPainter::Antialiasing, false);
    paintFocusFrame(painter, rect().adjusted(0, 0, -1, -1), theme_);
}

void RooflineChart::paintGrid(QPainter& painter) const {
    const QRect area = plotArea();
    const QFontMetrics metrics = fontMetrics();
    for (int decade = static_cast<int>(bounds_.left); decade <= static_cast<int>(bounds_.right); ++decade) {
        const int x = static_cast<int>(std::lround(pointAt(std::pow(10.0, decade), 1).x()));
        painter.fillRect(QRect(x, area.top(), 1, area.height()), theme_.grid);
        const QString text = decadeText(decade);
        painter.setPen(theme_.mutedText);
        const int wide = metrics.horizontalAdvance(text);
        painter.drawText(std::min(x - wide / 2, area.right() - wide), area.bottom() + metrics.ascent() + 3, text);
    }
    for (int decade = static_cast<int>(bounds_.bottom); decade <= static_cast<int>(bounds_.top); ++decade) {
        const int y = static_cast<int>(std::lround(pointAt(1, std::pow(10.0, decade)).y()));
        painter.fillRect(QRect(area.left(), y, area.width(), 1), theme_.grid);
        const QString text = decadeText(decade);
        painter.setPen(theme_.mutedText);
        painter.drawText(area.left() - metrics.horizontalAdvance(text) - 5, y + metrics.ascent() / 2 - 1, text);
    }
    painter.drawText(area.left(), margin + metrics.ascent() - 2, tr("FLOP/s over FLOP per byte"));
}

void RooflineChart::paintRoofs(QPainter& painter) const {
    const analysis::GpuRoofs* of = roofs();
    if (of == nullptr || of->compute.empty() || of->memory.perSecond <= 0) return;
    painter.save();
    painter.setClipRect(plotArea());
    const auto line = [&](QPointF from, QPointF to, bool isMeasured) {
        painter.setPen(QPen(theme_.text, 1.5, isMeasured ? Qt::SolidLine : Qt::DashLine));
        painter.drawLine(from, to);
    };
    const auto nameOf = [&](const QString& what, const RoofRate& rate, const char* unit) {
        return QStringLiteral("%1 %2, %3")
            .arg(what, rateText(rate.perSecond, unit), rate.isMeasured ? tr("measured") : tr("data sheet"));
    };
    const double highest = of->compute.front().rate.perSecond, memory = of->memory.perSecond;
    const double leftmost = std::pow(10.0, bounds_.left), rightmost = std::pow(10.0, bounds_.right);
    line(pointAt(leftmost, leftmost * memory), pointAt(highest / memory, highest), of->memory.isMeasured);
    painter.setPen(theme_.mutedText);
    const QFontMetrics metrics = fontMetrics();
    // Right of the line, at a quarter of its height.
    const double low = std::max(leftmost * memory, std::pow(10.0, bounds_.bottom));
    const double there = low * std::pow(highest / low, 0.25);
    painter.drawText(pointAt(there / memory, there) + QPointF(8, metrics.ascent() / 2.0),
                     nameOf(tr("memory"), of->memory, "B/s"));
    double lowestY = -1e9;
    for (const analysis::GpuRoofs::Compute& each : of->compute) {
        const QPointF from = pointAt(each.rate.perSecond / memory, each.rate.perSecond);
        line(from, pointAt(rightmost, each.rate.perSecond), each.rate.isMeasured);
        const QString text = nameOf(toQString(each.precision), each.rate, "FLOP/s");
        // Below the line where the one above is too near.
        if (from.y() - lowestY < metrics.height()) continue;
        lowestY = from.y();
        painter.setPen(theme_.mutedText);
        painter.drawText(QPointF(plotArea().right() - metrics.horizontalAdvance(text) - 4, from.y() - 4), text);
    }
    painter.restore();
}

void RooflineChart::paintLegend(QPainter& painter) const {
    const QFontMetrics metrics = fontMetrics();
    const int baseline = height() - margin - metrics.descent();
    int x = plotArea().left();
    for (const OperatorKind kind : kinds) {
        if (std::ranges::none_of(roofline_->rows, [&](const analysis::RooflineRow& row) {
                return row.work.kind == kind && isDrawn(row);
            }))
            continue;
        const int size = metrics.ascent() - 2;
        painter.setPen(Qt::NoPen);
        painter.setBrush(colorOf(kind));
        painter.drawEllipse(x, baseline - size, size, size);
        x += size + 4;
        const QString text = toQString(identifier(kind));
        painter.setPen(theme_.mutedText);
        painter.drawText(x, baseline, text);
        x += metrics.horizontalAdvance(text) + 14;
    }
}

void RooflineChart::mousePressEvent(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton) return;
    const auto row = rowAt(event->position());
    setCurrent(row);
    if (row) emit rowActivated(*row);
}

void RooflineChart::mouseMoveEvent(QMouseEvent* event) {
    const auto row = rowAt(event->position());
    setCursor(row ? Qt::PointingHandCursor : Qt::ArrowCursor);
    if (!row) return QToolTip::hideText();
    QToolTip::showText(event->globalPosition().toPoint(), textOf(roofline_->rows[*row]), this);
}

void RooflineChart::step(int direction) {
    if (!roofline_ || roofline_->rows.empty()) return;
    const auto count = static_cast<int64_t>(roofline_->rows.size());
    int64_t row = current_ ? static_cast<int64_t>(*current_) : direction > 0 ? -1 : count;
    do row += direction;
    while (row >= 0 && row < count && !isDrawn(roofline_->rows[static_cast<size_t>(row)]));
    if (row >= 0 && row < count) setCurrent(static_cast<size_t>(row));
}

void RooflineChart::keyPressEvent(QKeyEvent* event) {
    switch (event->key()) {
        case Qt::Key_Left: return step(-1);
        case Qt::Key_Right: return step(+1);
        case Qt::Key_Return:
        case Qt::Key_Enter:
            if (current_) emit rowActivated(*current_);
            return;
        default: QWidget::keyPressEvent(event);
    }
}

RooflinePanel::RooflinePanel(QWidget* parent) : ComputedPanel(parent) {
    gpu_->setAccessibleName(tr("GPU of the chart"));
    gpu_->hide();
    view_->addControl(gpu_);
    notes_->setContentsMargins(8, 4, 8, 4);
    notes_->hide();
    auto* sides = new QSplitter(Qt::Horizontal, this);
    sides->addWidget(chart_);
    sides->addWidget(view_);
    sides->setStretchFactor(1, 1);
    addTo(columnIn(this), Filling{sides}, notes_);
    connect(chart_, &RooflineChart::rowActivated, this, &RooflinePanel::activate);
    connect(view_, &ReportView::rowActivated, this, [this](int row) {
        if (row >= 0) activate(static_cast<size_t>(row));
    });
    connect(gpu_, &QComboBox::currentIndexChanged, this, [this](int index) {
        if (index >= 0) chart_->setRoofline(roofline_, gpu_->itemData(index).toUInt());
    });
    connect(job(), &LatestJob::ranOutOfMemory, this, [this] {
        showRoofline(nullptr, {});
        view_->setEmptyText(tr("There is not enough memory for this table."));
    });
}

void RooflinePanel::setRange(std::optional<TimeRange> range) {
    if (range == range_) return;
    range_ = range;
    invalidate();
}

void RooflinePanel::refresh(LatestJob::Older older) {
    if (!trace_) return showRoofline(nullptr, {});
    job()->start(
        [this, trace = trace_, range = range_]() -> LatestJob::Publish {
            auto roofline = std::make_shared<const analysis::Roofline>(analysis::rooflineOf(*trace, range));
            auto table = std::make_shared<ReportTable>(rooflineTable(*trace, *roofline));
            return [this, roofline, table, range] {
                view_->setEmptyText(range
                                        ? tr("No operator with shapes in the selected range.")
                                        : tr("No operator reports its shapes. Record with lanescope.torch.shapes()."));
                view_->setRemark(
                    range ? tr("Selected range, %1 from %2")
                                .arg(shortDuration(range->durationNs()), toQString(formatTimestamp(range->startNs)))
                          : QString());
                showRoofline(roofline, std::move(*table));
            };
        },
        older);
}

void RooflinePanel::showRoofline(RooflinePtr roofline, ReportTable table) {
    roofline_ = std::move(roofline);
    notes_->setText(toQStrings(table.notes).join('\n'));
    notes_->setVisible(!table.notes.empty());
    view_->setTable(std::move(table));
    const QSignalBlocker blocker(gpu_);
    gpu_->clear();
    if (roofline_)
        for (const analysis::GpuRoofs& each : roofline_->roofs)
            gpu_->addItem(tr("GPU %1").arg(trace_->gpus[each.gpu].id), each.gpu);
    gpu_->setVisible(gpu_->count() > 1);
    chart_->setRoofline(roofline_, gpu_->count() > 0 ? gpu_->itemData(0).toUInt() : 0);
    settle();
}

void RooflinePanel::activate(size_t row) {
    if (!roofline_ || row >= roofline_->rows.size()) return;
    chart_->setCurrent(row);
    emit nameActivated(toQString(roofline_->rows[row].work.kernel));
    emit eventActivated(roofline_->rows[row].longest);
}

}  // namespace lanescope::views
