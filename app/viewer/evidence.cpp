// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/viewer/evidence.h"

#include <QBuffer>
#include <QClipboard>
#include <QGuiApplication>
#include <QMimeData>
#include <QPixmap>

#include "app/viewer/TracePage.h"
#include "model/select/SelectionStatistics.h"
#include "model/select/selectionTables.h"
#include "model/trace/kinds/eventFacts.h"
#include "model/values/formatValue.h"
#include "views/text/toQString.h"
#include "views/timeline/TimelineView.h"

namespace lanescope::viewer {

using views::toQString;

namespace {

constexpr size_t mostNames = 5;

TimeRange rangeOf(const views::TimelineView& timeline) {
    if (timeline.selectedRange()) return *timeline.selectedRange();
    return timeline.visibleRange()->range().shifted(timeline.timeOrigin());
}

/// Gives the kernels of a range back, in our files and in exports of Nsight Systems.
QString queryFor(TimeRange range) {
    return QStringLiteral(
               "SELECT k.start, k.end - k.start AS duration, s.value AS name, k.deviceId,\n"
               "       k.streamId\n"
               "FROM CUPTI_ACTIVITY_KIND_KERNEL k JOIN StringIds s ON s.id = k.shortName\n"
               "WHERE k.end > %1 AND k.start < %2\nORDER BY k.start;")
        .arg(range.startNs)
        .arg(range.endNs);
}

QString namesIn(const Trace& trace, const SelectionStatistics& statistics) {
    QString text;
    for (size_t index = 0; index < statistics.names.size() && index < mostNames; ++index) {
        const NameStatistics& each = statistics.names[index];
        text += QStringLiteral("  %1  %2 x  %3\n")
                    .arg(toQString(formatDuration(each.sums.totalNs)))
                    .arg(each.sums.count)
                    .arg(toQString(nameOf(trace, each.key)).simplified());
    }
    return text;
}

}  // namespace

QString evidenceText(const TracePage& page) {
    const Trace& trace = *page.trace();
    const views::TimelineView& timeline = page.timeline();
    const TimeRange range = rangeOf(timeline);
    const SelectionStatistics statistics = selectionStatistics(trace, trace.sums, range);
    QString text =
        QStringLiteral("%1 (%2), %3 to %4\n%5\n%6")
            .arg(toQString(trace.title), toQString(trace.producer),
                 toQString(formatTimestamp(range.startNs)), toQString(formatTimestamp(range.endNs)),
                 toQString(selectionHeadline(trace, statistics)), namesIn(trace, statistics));
    if (const EventRef event = timeline.selectedEvent(); event.isValid()) {
        text += QStringLiteral("\n%1\n").arg(toQString(trace.nameOf(event)).simplified());
        for (const Property& fact : describe(trace, event))
            text += QStringLiteral("  %1: %2\n").arg(toQString(fact.name), toQString(fact.value));
    }
    return text + QStringLiteral("\n") + queryFor(range) + QStringLiteral("\n");
}

void copyEvidence(TracePage& page) {
    const QString text = evidenceText(page);
    const QImage picture = page.timeline().grab().toImage();
    QByteArray png;
    QBuffer buffer(&png);
    buffer.open(QIODevice::WriteOnly);
    picture.save(&buffer, "PNG");
    auto* data = new QMimeData;
    data->setText(text);
    data->setImageData(picture);
    data->setHtml(QStringLiteral("<img src=\"data:image/png;base64,%1\"><pre>%2</pre>")
                      .arg(QString::fromLatin1(png.toBase64()), text.toHtmlEscaped()));
    QGuiApplication::clipboard()->setMimeData(data);
}

}  // namespace lanescope::viewer
