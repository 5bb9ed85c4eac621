// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/viewer_scale/measurementTable.h"

#include <QJsonObject>
#include <functional>

namespace lanescope {

namespace {

struct Row {
    const char* title;
    const char* key;
    int decimals;
    /// Divisor of the value; null if none.
    const char* divisor = nullptr;
    double scale = 1;
};

constexpr double mib = 1.0 / (1 << 20);

constexpr Row rows[] = {
    {"events", "events", 0},
    {"open to the first full picture, ms (median)", "openMs", 1},
    {"- the quickest, ms", "openBestMs", 1},
    {"- the first time, ms", "openFirstMs", 1},
    {"- until the trace is there, ms", "openReadMs", 1},
    {"- CPU time of all threads, ms", "openCpuMs", 1},
    {"memory: anonymous, MiB", "anonymousBytes", 1, nullptr, mib},
    {"- mapped, MiB", "mappedBytes", 1, nullptr, mib},
    {"- both, bytes an event", "residentBytes", 1, "events"},
    {"- of it a window without events, MiB", "emptyBytes", 1, nullptr, mib},
    {"- without that, bytes an event", "traceBytes", 1, "events"},
    {"disk: trace, bytes an event", "fileBytes", 1, "events"},
    {"- with index, bytes an event", "diskBytes", 1, "events"},
    {"100,000 one-pixel rectangles, ms (floor)", "floorMs", 2},
    {"frame p50, ms", "frameP50Ms", 2},
    {"- p95, ms", "frameP95Ms", 2},
    {"- p99, ms", "frameP99Ms", 2},
    {"- longest, ms", "frameMaxMs", 2},
    {"- longest, ms on the wall", "frameWallMaxMs", 2},
    {"- p99 / floor", "frameP99Ms", 2, "floorMs"},
    {"longest stall while loading, ms", "stallLoadMs", 1},
    {"  - CPU time of the GUI thread, ms", "stallLoadCpuMs", 1},
    {"- while searching, ms", "stallSearchMs", 1},
    {"  - CPU time of the GUI thread, ms", "stallSearchCpuMs", 1},
    {"- while selecting, ms", "stallSelectMs", 1},
    {"  - CPU time of the GUI thread, ms", "stallSelectCpuMs", 1},
    {"- while summing up, ms", "stallSummaryMs", 1},
    {"  - CPU time of the GUI thread, ms", "stallSummaryCpuMs", 1},
    {"- while following a recording, ms", "stallFollowMs", 1},
    {"  - CPU time of the GUI thread, ms", "stallFollowCpuMs", 1},
    {"- while opening a comparison, ms", "stallCompareMs", 1},
    {"  - CPU time of the GUI thread, ms", "stallCompareCpuMs", 1},
    {"statistics of a range, ms (median)", "selectMedianMs", 2},
    {"- the slowest of 200, ms", "selectMaxMs", 2},
    {"search: first hit, ms (worst pattern)", "searchFirstMs", 2},
    {"- all hits, ms (worst pattern)", "searchAllMs", 1},
    {"plain SELECT of all cells, ms", "scanMs", 0},
    {"reading and making the index, ms", "readMs", 0},
    {"- CPU time of all threads, ms", "readCpuMs", 0},
    {"- / plain SELECT (median of the rounds)", "readRatio", 2},
    {"- / plain SELECT (best round)", "readBestRatio", 2},
};

QString cell(const QJsonObject& file, const Row& row) {
    if (!file.contains(QLatin1String(row.key))) return QStringLiteral("-");
    double value = file[QLatin1String(row.key)].toDouble() * row.scale;
    if (row.divisor != nullptr) value /= file[QLatin1String(row.divisor)].toDouble();
    return QString::number(value, 'f', row.decimals);
}

}  // namespace

QString measurementTable(const QJsonArray& files) {
    QString text = QStringLiteral("| |"), rule = QStringLiteral("|---|");
    for (const QJsonValue& file : files) {
        text += QStringLiteral(" %1 |").arg(file[QLatin1String("name")].toString());
        rule += QStringLiteral("---:|");
    }
    text += QLatin1Char('\n') + rule + QLatin1Char('\n');
    for (const Row& row : rows) {
        text += QStringLiteral("| %1 |").arg(QLatin1String(row.title));
        for (const QJsonValue& file : files) text += QStringLiteral(" %1 |").arg(cell(file.toObject(), row));
        text += QLatin1Char('\n');
    }
    for (const QJsonValue& file : files)
        text += QStringLiteral("\nFrames of %1:\n\n%2")
                    .arg(file[QLatin1String("name")].toString(), file[QLatin1String("histogram")].toString());
    return text;
}

}  // namespace lanescope
