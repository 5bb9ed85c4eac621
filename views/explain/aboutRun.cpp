// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/explain/aboutRun.h"

#include <QCoreApplication>
#include <QLocale>

#include "model/values/formatValue.h"
#include "views/text/toQString.h"

namespace lanescope::views {

using namespace compare;

namespace {

struct AboutRun {
    Q_DECLARE_TR_FUNCTIONS(AboutRun)
};

QString idleText(const RunSummary& summary, const explain::Explanation& explanation) {
    for (const explain::WorkerParts& each : explanation.workers) {
        if (each.worker != summary.criticalWorker() || each.meanNs <= 0) continue;
        int64_t idleNs = 0;
        for (size_t index = 0; index < stepPartCount; ++index)
            if (const auto part = static_cast<StepPart>(index); isIdle(part))
                idleNs += each.parts[part];
        // Of a server also what lies between its requests.
        const WorkerSummary& worker = summary.workers[each.worker];
        const auto steps = static_cast<int64_t>(worker.steps.size());
        const StepPauses& pauses = worker.pauses;
        const bool isServer = summary.kind == StepKind::Request;
        const double share = 100.0 *
                             static_cast<double>(idleNs + (isServer ? pauses.idleNs / steps : 0)) /
                             static_cast<double>(each.meanNs + (isServer ? pauses.ns / steps : 0));
        return AboutRun::tr("; its GPU is idle %1 % of the time").arg(share, 0, 'f', 1);
    }
    return {};
}

/// Some programs write all that they know into the name of a range.
QString shortened(const QString& name) {
    constexpr qsizetype most = 60, end = 20;
    if (name.size() <= most) return name;
    return name.left(most - end) + QStringLiteral("…") + name.right(end);
}

}  // namespace

QString aboutRun(const ExplainedRun& run, const explain::Explanation& explanation) {
    if (!run.ranges) return {};
    return AboutRun::tr("%1 ranges \"%2\": median %3, longest %4, one every %5 in the median%6.")
        .arg(QLocale(QLocale::English).toString(qlonglong(run.ranges->count)),
             shortened(toQString(printable(run.ranges->name))),
             toQString(formatDuration(run.ranges->medianNs)),
             toQString(formatDuration(run.ranges->longestNs)),
             toQString(formatDuration(run.ranges->paceNs)), idleText(run.summary, explanation));
}

}  // namespace lanescope::views
