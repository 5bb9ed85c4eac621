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
        const double share = 100.0 * static_cast<double>(idleNs) / static_cast<double>(each.meanNs);
        return AboutRun::tr("; its GPU is idle %1 % of the time").arg(share, 0, 'f', 1);
    }
    return {};
}

}  // namespace

QString aboutRun(const ExplainedRun& run, const explain::Explanation& explanation) {
    if (!run.ranges) return {};
    return AboutRun::tr("%1 ranges \"%2\": median %3, longest %4, one every %5 in the mean%6.")
        .arg(QLocale(QLocale::English).toString(qlonglong(run.ranges->count)),
             toQString(printable(run.ranges->name)),
             toQString(formatDuration(run.ranges->medianNs)),
             toQString(formatDuration(run.ranges->longestNs)),
             toQString(formatDuration(run.ranges->paceNs)), idleText(run.summary, explanation));
}

}  // namespace lanescope::views
