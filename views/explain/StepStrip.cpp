// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/explain/StepStrip.h"

#include <QKeyEvent>
#include <QPainter>
#include <array>

#include "model/analysis/shownNumbers.h"
#include "model/text/formatValue.h"
#include "views/text/shownText.h"
#include "views/theme/texts.h"

namespace lanescope::views {

using namespace analysis;
using explain::StepPlace;

namespace {

constexpr int legendEdge = 12, legendGap = 8, entryGap = 16, maxLegendBar = 180;
/// Minimum share of the bar for a part to have a name in the legend.
constexpr double minNamedShare = 0.005;

QString lineOf(StepPart part, const StepParts& parts) {
    const double share = static_cast<double>(parts[part]) / static_cast<double>(parts.sum());
    return PartsLegend::tr("%1: %2, %3 %")
        .arg(toQString(name(part)), shortDuration(parts[part]), toQString(percentText(100 * share)));
}

/// Returns the parts as lines without colours: "waiting for launches: 12.33 ms, 69.6 %".
QStringList partLines(const StepParts& parts) {
    QStringList lines;
    for (const StepPart part : explain::partsBySize(parts)) lines << lineOf(part, parts);
    return lines;
}

constexpr int markHeight = 6;  // over the bars
constexpr int border = 2;
// A bar longer than this many medians is truncated; otherwise a single stall would flatten all others.
constexpr double maxMedians = 3;
constexpr int minRowHeight = 6, maxRowHeight = 44;  // of a row
constexpr int wholeHeight = 96;                     // of all rows
constexpr double maxColumnWidth = 56;

}  // namespace

QString partsTip(const QStringList& heading, const StepParts& parts, const Theme& theme, const QStringList& notes) {
    QStringList lines;
    for (const QString& line : heading) lines << line.toHtmlEscaped();
    for (const StepPart part : explain::partsBySize(parts))
        lines << QStringLiteral("<span style=\"color:%1\">\u25a0</span> %2")
                     .arg(theme.colorOf(part).name(), lineOf(part, parts).toHtmlEscaped());
    for (const QString& line : notes) lines << line.toHtmlEscaped();
    return QStringLiteral("<qt>%1</qt>").arg(lines.join(QLatin1String("<br>")));
}

QString excessText(const RunSummary& run, explain::StepPlace place) {
    const explain::StepExcess excess = explain::excessOf(run, place);
    const QString text = PartsLegend::tr("%1 vs. median").arg(signedDuration(excess.ns));
    if (excess.partNs == 0) return text;
    return PartsLegend::tr("%1: %2 %3").arg(text, signedDuration(excess.partNs), toQString(name(excess.part)));
}

PartsLegend::PartsLegend(QWidget* parent) : PaintedWidget(parent) {
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    setAccessibleName(tr("Parts of the step"));
}

void PartsLegend::setParts(const QString& title, const StepParts& parts, const QString& note) {
    title_ = title;
    parts_ = parts;
    note_ = note;
    setAccessibleDescription((QStringList{title_} + partLines(parts_) + QStringList{note_}).join(QLatin1String("; ")));
    update();
}

QRect PartsLegend::barArea() const {
    const int left = legendEdge + QFontMetrics(strong(font())).horizontalAdvance(title_) + legendGap;
    const int high = swatch();
    return {left, (height() - high) / 2, std::clamp(width() / 6, 40, maxLegendBar), high};
}

int PartsLegend::noteWidth() const {
    return note_.isEmpty() ? 0 : QFontMetrics(strong(font())).horizontalAdvance(note_) + entryGap;
}

std::vector<PartsLegend::Entry> PartsLegend::entries(int room) const {
    std::vector<Entry> entries;
    int left = 0;
    const auto wholeNs = static_cast<double>(parts_.sum());
    for (const StepPart part : explain::partsBySize(parts_)) {
        const double share = static_cast<double>(parts_[part]) / wholeNs;
        if (share < minNamedShare) break;
        const QString text = tr("%1 %2 %").arg(toQString(name(part)), toQString(percentText(100 * share)));
        const int wide = swatch() + legendGap / 2 + fontMetrics().horizontalAdvance(text);
        if (left + wide > room) break;
        entries.push_back({part, text, left});
        left += wide + entryGap;
    }
    return entries;
}

void PartsLegend::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.fillRect(rect(), theme_.panel);
    painter.fillRect(QRect(0, height() - 1, width(), 1), theme_.separator);
    if (!hasContent()) return;
    const QRect bar = barArea();
    const auto write = [&](int left, int room, const QString& text) {
        painter.drawText(QRect(left, 0, room, height()), Qt::AlignLeft | Qt::AlignVCenter,
                         painter.fontMetrics().elidedText(text, Qt::ElideRight, room));
    };
    painter.setFont(strong(font()));
    painter.setPen(theme_.text);
    write(legendEdge, bar.left() - legendEdge, title_);
    double left = bar.left();
    for (const StepPart part : explain::partsBySize(parts_)) {
        const double wide = bar.width() * static_cast<double>(parts_[part]) / static_cast<double>(parts_.sum());
        painter.fillRect(QRectF(left, bar.top(), wide, bar.height()), theme_.colorOf(part));
        left += wide;
    }
    const int first = bar.right() + legendGap + 4;
    const int end = width() - legendEdge;
    int noteLeft = first;
    painter.setFont(font());
    for (const Entry& each : entries(end - first - noteWidth())) {
        const int at = first + each.left;
        painter.fillRect(QRect(at, bar.top(), swatch(), swatch()), theme_.colorOf(each.part));
        const int textLeft = at + swatch() + legendGap / 2;
        write(textLeft, end - textLeft, each.text);
        noteLeft = textLeft + fontMetrics().horizontalAdvance(each.text) + entryGap;
    }
    if (note_.isEmpty()) return;
    painter.setFont(strong(font()));
    write(noteLeft, end - noteLeft, note_);
}

