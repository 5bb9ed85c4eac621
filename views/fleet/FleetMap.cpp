// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/fleet/FleetMap.h"

#include <QKeyEvent>
#include <QPainter>
#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

#include "model/text/formatValue.h"
#include "views/text/shownText.h"

namespace lanescope::views {

using namespace fleet;

namespace {

constexpr size_t maxWorstRanks = 8;
constexpr int lossWidth = 92, gap = 10;
constexpr float unknown = std::numeric_limits<float>::quiet_NaN();

QString duration(double ns) {
    return std::isnan(ns) ? QStringLiteral("unknown") : shortDuration(std::llround(std::abs(ns)));
}

/// Returns which of `count` things share the pixel `at` of `pixels`: the first, and one past the last.
std::pair<size_t, size_t> sharing(int at, int pixels, size_t count) {
    const auto of = [&](int pixel) {
        return static_cast<size_t>(static_cast<double>(pixel) * static_cast<double>(count) /
                                   static_cast<double>(pixels));
    };
    const size_t first = std::min(of(at), count - 1);
    return {first, std::clamp(of(at + 1), first + 1, count)};
}

/// Returns 1, 2 or 5 times a power of ten, so that marks of `room` pixels fit.
size_t stepBetweenMarks(double pixelsPerColumn, int room) {
    for (size_t power = 1;; power *= 10)
        for (const size_t factor : {1, 2, 5})
            if (pixelsPerColumn * static_cast<double>(power * factor) >= room) return power * factor;
}

QString valueText(double value, Measure measure) {
    if (measure == Measure::Late)
        return QStringLiteral("%1%2 %")
            .arg(value < 0 ? QStringLiteral("−") : QStringLiteral("+"))
            .arg(std::abs(value) * 100, 0, 'f', std::abs(value) < 0.1 ? 1 : 0);
    return shortDuration(std::llround(value));
}

}  // namespace

FleetMap::FleetMap(QWidget* parent) : PaintedWidget(parent) {
    setFocusPolicy(Qt::StrongFocus);
    setMouseTracking(true);
    setAccessibleName(tr("Map of ranks and steps"));
}

void FleetMap::setReport(FleetReportPtr report) {
    report_ = std::move(report);
    selection_ = {};
    cursor_ = anchor_ = {};
    worst_.clear();
    named_.clear();
    if (!isEmpty()) {
        for (size_t row = 0; row < report_->ranks.size(); ++row)
            if (report_->ranks[row].lostNs > 0) worst_.push_back(row);
        std::ranges::stable_sort(worst_, std::ranges::greater(),
                                 [this](size_t row) { return report_->ranks[row].lostNs; });
        worst_.resize(std::min(worst_.size(), std::min(maxWorstRanks, report_->ranks.size() / 2)));
        std::set<size_t> named;
        for (const ReportFinding& finding : report_->findings)
            if (finding.kind == "rank" || finding.kind == "host" || finding.kind == "order")
                for (const int64_t rank : finding.ranks)
                    if (const auto row = report_->rowOf(rank)) named.insert(*row);
        named_.assign(named.begin(), named.end());
    }
    setMeasure(measure_);
    setOrder(order_);
}

void FleetMap::setMeasure(Measure measure) {
    measure_ = measure;
    scale_ = isEmpty() ? MapScale() : scaleOf(*report_, measure);
    setAccessibleDescription(toQString(name(measure)));
    refresh();
}

void FleetMap::setOrder(RowOrder order) {
    order_ = order;
    ordered_ = isEmpty() ? OrderedRows() : ordered(*report_, order);
    places_.assign(ordered_.rows.size(), 0);
    for (size_t place = 0; place < ordered_.rows.size(); ++place) places_[ordered_.rows[place]] = place;
    arrange();
    refresh();
}

void FleetMap::refresh() {
    all_ = few_ = {};
    update();
}

QSize FleetMap::minimumSizeHint() const {
    const int line = fontMetrics().height();
    return {360, static_cast<int>(worst_.size() + 12) * line};
}

QString FleetMap::labelOf(size_t row) const {
    const ReportRank& rank = report_->ranks[row];
    return tr("%1 · %2").arg(rank.rank).arg(toQString(rank.machine));
}

void FleetMap::arrange() {
    labelWidth_ = 0;
    QFont bold = font();
    bold.setBold(true);
    const auto room = [this, metrics = QFontMetrics(bold)](const QString& text) {
        labelWidth_ = std::max(labelWidth_, metrics.horizontalAdvance(text));
    };
    for (const size_t row : worst_) room(labelOf(row));
    for (const RowGroup& group : ordered_.groups) room(toQString(group.label));
    labelWidth_ = std::min({labelWidth_ + gap, 180, width() / 4});
}

FleetMap::Band FleetMap::band(bool isWorst) const {
    const int line = fontMetrics().height(), high = line + 2;
    const int left = labelWidth_ + gap, wide = std::max(1, width() - left - lossWidth - gap);
    const int top = line + 6, worstHigh = static_cast<int>(worst_.size()) * high;
    if (isWorst) return {worst_, {left, top, wide, worstHigh}};
    const int begin = worst_.empty() ? top : top + worstHigh + line + 10;
    const int end = height() - 2 * line - 18;
    Band all{{ordered_.rows.begin(), ordered_.rows.end()}, {}};
    const int maximum = static_cast<int>(std::min<size_t>(all.rows.size(), 4096)) * (line + 4);
    all.area = {left, begin, wide, std::max(1, std::min(end - begin, maximum))};
    return all;
}

FleetCell FleetMap::strongestAt(const Band& band, QPoint pixel, QSize pixels) const {
    const auto [firstRow, endRow] = sharing(pixel.y(), pixels.height(), band.rows.size());
    const auto [first, end] = sharing(pixel.x(), pixels.width(), report_->steps.size());
    FleetCell found{band.rows[firstRow], first};
    float strongest = -1;
    for (size_t place = firstRow; place < endRow; ++place)
        for (size_t column = first; column < end; ++column) {
            const float share = std::abs(shareOf({band.rows[place], column}));
            if (share > strongest) {
                strongest = share;
                found = {band.rows[place], column};
            }
        }
    return found;
}

QColor FleetMap::colorOf(float share) const {
    if (std::isnan(share)) return Theme::mix(theme_.canvas, theme_.mutedText, 0.25);
    const QColor strong = share < 0 ? theme_.faster : measure_ == Measure::Late ? theme_.slower : theme_.accent;
    if (measure_ != Measure::Late) return heatColor(theme_, strong, share);
    // Ordinary differences between ranks stay faint, so that outliers stand out.
    return Theme::mix(theme_.canvas, strong, std::pow(std::abs(share), 1.4F));
}

QImage FleetMap::imageOf(const Band& band) const {
    const int wide = std::min(band.area.width(), static_cast<int>(report_->steps.size()));
    const int high = std::min(band.area.height(), static_cast<int>(band.rows.size()));
    QImage image(wide, high, QImage::Format_RGB32);
    std::array<QRgb, 513> colors{};
    for (size_t at = 0; at < colors.size(); ++at) colors[at] = colorOf((static_cast<float>(at) - 256) / 256).rgb();
    const QRgb nothing = colorOf(unknown).rgb();
    for (int y = 0; y < high; ++y) {
        auto* line = reinterpret_cast<QRgb*>(image.scanLine(y));
        for (int x = 0; x < wide; ++x) {
            const float share = shareOf(strongestAt(band, {x, y}, image.size()));
            line[x] = std::isnan(share) ? nothing : colors[static_cast<size_t>(std::lround(share * 256)) + 256];
        }
    }
    return image;
}

std::optional<FleetCell> FleetMap::cellIn(const Band& band, QPoint position) const {
    if (!band.area.contains(position)) return std::nullopt;
    return strongestAt(band, position - band.area.topLeft(), band.area.size());
}

std::optional<FleetCell> FleetMap::cellAt(QPoint position) const {
    if (isEmpty()) return std::nullopt;
    if (const auto cell = worst_.empty() ? std::nullopt : cellIn(band(true), position)) return cell;
    return cellIn(band(false), position);
}

QRectF FleetMap::rectIn(const Band& band, size_t place, size_t first, size_t last) const {
    const double wide = band.area.width() / static_cast<double>(report_->steps.size());
    const double high = band.area.height() / static_cast<double>(band.rows.size());
    return {band.area.left() + wide * static_cast<double>(first), band.area.top() + high * static_cast<double>(place),
            wide * static_cast<double>(last - first + 1), high};
}

QRectF FleetMap::rectOf(FleetCell cell) const {
    return isEmpty() ? QRectF() : rectIn(band(false), places_[cell.row], cell.column, cell.column);
}

QString FleetMap::textOf(FleetCell cell) const {
    const ReportRank& rank = report_->ranks[cell.row];
    const auto value = [&](Measure measure) { return duration(report_->valueOf(measure, cell.row, cell.column)); };
    QString text = tr("Rank %1 on %2").arg(rank.rank).arg(toQString(rank.machine));
    if (rank.localRank) text += tr(", local rank %1").arg(*rank.localRank);
    text += tr(", step %1").arg(report_->steps[cell.column]);
    if (std::isnan(report_->valueOf(Measure::Time, cell.row, cell.column))) return text + tr("\nno data");
    const float late = report_->lateNs(cell.row, cell.column);
    const float share = report_->valueOf(Measure::Late, cell.row, cell.column);
    text += tr("\nown time %1").arg(value(Measure::OwnTime));
    if (!std::isnan(late))
        text += tr(", %1%2 (%1%3 %) against its role")
                    .arg(late < 0 ? QStringLiteral("−") : QStringLiteral("+"), duration(late))
                    .arg(std::abs(share) * 100, 0, 'f', 1);
    text += tr("; waiting and communication %1; whole step %2").arg(value(Measure::Waiting), value(Measure::Time));
    text +=
        tr("\nkernels %1, copies %2, next batch %3, idle for its CPU %4")
            .arg(value(Measure::Compute), value(Measure::Copies), value(Measure::Loading), value(Measure::Launching));
    return text;
}

void FleetMap::select(FleetSelection selection) {
    if (isEmpty()) return;
    std::sort(selection.rows.begin(), selection.rows.end());
    selection.rows.erase(std::unique(selection.rows.begin(), selection.rows.end()), selection.rows.end());
    std::erase_if(selection.rows, [this](size_t row) { return row >= report_->ranks.size(); });
    const size_t last = report_->steps.size() - 1;
    selection.lastColumn = std::min(selection.lastColumn, last);
    selection.firstColumn = std::min(selection.firstColumn, selection.lastColumn);
    if (selection == selection_) return;
    selection_ = std::move(selection);
    if (!selection_.isEmpty()) cursor_ = anchor_ = {selection_.rows[0], selection_.firstColumn};
    update();
    emit selectionChanged();
}

void FleetMap::selectFromDrag(QPoint position) {
    const QPoint from = *dragFrom_;
    const bool isWorst = !worst_.empty() && band(true).area.contains(from);
    const Band there = band(isWorst);
    const QRect inside(there.area);
    const auto clamped = [&](QPoint point) {
        return QPoint(std::clamp(point.x(), inside.left(), inside.right()),
                      std::clamp(point.y(), inside.top(), inside.bottom()));
    };
    const QPoint a = clamped(from), b = clamped(position);
    rubber_ = QRect(QPoint(std::min(a.x(), b.x()), std::min(a.y(), b.y())),
                    QPoint(std::max(a.x(), b.x()), std::max(a.y(), b.y())));
    FleetSelection made;
    if ((a - b).manhattanLength() < 4) {
        const auto cell = cellIn(there, b);
        made = {{cell->row}, cell->column, cell->column};
        rubber_.reset();
    } else {
        const auto place = [&](int y, bool isEnd) {
            const auto [first, end] = sharing(y - inside.top(), inside.height(), there.rows.size());
            return isEnd ? end : first;
        };
        for (size_t at = place(rubber_->top(), false); at < place(rubber_->bottom(), true); ++at)
            made.rows.push_back(there.rows[at]);
        const size_t columns = report_->steps.size();
        made.firstColumn = sharing(rubber_->left() - inside.left(), inside.width(), columns).first;
        made.lastColumn = sharing(rubber_->right() - inside.left(), inside.width(), columns).second - 1;
    }
    select(std::move(made));
    update();
}

void FleetMap::mousePressEvent(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton || !cellAt(event->pos())) return;
    dragFrom_ = event->pos();
    selectFromDrag(event->pos());
}

