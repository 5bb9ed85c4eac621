// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/bandwidth/copyTexts.h"

#include "model/trace/categories.h"
#include "model/values/formatTable.h"
#include "model/values/formatValue.h"
#include "views/text/toQString.h"
#include "views/timeline/timeTicks.h"

namespace lanescope::views {
namespace {

const QString arrow = QStringLiteral(" \u2192 ");

QString gpuNumber(const Trace& trace, uint32_t gpu) {
    return gpu < trace.gpus.size() ? QString::number(trace.gpus[gpu].id) : QStringLiteral("?");
}

}  // namespace

QString kindText(const Trace& trace, const CopyGroup& group) {
    const QString kind = toQString(group.kindName());
    if (group.gpu == noIndex || group.gpu == group.peer) return kind;
    return QStringLiteral("%1 GPU %2").arg(kind, gpuNumber(trace, group.gpu)) + arrow +
           gpuNumber(trace, group.peer);
}

QString memoryText(const CopyGroup& group) {
    if (group.source == MemoryKind::Unknown && group.destination == MemoryKind::Unknown) return {};
    if (group.isMemset) return toQString(name(group.destination));
    return toQString(name(group.source)) + arrow + toQString(name(group.destination));
}

QString gpuText(const Trace& trace, const CopyGroup& group) {
    if (group.gpu == noIndex) return {};
    const QString first = QStringLiteral("GPU ") + gpuNumber(trace, group.gpu);
    if (group.gpu == group.peer || group.peer == noIndex) return first;
    return first + arrow + QStringLiteral("GPU ") + gpuNumber(trace, group.peer);
}

QString groupText(const Trace& trace, const CopyGroup& group) {
    const QString kind = kindText(trace, group);
    // Only the host's side says something that the kind does not.
    if (group.kind == MemcpyKind::HtoD && group.destination == MemoryKind::Device)
        return kind + QLatin1Char(' ') + toQString(name(group.source));
    if (group.kind == MemcpyKind::DtoH && group.source == MemoryKind::Device)
        return kind + QLatin1Char(' ') + toQString(name(group.destination));
    const bool isWithinGpus =
        group.source == MemoryKind::Device && group.destination == MemoryKind::Device;
    const QString memory = memoryText(group);
    return memory.isEmpty() || isWithinGpus ? kind : kind + QStringLiteral(", ") + memory;
}

QString rateText(double gigabytesPerSecond) {
    return toQString(formatCell(Cell(gigabytesPerSecond), Unit::GigabytesPerSecond));
}

QString copyText(const Trace& trace, const CopyGroup& group, const CopyPoint& copy) {
    return QStringLiteral("%1: %2 at %3 in %4, at %5")
        .arg(groupText(trace, group), toQString(formatBytes(copy.bytes)),
             rateText(copy.gigabytesPerSecond),
             toQString(formatDuration(copy.endNs - copy.startNs)), formatTime(copy.startNs));
}

QString peakText(const CopyPeak& peak) {
    QString link;
    switch (peak.link) {
        case LinkKind::Pcie:
            link = QStringLiteral("PCIe");
            break;
        case LinkKind::NvLink:
            link = QStringLiteral("NVLink");
            break;
        case LinkKind::Dram:
            link = QStringLiteral("GPU memory");
            break;
        case LinkKind::HostCopy:
            link = QStringLiteral("Host copy");
            break;
    }
    return link + QStringLiteral(", ") + toQString(name(peak.origin));
}

QString peakOriginText(const CopyPeak& peak) {
    const QString rate = rateText(peak.gigabytesPerSecond);
    if (peak.origin == PeakOrigin::Measured)
        return QStringLiteral("Peak: %1, measured on this machine by lanescope doctor --measure.")
            .arg(rate);
    switch (peak.link) {
        case LinkKind::NvLink:
            return QStringLiteral(
                       "Peak: %1, NVLinks times the rate of each. No copy quite reaches "
                       "it.")
                .arg(rate);
        case LinkKind::Dram:
            return QStringLiteral(
                       "Peak: %1, by clock and width of the GPU's memory, of which a "
                       "copy reads and writes each byte.")
                .arg(rate);
        case LinkKind::Pcie:
        case LinkKind::HostCopy:
            break;
    }
    return QStringLiteral(
               "Peak: %1, PCIe lanes times the rate of each. No copy quite reaches it; lanescope "
               "doctor --measure tells what one can.")
        .arg(rate);
}

QColor colorOf(const Theme& theme, const CopyGroup& group) {
    return theme.colorOf(group.isMemset ? SliceCategory::Memset : memcpyCategory(group.kind));
}

}  // namespace lanescope::views