std::optional<QString> PartsLegend::toolTipAt(QPoint) const {
    if (!hasContent()) return std::nullopt;
    return partsTip({title_}, parts_, theme_, note_.isEmpty() ? QStringList() : QStringList{note_});
}

std::optional<StepPlace> StepMap::longestAt(size_t row, size_t column) const {
    const size_t first = column / columnsPerMark() * columnsPerMark();
    const auto longest = run_->grid.longestIn(row, first, columnsPerMark());
    return longest ? run_->grid.at(row, *longest) : std::nullopt;
}

void StepMap::choose(size_t row, size_t column, int direction) {
    while (column < run_->grid.columnCount()) {
        if (const auto place = run_->grid.at(row, column)) {
            chosen_ = Cell{row, column};
            update();
            emit stepChosen(*place);
            return;
        }
        if (direction < 0 && column == 0) return;
        column += static_cast<size_t>(direction);
    }
}

StepStrip::StepStrip(QWidget* parent) : StepMap(parent) {
    setFocusPolicy(Qt::StrongFocus);
    setMouseTracking(true);
    setAttribute(Qt::WA_OpaquePaintEvent);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    setAccessibleName(tr("Time of each step"));
}

void StepStrip::setRun(ExplainedRunPtr run) {
    run_ = std::move(run);
    rows_.clear();
    chosen_.reset();
    hovered_.reset();
    if (run_) {
        const size_t count = run_->grid.rowCount();
        for (size_t row = 0; row < std::min(count, maxRows); ++row) rows_.push_back(row);
        const size_t critical = run_->grid.rowOf(run_->summary.criticalWorker());
        if (critical >= maxRows && critical < count) rows_.back() = critical;
        setAccessibleDescription((areRequests() ? tr("%1 requests of %2 workers") : tr("%1 steps of %2 workers"))
                                     .arg(run_->grid.columnCount())
                                     .arg(count));
    }
    updateGeometry();
    invalidate();
}

void StepStrip::setMargins(int left, int right) {
    if (left == left_ && right == right_) return;
    left_ = left;
    right_ = right;
    invalidate();
}

void StepStrip::setMaxHeight(int height) {
    const int before = sizeHint().height();
    maxHeight_ = height;
    if (sizeHint().height() == before) return;
    updateGeometry();
    invalidate();
}

void StepStrip::setVisibleRange(TimeRange range) {
    visible_ = range;
    update();
}

void StepStrip::setChosen(std::optional<StepPlace> place) {
    chosen_ = place ? cellOf(*place) : std::nullopt;
    update();
}

int StepStrip::rowHeight() const {
    const int count = std::max(1, static_cast<int>(rows_.size()));
    return std::clamp(std::min(wholeHeight, maxHeight_) / count, minRowHeight, maxRowHeight);
}

QSize StepStrip::sizeHint() const {
    const int count = std::max(1, static_cast<int>(rows_.size()));
    const int rows = count * rowHeight() + markHeight + 2 * border;
    return {600, std::max(rows, labelLines() * fontMetrics().height() + 2 * border)};
}

