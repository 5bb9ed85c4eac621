// SPDX-License-Identifier: GPL-3.0-or-later
// The part of FleetMap that paints.
#include <QPainter>
#include <algorithm>
#include <cmath>

#include "model/values/formatValue.h"
#include "views/fleet/FleetMap.h"
#include "views/text/toQString.h"
#include "views/theme/heatColors.h"

namespace lanescope::views {

using namespace fleet;

namespace {

/// 1, 2 or 5 times a power of ten, such that marks of so many pixels each have room.
size_t stepBetweenMarks(double pixelsPerColumn, int room) {
    for (size_t power = 1;; power *= 10)
        for (const size_t factor : {1, 2, 5})
            if (pixelsPerColumn * static_cast<double>(power * factor) >= room)
                return power * factor;
}

QString valueText(double value, Measure measure) {
    if (measure == Measure::Late)
        return QStringLiteral("%1%2 %")
            .arg(value < 0 ? QStringLiteral("−") : QStringLiteral("+"))
            .arg(std::abs(value) * 100, 0, 'f', std::abs(value) < 0.1 ? 1 : 0);
    return toQString(formatDuration(std::llround(value)));
}

}  // namespace

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
    const QString title =
        tr("All %1 ranks").arg(toQString(formatCount(static_cast<int64_t>(report_->ranks.size()))));
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
        painter.drawText(label, Qt::AlignRight | Qt::AlignVCenter,
                         QFontMetrics(font).elidedText(labelOf(few.rows[place]), Qt::ElideRight,
                                                       static_cast<int>(label.width())));
        painter.drawText(
            QRectF(few.area.right() + 8, whole.top(), width(), whole.height()),
            Qt::AlignLeft | Qt::AlignVCenter,
            toQString(formatDuration(std::llround(report_->ranks[few.rows[place]].lostNs))));
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
    // Who is named has a mark, however little room there is for the others.
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
                write(rectIn(all, place, 0, last).center().y(), labelOf(all.rows[place]),
                      theme_.mutedText);
        return;
    }
    for (size_t number = 0; number < ordered_.groups.size(); ++number) {
        const RowGroup& group = ordered_.groups[number];
        const QRectF from = rectIn(all, group.first, 0, last);
        const QRectF whole(from.left(), from.top(), from.width(),
                           from.height() * static_cast<double>(group.count));
        if (number > 0 && whole.height() >= 6) {
            painter.setPen(QPen(theme_.separator, 1));
            painter.drawLine(whole.topLeft() - QPointF(6, 0), whole.topRight());
        }
        write(whole.center().y(), toQString(group.label), theme_.mutedText);
    }
}

void FleetMap::paintLosses(QPainter& painter) const {
    const Band all = band(false);
    double most = 0;
    for (const ReportRank& rank : report_->ranks) most = std::max(most, rank.lostNs);
    if (most <= 0) return;
    const int left = all.area.right() + 8, wide = width() - left - 8;
    const size_t rows = all.rows.size();
    for (int y = 0; y < all.area.height(); ++y) {
        const size_t first = static_cast<size_t>(y) * rows / static_cast<size_t>(all.area.height());
        const size_t end =
            std::clamp(static_cast<size_t>(y + 1) * rows / static_cast<size_t>(all.area.height()),
                       first + 1, rows);
        double lost = 0;
        bool isNamed = false;
        for (size_t place = first; place < end; ++place) {
            lost = std::max(lost, report_->ranks[all.rows[place]].lostNs);
            isNamed = isNamed || std::binary_search(named_.begin(), named_.end(), all.rows[place]);
        }
        const double length = wide * lost / most;
        if (length >= 1)
            painter.fillRect(
                QRectF(left, all.area.top() + y, length, 1),
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
    paintHeatBar(painter, bar, colorOf(isSigned ? -1.0F : 0.0F), isSigned ? colorOf(0) : QColor(),
                 colorOf(1));
    painter.setPen(theme_.separator);
    painter.drawRect(bar.adjusted(0, 0, -1, -1));
    painter.setPen(theme_.mutedText);
    x = bar.right() + 8;
    write(valueText(scale_.high, measure_));
    const QString what = isSigned ? tr("own time against the median of its role in that step")
                                  : toQString(name(measure_));
    if (x + fontMetrics().horizontalAdvance(what) < all.area.right()) write(what);
    const QRect grey(x + 8, top + 2, line - 4, line - 4);
    const QString nothing = tr("not recorded");
    if (grey.right() + fontMetrics().horizontalAdvance(nothing) + 8 > width()) return;
    painter.fillRect(grey, colorOf(std::numeric_limits<float>::quiet_NaN()));
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
        // What is less than a few pixels would hide what it marks.
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