void FleetMap::mouseMoveEvent(QMouseEvent* event) {
    if (dragFrom_ && (event->buttons() & Qt::LeftButton)) selectFromDrag(event->pos());
    const auto cell = cellAt(event->pos());
    emit pointed(cell ? textOf(*cell) : QString());
}

void FleetMap::mouseReleaseEvent(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton) return;
    dragFrom_.reset();
    rubber_.reset();
    update();
}

void FleetMap::mouseDoubleClickEvent(QMouseEvent* event) {
    const auto cell = event->button() == Qt::LeftButton ? cellAt(event->pos()) : std::nullopt;
    if (!cell) return;
    select({{cell->row}, cell->column, cell->column});
    emit openRequested();
}

void FleetMap::moveCursor(int rows, int columns, bool extends) {
    const auto moved = [](size_t from, int by, size_t count) {
        return static_cast<size_t>(
            std::clamp<int64_t>(static_cast<int64_t>(from) + by, 0, static_cast<int64_t>(count) - 1));
    };
    const FleetCell anchor = extends ? anchor_ : FleetCell();
    if (!selection_.isEmpty())
        cursor_ = {ordered_.rows[moved(places_[cursor_.row], rows, places_.size())],
                   moved(cursor_.column, columns, report_->steps.size())};
    const FleetCell to = cursor_, from = extends && !selection_.isEmpty() ? anchor : to;
    const auto [low, high] = std::minmax(places_[from.row], places_[to.row]);
    FleetSelection made;
    for (size_t place = low; place <= high; ++place) made.rows.push_back(ordered_.rows[place]);
    std::tie(made.firstColumn, made.lastColumn) = std::minmax(from.column, to.column);
    select(std::move(made));
    cursor_ = to;
    anchor_ = from;
    emit pointed(textOf(cursor_));
}