int StepStrip::labelLines() const {
    const int rows = std::max(1, static_cast<int>(rows_.size())) * rowHeight() + markHeight;
    return maxHeight_ < wholeHeight && rows < 2 * fontMetrics().height() ? 1 : 2;
}

QRect StepStrip::rowArea(size_t shown) const {
    return {left_, border + markHeight + static_cast<int>(shown) * rowHeight(), std::max(1, width() - left_ - right_),
            rowHeight()};
}

double StepStrip::columnWidth() const {
    const int room = std::max(1, width() - left_ - right_);
    return std::min(maxColumnWidth, double(room) / double(std::max<size_t>(1, run_->grid.columnCount())));
}

int64_t StepStrip::highestNs() const {
    double medianNs = 0;
    for (size_t row = 0; row < run_->grid.rowCount(); ++row)
        medianNs = std::max(medianNs, double(run_->grid.medianNs(row)));
    const double maxHeightNs = std::min(double(run_->grid.longestNs()), maxMedians * medianNs);
    return std::max<int64_t>(1, static_cast<int64_t>(maxHeightNs));
}

std::optional<StepStrip::Cell> StepStrip::cellOf(StepPlace place) const {
    if (!run_ || place.worker >= run_->summary.workers.size() ||
        place.step >= run_->summary.workers[place.worker].steps.size())
        return std::nullopt;
    return Cell{run_->grid.rowOf(place.worker), run_->grid.columnOf(stepOf(place).number)};
}

void StepStrip::invalidate() {
    isStale_ = true;
    update();
}

void StepStrip::renderBars() {
    const double ratio = devicePixelRatioF();
    bars_ = QImage((QSizeF(size()) * ratio).toSize(), QImage::Format_RGB32);
    bars_.setDevicePixelRatio(ratio);
    QPainter painter(&bars_);
    painter.fillRect(rect(), theme_.canvas);
    isStale_ = false;
    if (!hasContent()) return;
    const double each = columnWidth();
    const size_t together = columnsPerMark();
    for (size_t shown = 0; shown < rows_.size(); ++shown) {
        const QRect area = rowArea(shown);
        for (size_t first = 0; first < run_->grid.columnCount(); first += together) {
            const auto column = run_->grid.longestIn(rows_[shown], first, together);
            if (!column) continue;
            const double width = each * double(together);
            // Wide bars have a gap.
            const double gap = width >= 4 ? 1 : 0;
            const QRectF bar(area.left() + each * double(first), area.top(), std::max(1.0, width - gap),
                             area.height() - 1);
            paintBar(painter, {rows_[shown], *column}, bar);
            paintMark(painter, {rows_[shown], *column}, bar);
        }
    }
    paintLabels(painter);
}

void StepStrip::paintBar(QPainter& painter, Cell cell, const QRectF& area) const {
    const auto place = run_->grid.at(cell.row, cell.column);
    if (!place) return;
    const StepSummary& step = stepOf(*place);
    const double nsPerPixel = double(highestNs()) / area.height();
    double bottom = area.bottom();
    for (const StepPart part : allStepParts) {
        if (step.parts[part] <= 0) continue;
        const double top = std::max(area.top(), bottom - double(step.parts[part]) / nsPerPixel);
        painter.fillRect(QRectF(area.left(), top, area.width(), bottom - top), theme_.colorOf(part));
        bottom = top;
    }
    // A line through bars that are higher than the strip.
    if (step.wallNs > highestNs())
        painter.fillRect(QRectF(area.left(), area.top() + 3, area.width(), 1.5), theme_.canvas);
}

void StepStrip::paintMark(QPainter& painter, Cell cell, const QRectF& area) const {
    const bool isSlowest = cell.row == run_->grid.slowestRow() && cell.column == run_->grid.slowestColumn();
    if (!isSlowest && !run_->grid.isOdd(cell.row, cell.column)) return;
    // A triangle that points at the bar; filled for the slowest.
    const double tip = area.top(), middle = area.center().x(), half = markHeight / 2.0;
    const QPolygonF mark({{middle - half, tip - markHeight + 1}, {middle + half, tip - markHeight + 1}, {middle, tip}});
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(QPen(theme_.slower, 1));
    painter.setBrush(isSlowest ? QBrush(theme_.slower) : QBrush(theme_.canvas));
    painter.drawPolygon(mark);
    painter.restore();
}

