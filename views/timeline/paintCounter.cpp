#include "views/timeline/paintCounter.h"

#include <QPainter>
#include <algorithm>
#include <cmath>

namespace lanescope {
namespace {

constexpr double topInset = 3;
constexpr double lineWidth = 1.5;
constexpr double fillShare = 0.38;  // of the line's colour over the canvas
constexpr double labelInset = 4;

struct Scale {
    double least = 0;
    double greatest = 1;
};

Scale scaleOf(const CounterSeries& counter) {
    Scale scale;
    scale.least = std::min(0.0, counter.minimum());
    scale.greatest = counter.unit == CounterUnit::Percent ? std::max(100.0, counter.maximum())
                                                          : counter.maximum();
    if (scale.greatest <= scale.least) scale.greatest = scale.least + 1;
    return scale;
}

void paintScale(QPainter& painter, const CounterSeries& counter, const QRectF& area,
                const Theme& theme) {
    QFont font = painter.font();
    if (font.pointSizeF() > 0) font.setPointSizeF(font.pointSizeF() * 0.9);
    const QFontMetricsF metrics(font);
    const QString text =
        QString::fromStdString(formatCounter(scaleOf(counter).greatest, counter.unit));
    const QRectF plate(0, area.top() + 1, metrics.horizontalAdvance(text) + 2 * labelInset,
                       metrics.height());
    if (plate.height() > area.height() || plate.width() > area.width() / 3) return;
    QColor veil = theme.canvas;
    veil.setAlpha(200);
    painter.save();
    painter.fillRect(plate, veil);
    painter.setFont(font);
    painter.setPen(theme.mutedText);
    painter.drawText(plate, Qt::AlignCenter, text);
    painter.restore();
}

}  // namespace

double counterY(const CounterSeries& counter, double value, const QRectF& area) {
    const Scale scale = scaleOf(counter);
    const double share = (value - scale.least) / (scale.greatest - scale.least);
    return area.bottom() - std::clamp(share, 0.0, 1.0) * (area.height() - topInset);
}

void paintCounter(QPainter& painter, const CounterSeries& counter,
                  const std::vector<CounterColumn>& columns, const QRectF& area,
                  double devicePixelRatio, const Theme& theme) {
    const QColor line = theme.colorOf(SliceCategory::Counter);
    const QColor fill = Theme::mix(theme.canvas, line, fillShare);
    painter.fillRect(QRectF(area.left(), area.top() + topInset - 1, area.width(), 1), theme.grid);
    for (size_t first = 0; first < columns.size();) {
        // Columns that look alike become one rectangle: on a remote display each one costs.
        size_t next = first + 1;
        while (next < columns.size() && columns[next] == columns[first]) ++next;
        const CounterColumn& column = columns[first];
        const double left = area.left() + static_cast<double>(first) / devicePixelRatio;
        const double width = static_cast<double>(next - first) / devicePixelRatio;
        first = next;
        if (!column.hasValue) continue;
        const double top = counterY(counter, column.maximum, area);
        const double low = std::max(top + lineWidth, counterY(counter, column.minimum, area));
        painter.fillRect(QRectF(left, top, width, area.bottom() - top), fill);
        const double lineBottom = std::min(low, area.bottom());
        painter.fillRect(
            QRectF(left, std::min(top, lineBottom - 1), width, std::max(1.0, lineBottom - top)),
            line);
    }
    paintScale(painter, counter, area, theme);
}

}  // namespace lanescope