void FleetMap::keyPressEvent(QKeyEvent* event) {
    if (isEmpty()) return QWidget::keyPressEvent(event);
    constexpr int page = 16;
    const bool extends = event->modifiers() & Qt::ShiftModifier;
    const int columns = static_cast<int>(report_->steps.size());
    switch (event->key()) {
        case Qt::Key_Left: return moveCursor(0, -1, extends);
        case Qt::Key_Right: return moveCursor(0, 1, extends);
        case Qt::Key_Up: return moveCursor(-1, 0, extends);
        case Qt::Key_Down: return moveCursor(1, 0, extends);
        case Qt::Key_PageUp: return moveCursor(-page, 0, extends);
        case Qt::Key_PageDown: return moveCursor(page, 0, extends);
        case Qt::Key_Home: return moveCursor(0, -columns, extends);
        case Qt::Key_End: return moveCursor(0, columns, extends);
        case Qt::Key_Escape:
            if (!selection_.isEmpty()) return select({});
            break;
        case Qt::Key_Return:
        case Qt::Key_Enter:
            if (!selection_.isEmpty()) emit openRequested();
            return;
        default: break;
    }
    QWidget::keyPressEvent(event);
}

std::optional<QString> FleetMap::toolTipAt(QPoint position) const {
    const auto cell = cellAt(position);
    return cell ? plainToolTip(textOf(*cell)) : QString();
}