void StepStrip::paintLabels(QPainter& painter) const {
    const QRect area(0, 0, left_, height());
    painter.fillRect(area, theme_.panel);
    if (left_ < 4 * fontMetrics().averageCharWidth()) return;
    const auto write = [&](QRect room, const QString& text, const QColor& color) {
        painter.setPen(color);
        room.adjust(10, 0, -6, 0);
        painter.drawText(room, Qt::AlignLeft | Qt::AlignVCenter,
                         fontMetrics().elidedText(text, Qt::ElideRight, room.width()));
    };
    painter.setFont(font());
    if (rowHeight() >= fontMetrics().height() && rows_.size() > 1) {
        for (size_t shown = 0; shown < rows_.size(); ++shown) {
            QRect room = rowArea(shown);
            room.setLeft(0);
            room.setWidth(left_);
            const uint32_t worker = run_->grid.workerOf(rows_[shown]);
            write(room,
                  (areRequests() ? tr("Requests, %1") : tr("Steps, %1"))
                      .arg(toQString(run_->summary.workers[worker].label())),
                  theme_.text);
        }
        return;
    }
    const int line = fontMetrics().height();
    const int top = std::max(border, (height() - labelLines() * line) / 2);
    const size_t all = run_->grid.rowCount();
    // Several GPUs of one process without a rank are not ranks.
    const auto& workers = run_->summary.workers;
    const bool haveRanks =
        std::any_of(workers.begin(), workers.end(), [](const auto& each) { return each.rank.has_value(); });
    const QString what = haveRanks ? tr("ranks") : tr("GPUs");
    const QString count = (areRequests() ? tr("%1 requests") : tr("%1 steps")).arg(run_->grid.columnCount());
    write({0, top, left_, line},
          all == 1             ? count
          : all > rows_.size() ? tr("%1, %2 of %3 %4").arg(count).arg(rows_.size()).arg(all).arg(what)
                               : tr("%1 of %2 %3").arg(count).arg(all).arg(what),
          theme_.text);
    if (labelLines() < 2) return;
    write({0, top + line, left_, line}, tr("median %1").arg(shortDuration(run_->grid.medianNs(rows_.front()))),
          theme_.mutedText);
}

void StepStrip::paintView(QPainter& painter) const {
    const double each = columnWidth();
    for (size_t shown = 0; shown < rows_.size(); ++shown) {
        const auto [first, end] = run_->grid.columnsIn(rows_[shown], visible_);
        if (first >= end) continue;
        const QRect area = rowArea(shown);
        painter.fillRect(
            QRectF(area.left() + each * double(first), area.bottom(), std::max(2.0, each * double(end - first)), 2),
            theme_.accent);
    }
}

QRect StepStrip::barOf(StepPlace place) const {
    const auto cell = cellOf(place);
    if (!cell || !hasContent()) return {};
    const auto shown = std::find(rows_.begin(), rows_.end(), cell->row);
    if (shown == rows_.end()) return {};
    const QRect area = rowArea(static_cast<size_t>(shown - rows_.begin()));
    const size_t first = cell->column / columnsPerMark() * columnsPerMark();
    const double left = area.left() + columnWidth() * double(first);
    const double width = columnWidth() * double(columnsPerMark());
    return QRectF(left, area.top(), std::max(1.0, width), area.height()).toAlignedRect();
}

void StepStrip::paintEvent(QPaintEvent*) {
    if (isStale_ || bars_.devicePixelRatio() != devicePixelRatioF()) renderBars();
    QPainter painter(this);
    painter.drawImage(0, 0, bars_);
    if (hasContent()) {
        paintView(painter);
        if (hovered_) painter.fillRect(barOf(*hovered_), theme_.hover);
        if (const auto place = chosen()) {
            painter.setPen(QPen(theme_.text, 1.5));
            painter.setBrush(Qt::NoBrush);
            painter.drawRect(QRectF(barOf(*place)).adjusted(-0.5, -0.5, 0.5, -0.5));
        }
    }
    painter.fillRect(QRect(0, height() - 1, width(), 1), theme_.separator);
    if (hasFocus()) paintFocusFrame(painter, rect(), theme_);
}

std::optional<StepPlace> StepStrip::stepAt(QPoint position) const {
    if (!hasContent() || position.x() < left_ || position.x() >= width() - right_) return std::nullopt;
    const int down = position.y() - border - markHeight;
    const auto shown = static_cast<size_t>(std::max(0, down) / rowHeight());
    if (down < -markHeight || shown >= rows_.size()) return std::nullopt;
    const auto column = static_cast<size_t>((position.x() - left_ + 0.5) / columnWidth());
    if (column >= run_->grid.columnCount()) return std::nullopt;
    return longestAt(rows_[shown], column);
}

