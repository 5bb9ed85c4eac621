// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/flame/flameTexts.h"

#include <QCoreApplication>
#include <QLocale>
#include <QStringList>

#include "model/trace/stacks.h"
#include "model/values/formatValue.h"
#include "model/values/knownRangeName.h"
#include "views/text/toQString.h"

namespace lanescope::views {
namespace {

struct Translated {
    Q_DECLARE_TR_FUNCTIONS(FlameTexts)
};

QString percent(int64_t part, int64_t whole) {
    const double share = whole > 0 ? 100 * double(part) / double(whole) : 0;
    return QStringLiteral("%1 %").arg(share, 0, 'f', share < 1 && share > 0 ? 2 : 1);
}

QString duration(int64_t ns) {
    return toQString(formatDuration(ns));
}

QString kindOf(FrameKind kind) {
    switch (kind) {
        case FrameKind::All:
            return Translated::tr("All work of GPUs");
        case FrameKind::Function:
            return Translated::tr("Python function");
        case FrameKind::LibraryFunction:
            return Translated::tr("Python function of a package");
        case FrameKind::Thread:
            return Translated::tr("Thread that launched for the stack above");
        case FrameKind::Step:
            return Translated::tr("Step");
        case FrameKind::Range:
            return Translated::tr("NVTX range");
        case FrameKind::Operator:
            return Translated::tr("Operator");
        case FrameKind::Work:
            return Translated::tr("Ran on a GPU");
        case FrameKind::Unknown:
            break;
    }
    return Translated::tr("Nothing is known of what launched it");
}

}  // namespace

QString timeOf(const FlameTree& tree, uint32_t node) {
    const int64_t ns = tree.nodes()[node].totalNs;
    return QStringLiteral("%1, %2").arg(duration(ns), percent(ns, tree.totalNs()));
}

QString detailOf(const FlameTree& tree, uint32_t node, uint32_t root) {
    const FlameTree::Node& frame = tree.nodes()[node];
    QStringList lines{kindOf(frame.frame.kind)};
    lines << Translated::tr("GPU time: %1, %2 of all")
                 .arg(duration(frame.totalNs), percent(frame.totalNs, tree.totalNs()));
    if (root != 0 && node != root)
        lines << Translated::tr("%1 of what is shown")
                     .arg(percent(frame.totalNs, tree.nodes()[root].totalNs));
    if (frame.frame.kind != FrameKind::Work && frame.selfNs > 0)
        lines << Translated::tr("in no frame below: %1").arg(duration(frame.selfNs));
    if (frame.childCount > 0)
        lines << Translated::tr("%n frame(s) below", nullptr, static_cast<int>(frame.childCount));
    return lines.join(QLatin1Char('\n'));
}

QString stackOf(const FlameTree& tree, uint32_t node) {
    QString text = Translated::tr("GPU time\t%1\tns\t%2\n")
                       .arg(tree.nodes()[node].totalNs)
                       .arg(percent(tree.nodes()[node].totalNs, tree.totalNs()));
    for (uint32_t at = node; at != noIndex && at != 0; at = tree.nodes()[at].parent)
        text += toQString(tree.nameOf(at)) + QLatin1Char('\n');
    return text;
}

QString textOf(const FlameTree& tree, const FlameMatches& matches) {
    return Translated::tr("%1, %2, %3 of GPU time")
        .arg(matches.frames == 1 ? Translated::tr("1 frame")
                                 : Translated::tr("%1 frames")
                                       .arg(QLocale(QLocale::English).toString(matches.frames)),
             duration(matches.ns), percent(matches.ns, tree.totalNs()));
}

QString searchFor(const Trace& trace, const FlameTree& tree, uint32_t node, bool isByLine) {
    const FlameTree::Frame& frame = tree.nodes()[node].frame;
    const QString name = toQString(tree.nameOf(node));
    switch (frame.kind) {
        case FrameKind::Work:
            return name;
        case FrameKind::Step:
        case FrameKind::Range:
        case FrameKind::Operator: {
            const std::string whole = name.toStdString();
            return toQString(searchedPart(whole)).trimmed();
        }
        case FrameKind::Function:
        case FrameKind::LibraryFunction: {
            if (frame.stack >= trace.stacks.size()) return {};
            if (isByLine && trace.stacks.file[frame.stack] != 0)
                return QStringLiteral("line:") + toQString(placeText(trace, frame.stack));
            return QStringLiteral("function:") +
                   toQString(trace.strings.at(trace.stacks.function[frame.stack]));
        }
        default:
            return {};
    }
}

}  // namespace lanescope::views