void FleetMap::resizeEvent(QResizeEvent*) {
    arrange();
    refresh();
}

void FleetMap::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() != QEvent::FontChange) return;
    arrange();
    refresh();
}

void FleetMap::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.fillRect(rect(), theme_.canvas);
    if (isEmpty()) {
        painter.setPen(theme_.mutedText);
        painter.drawText(rect(), Qt::AlignCenter, tr("There are no steps to show."));
        return;
    }
    const Band all = band(false);
    if (all_.isNull()) all_ = imageOf(all);
    painter.drawImage(all.area, all_);
    painter.setPen(theme_.separator);
    painter.drawRect(all.area.adjusted(-1, -1, 0, 0));
    painter.setPen(theme_.mutedText);
    const int line = fontMetrics().height();
    const QString title = tr("All %1 ranks").arg(toQString(formatCount(static_cast<int64_t>(report_->ranks.size()))));
    painter.drawText(QRect(all.area.left(), all.area.top() - line - 4, all.area.width(), line),
                     Qt::AlignLeft | Qt::AlignVCenter, title);
    paintLabels(painter);
    paintLosses(painter);
    if (!worst_.empty()) paintWorst(painter);
    paintSteps(painter);
    paintSelection(painter, all);
    if (!worst_.empty()) paintSelection(painter, band(true));
    if (rubber_) {
        painter.fillRect(*rubber_, theme_.selection);
        painter.setPen(theme_.accent);
        painter.drawRect(*rubber_);
    }
    paintLegend(painter);
    if (hasFocus()) {
        painter.setPen(QPen(theme_.accent, 1));
        painter.drawRect(rect().adjusted(0, 0, -1, -1));
    }
}