QString StepStrip::headingOf(StepPlace place) const {
    const StepSummary& step = stepOf(place);
    QString heading = (areRequests() ? tr("Request %1, %2: %3") : tr("Step %1, %2: %3"))
                          .arg(step.number)
                          .arg(toQString(run_->summary.workers[place.worker].label()), shortDuration(step.wallNs));
    if (!step.name.empty()) heading += tr(" (%1)").arg(toQString(printable(step.name)));
    return heading;
}

QStringList StepStrip::notesOf(StepPlace place) const {
    const StepSummary& step = stepOf(place);
    QStringList notes{excessText(run_->summary, place)};
    for (const OutlierStep& odd : run_->summary.workers[place.worker].outliers)
        if (odd.number == step.number && !odd.contributor.empty())
            notes.back() += tr(", mostly %1").arg(toQString(shortName(odd.contributor)));
    if (columnsPerMark() > 1)
        notes << (areRequests() ? tr("The longest of %1 requests here") : tr("The longest of %1 steps here"))
                     .arg(columnsPerMark());
    return notes;
}

void StepStrip::mousePressEvent(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton) return;
    const auto place = stepAt(event->pos());
    if (!place) return;
    chosen_ = cellOf(*place);
    update();
    emit stepChosen(*place);
}

void StepStrip::mouseMoveEvent(QMouseEvent* event) {
    const auto before = hovered_;
    hovered_ = stepAt(event->pos());
    if (hovered_ == before) return;
    setCursor(hovered_ ? Qt::PointingHandCursor : Qt::ArrowCursor);
    update();
}

void StepStrip::leaveEvent(QEvent*) {
    hovered_.reset();
    update();
}

bool StepStrip::walk(int key) {
    if (!hasContent()) return false;
    const size_t last = run_->grid.columnCount() - 1;
    const size_t row = chosen_ ? chosen_->row : rows_.front();
    const size_t column = chosen_ ? chosen_->column : run_->grid.columnsIn(rows_.front(), visible_).first;
    const auto shown = std::find(rows_.begin(), rows_.end(), row);
    switch (key) {
        case Qt::Key_Left:
            if (column > 0) choose(row, column - 1, -1);
            return true;
        case Qt::Key_Right: choose(row, chosen_ ? column + 1 : column, 1); return true;
        case Qt::Key_Up:
            if (shown != rows_.begin() && shown != rows_.end()) choose(*(shown - 1), column, 1);
            return true;
        case Qt::Key_Down:
            if (shown != rows_.end() && shown + 1 != rows_.end()) choose(*(shown + 1), column, 1);
            return true;
        case Qt::Key_Home: choose(row, 0, 1); return true;
        case Qt::Key_End: choose(row, last, -1); return true;
        case Qt::Key_Return:
        case Qt::Key_Enter: choose(row, column, 1); return true;
        default: return false;
    }
}

void StepStrip::keyPressEvent(QKeyEvent* event) {
    if (event->modifiers() != Qt::NoModifier && event->modifiers() != Qt::KeypadModifier)
        return QWidget::keyPressEvent(event);
    if (!walk(event->key())) QWidget::keyPressEvent(event);
}

bool StepStrip::event(QEvent* event) {
    // The cursor keys are also keys of the timeline and commands of the window.
    if (event->type() == QEvent::ShortcutOverride) {
        const auto* key = static_cast<QKeyEvent*>(event);
        constexpr std::array keys{Qt::Key_Left, Qt::Key_Right, Qt::Key_Up,     Qt::Key_Down,
                                  Qt::Key_Home, Qt::Key_End,   Qt::Key_Return, Qt::Key_Enter};
        if (key->modifiers() == Qt::NoModifier && std::find(keys.begin(), keys.end(), key->key()) != keys.end())
            event->accept();
    }
    return PaintedWidget::event(event);
}

std::optional<QString> StepStrip::toolTipAt(QPoint position) const {
    const auto place = stepAt(position);
    return place ? partsTip({headingOf(*place)}, stepOf(*place).parts, theme_, notesOf(*place)) : QString();
}

void StepStrip::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() != QEvent::FontChange) return;
    updateGeometry();
    invalidate();
}

}  // namespace lanescope::views
