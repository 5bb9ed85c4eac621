// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/explain/PartsLegend.h"

#include <QHelpEvent>
#include <QPainter>
#include <QToolTip>
#include <algorithm>

#include "model/analysis/shownNumbers.h"
#include "views/text/shortDuration.h"
#include "views/text/shownText.h"

namespace lanescope::views {

using namespace analysis;

namespace {

constexpr int legendEdge = 12, legendGap = 8, entryGap = 16, maxLegendBar = 180;
/// Share of the bar below which a part has no name in the legend.
constexpr double minNamedShare = 0.005;

QString lineOf(StepPart part, const StepParts& parts) {
    const double share = static_cast<double>(parts[part]) / static_cast<double>(parts.sum());
    return PartsLegend::tr("%1: %2, %3 %")
        .arg(toQString(name(part)), shortDuration(parts[part]), toQString(percentText(100 * share)));
}

}  // namespace

QStringList partLines(const StepParts& parts) {
    QStringList lines;
    for (const StepPart part : explain::partsBySize(parts)) lines << lineOf(part, parts);
    return lines;
}

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

PartsLegend::PartsLegend(QWidget* parent) : QWidget(parent) {
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

void PartsLegend::setTheme(const Theme& theme) {
    theme_ = theme;
    update();
}

QFont PartsLegend::strong() const {
    QFont larger = font();
    larger.setWeight(QFont::DemiBold);
    return larger;
}

QSize PartsLegend::sizeHint() const { return {600, fontMetrics().height() + 6}; }

QRect PartsLegend::barArea() const {
    const int left = legendEdge + QFontMetrics(strong()).horizontalAdvance(title_) + legendGap;
    const int high = swatch();
    return {left, (height() - high) / 2, std::clamp(width() / 6, 40, maxLegendBar), high};
}

int PartsLegend::noteWidth() const {
    return note_.isEmpty() ? 0 : QFontMetrics(strong()).horizontalAdvance(note_) + entryGap;
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

std::vector<StepPart> PartsLegend::shownParts() const {
    std::vector<StepPart> shown;
    for (const Entry& each : entries(width() - barArea().right() - legendGap - legendEdge - noteWidth()))
        shown.push_back(each.part);
    return shown;
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
    painter.setFont(strong());
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
    painter.setFont(strong());
    write(noteLeft, end - noteLeft, note_);
}

bool PartsLegend::event(QEvent* event) {
    if (event->type() == QEvent::ToolTip && hasContent()) {
        QToolTip::showText(static_cast<QHelpEvent*>(event)->globalPos(),
                           partsTip({title_}, parts_, theme_, note_.isEmpty() ? QStringList() : QStringList{note_}),
                           this);
        return true;
    }
    return QWidget::event(event);
}

}  // namespace lanescope::views