void FleetMap::paintWorst(QPainter& painter) const {
    const Band few = band(true);
    const int line = fontMetrics().height();
    if (few_.isNull()) few_ = imageOf(few);
    painter.drawImage(few.area, few_);
    painter.setPen(theme_.mutedText);
    painter.drawText(QRect(few.area.left(), few.area.top() - line - 4, few.area.width(), line),
                     Qt::AlignLeft | Qt::AlignVCenter, tr("The ranks that lose most"));
    painter.drawText(QRect(few.area.right() + 8, few.area.top() - line - 4, width(), line),
                     Qt::AlignLeft | Qt::AlignVCenter, tr("over its role"));
    for (size_t place = 0; place < few.rows.size(); ++place) {
        const QRectF whole = rectIn(few, place, 0, report_->steps.size() - 1);
        painter.setPen(QPen(theme_.canvas, 1));
        painter.drawLine(whole.bottomLeft(), whole.bottomRight());
        const bool isNamed = std::binary_search(named_.begin(), named_.end(), few.rows[place]);
        QFont font = this->font();
        font.setBold(isNamed);
        painter.setFont(font);
        painter.setPen(isNamed ? theme_.slower : theme_.text);
        const QRectF label(0, whole.top(), few.area.left() - 6, whole.height());
        painter.drawText(
            label, Qt::AlignRight | Qt::AlignVCenter,
            QFontMetrics(font).elidedText(labelOf(few.rows[place]), Qt::ElideRight, static_cast<int>(label.width())));
        painter.drawText(QRectF(few.area.right() + 8, whole.top(), width(), whole.height()),
                         Qt::AlignLeft | Qt::AlignVCenter,
                         shortDuration(std::llround(report_->ranks[few.rows[place]].lostNs)));
    }
    painter.setFont(font());
    painter.setPen(theme_.separator);
    painter.drawRect(few.area.adjusted(-1, -1, 0, 0));
}

void FleetMap::paintLabels(QPainter& painter) const {
    const Band all = band(false);
    const int line = fontMetrics().height();
    const size_t last = report_->steps.size() - 1;
    std::vector<std::pair<int, int>> taken;  // from, to
    const auto write = [&](double middle, const QString& text, const QColor& color) {
        const int top = static_cast<int>(middle) - line / 2;
        for (const auto& [from, to] : taken)
            if (top < to && top + line > from) return;
        taken.emplace_back(top, top + line);
        painter.setPen(color);
        const int wide = all.area.left() - 8;
        painter.drawText(QRect(0, top, wide, line), Qt::AlignRight | Qt::AlignVCenter,
                         fontMetrics().elidedText(text, Qt::ElideRight, wide));
    };
    // Ranks in findings always have a mark, even if others have no room.
    for (const size_t row : named_) {
        const QRectF cell = rectIn(all, places_[row], 0, last);
        const double middle = cell.center().y();
        painter.setPen(Qt::NoPen);
        painter.setBrush(theme_.slower);
        const double x = all.area.left() - 2;
        painter.drawPolygon(QPolygonF({{x, middle}, {x - 5, middle - 4}, {x - 5, middle + 4}}));
        painter.setBrush(Qt::NoBrush);
        write(middle, labelOf(row), theme_.slower);
    }
    if (ordered_.groups.empty()) {
        const double high = all.area.height() / static_cast<double>(all.rows.size());
        if (high >= line)
            for (size_t place = 0; place < all.rows.size(); ++place)
                write(rectIn(all, place, 0, last).center().y(), labelOf(all.rows[place]), theme_.mutedText);
        return;
    }
    for (size_t number = 0; number < ordered_.groups.size(); ++number) {
        const RowGroup& group = ordered_.groups[number];
        const QRectF from = rectIn(all, group.first, 0, last);
        const QRectF whole(from.left(), from.top(), from.width(), from.height() * static_cast<double>(group.count));
        if (number > 0 && whole.height() >= 6) {
            painter.setPen(QPen(theme_.separator, 1));
            painter.drawLine(whole.topLeft() - QPointF(6, 0), whole.topRight());
        }
        write(whole.center().y(), toQString(group.label), theme_.mutedText);
    }
}

void FleetMap::paintLosses(QPainter& painter) const {
    const Band all = band(false);
    double maximum = 0;
    for (const ReportRank& rank : report_->ranks) maximum = std::max(maximum, rank.lostNs);
    if (maximum <= 0) return;
    const int left = all.area.right() + 8, wide = width() - left - 8;
    for (int y = 0; y < all.area.height(); ++y) {
        const auto [first, end] = sharing(y, all.area.height(), all.rows.size());
        double lost = 0;
        bool isNamed = false;
        for (size_t place = first; place < end; ++place) {
            lost = std::max(lost, report_->ranks[all.rows[place]].lostNs);
            isNamed = isNamed || std::binary_search(named_.begin(), named_.end(), all.rows[place]);
        }
        const double length = wide * lost / maximum;
        if (length >= 1)
            painter.fillRect(QRectF(left, all.area.top() + y, length, 1),
                             isNamed ? theme_.slower : Theme::mix(theme_.canvas, theme_.mutedText, 0.55));
    }
}

void FleetMap::paintSteps(QPainter& painter) const {
    const Band all = band(false);
    const int line = fontMetrics().height(), top = all.area.bottom() + 3;
    const size_t columns = report_->steps.size();
    const double wide = all.area.width() / static_cast<double>(columns);
    const int room = fontMetrics().horizontalAdvance(QString::number(report_->steps.back())) + 24;
    const size_t between = stepBetweenMarks(wide, room);
    painter.setPen(theme_.mutedText);
    int free = 0;
    const auto mark = [&](size_t column, const QString& text) {
        const double x = all.area.left() + wide * (static_cast<double>(column) + 0.5);
        const int textWide = fontMetrics().horizontalAdvance(text);
        const int from = std::clamp(static_cast<int>(x) - textWide / 2, all.area.left(),
                                    std::max(all.area.left(), all.area.right() - textWide));
        if (from < free) return;
        painter.drawLine(QPointF(x, top - 2), QPointF(x, top + 1));
        painter.drawText(QRect(from, top + 1, textWide + 2, line), Qt::AlignLeft, text);
        free = from + textWide + 12;
    };
    mark(0, tr("step %1").arg(report_->steps.front()));
    for (size_t column = between; column < columns; column += between)
        mark(column, QString::number(report_->steps[column]));
}

void FleetMap::paintLegend(QPainter& painter) const {
    const Band all = band(false);
    const int line = fontMetrics().height(), top = all.area.bottom() + line + 10;
    int x = all.area.left();
    painter.setPen(theme_.mutedText);
    const auto write = [&](const QString& text) {
        const int wide = fontMetrics().horizontalAdvance(text);
        painter.drawText(QRect(x, top, wide + 2, line), Qt::AlignLeft | Qt::AlignVCenter, text);
        x += wide + 8;
    };
    write(valueText(scale_.low, measure_));
    const QRect bar(x, top + 2, 110, line - 4);
    const bool isSigned = measure_ == Measure::Late;
    paintHeatBar(painter, bar, colorOf(isSigned ? -1.0F : 0.0F), isSigned ? colorOf(0) : QColor(), colorOf(1));
    painter.setPen(theme_.separator);
    painter.drawRect(bar.adjusted(0, 0, -1, -1));
    painter.setPen(theme_.mutedText);
    x = bar.right() + 8;
    write(valueText(scale_.high, measure_));
    const QString what =
        isSigned ? tr("own time against the median of its role in that step") : toQString(name(measure_));
    if (x + fontMetrics().horizontalAdvance(what) < all.area.right()) write(what);
    const QRect grey(x + 8, top + 2, line - 4, line - 4);
    const QString nothing = tr("not recorded");
    if (grey.right() + fontMetrics().horizontalAdvance(nothing) + 8 > width()) return;
    painter.fillRect(grey, colorOf(unknown));
    x = grey.right() + 6;
    write(nothing);
}

void FleetMap::paintSelection(QPainter& painter, const Band& band) const {
    if (selection_.isEmpty()) return;
    const auto isIn = [this](size_t row) {
        return std::binary_search(selection_.rows.begin(), selection_.rows.end(), row);
    };
    for (size_t place = 0; place < band.rows.size(); ++place) {
        if (!isIn(band.rows[place])) continue;
        size_t last = place;
        while (last + 1 < band.rows.size() && isIn(band.rows[last + 1])) ++last;
        QRectF box = rectIn(band, place, selection_.firstColumn, selection_.lastColumn)
                         .united(rectIn(band, last, selection_.firstColumn, selection_.lastColumn));
        // A frame inside only a few pixels would cover the marked cells.
        box.adjust(-2, -2, box.width() < 3 ? 2 : 1, box.height() < 3 ? 2 : 1);
        painter.setBrush(Qt::NoBrush);
        painter.setPen(QPen(theme_.canvas, 3));
        painter.drawRect(box);
        painter.setPen(QPen(theme_.accent, 1.5));
        painter.drawRect(box);
        place = last;
    }
}

}  // namespace lanescope::views
