// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/viewer/FinderEntry.h"

#include <QAction>
#include <QMenu>
#include <QPointer>

#include "app/viewer/ViewerActions.h"
#include "model/format/text.h"
#include "views/jobs/LatestJob.h"
#include "views/text/shownText.h"
#include "views/text/typedText.h"
#include "views/timeline/TimelineView.h"

namespace lanescope::viewer {
namespace {

void addMenu(std::vector<FinderEntry>& entries, const QMenu& menu, const QString& title) {
    for (QAction* action : menu.actions()) {
        if (action->isSeparator() || !action->isEnabled() || action->text().isEmpty()) continue;
        if (const QMenu* inner = action->menu()) {
            addMenu(entries, *inner, title + " › " + commandName(inner->title()));
            continue;
        }
        const QPointer<QAction> safe(action);
        entries.push_back(
            {commandName(action->text()), title, action->shortcut().toString(QKeySequence::NativeText), [safe] {
                 if (safe) safe->trigger();
             }});
    }
}

QString kindOf(TrackKind kind) {
    switch (kind) {
        case TrackKind::Gpu: return QStringLiteral("GPU");
        case TrackKind::Stream: return QStringLiteral("stream");
        case TrackKind::Process: return QStringLiteral("process");
        case TrackKind::Thread: return QStringLiteral("thread");
        case TrackKind::Counter: return QStringLiteral("counter");
        case TrackKind::StreamProjection:
        case TrackKind::ThreadNvtx:
        case TrackKind::ThreadApi:
        case TrackKind::ThreadStates:
        case TrackKind::ThreadStacks:
        case TrackKind::CounterStates:
        case TrackKind::CounterGroup:
        case TrackKind::GpuEvents:
        case TrackKind::ProcessEvents: break;
    }
    return QStringLiteral("track");
}

}  // namespace

QString commandName(const QString& text) { return QString(text).remove('&').remove(QStringLiteral("…")); }

std::vector<FinderEntry> commandEntries(const ViewerActions& actions) {
    std::vector<FinderEntry> entries;
    for (const QMenu* menu : actions.menus()) addMenu(entries, *menu, commandName(menu->title()));
    return entries;
}

void addTrackEntries(std::vector<FinderEntry>& entries, views::TimelineView& timeline) {
    if (!timeline.trace()) return;
    const std::vector<Track>& tracks = timeline.trace()->tracks;
    const QPointer<views::TimelineView> safe(&timeline);
    for (uint32_t track = 0; track < tracks.size(); ++track) {
        // The names of the groups around it distinguish one stream 7 from the other.
        QString detail = kindOf(tracks[track].kind);
        const int32_t parent = tracks[track].parent;
        if (parent >= 0 && static_cast<uint32_t>(parent) < track)
            detail += " · " + views::toQString(tracks[parent].title).simplified();
        QString text = views::toQString(tracks[track].title).simplified();
        if (!tracks[track].subtitle.empty()) text += ", " + views::toQString(tracks[track].subtitle).simplified();
        entries.push_back({text, detail, {}, [safe, track, trace = timeline.trace()] {
                               if (safe && safe->trace() == trace) safe->flashTrack(track);
                           }});
    }
}

namespace {

/// A limit for names such as "step 1" to "step 1000000"; longer lists are not read.
constexpr size_t maxNames = 200'000;

}  // namespace

FinderNames distinctNames(const Trace& trace) {
    FinderNames result;
    std::vector<bool> isTaken(trace.strings.size(), false);
    const auto add = [&](StringIndex index, const char* kind) {
        if (index == 0 || index >= isTaken.size() || isTaken[index]) return;
        if (result.names.size() == maxNames) return;
        isTaken[index] = true;
        result.names.push_back({std::string(trace.strings.at(index)), kind});
    };
    for (const LaunchConfig& config : trace.launchConfigs)
        add(config.shortName, QT_TRANSLATE_NOOP("FinderModel", "kernel"));
    for (uint32_t row = 0; row < trace.nvtx.size(); ++row)
        add(trace.nvtx.text[row], QT_TRANSLATE_NOOP("FinderModel", "NVTX range"));
    for (uint32_t row = 0; row < trace.apiCalls.size(); ++row)
        add(trace.apiCalls.name[row], QT_TRANSLATE_NOOP("FinderModel", "CUDA API call"));
    result.lowered.reserve(result.names.size());
    for (const FinderNames::Name& name : result.names) result.lowered.push_back(lowerCase(name.text));
    return result;
}

NameCatalog::NameCatalog(QObject* parent) : QObject(parent), job_(new views::LatestJob(this)) {}

void NameCatalog::request(const TracePtr& trace, std::function<void(const Names&)> use) {
    if (!trace) return;
    if (names_ && trace_.lock() == trace) return use(names_);
    job_->start([this, trace, use = std::move(use)]() -> views::LatestJob::Publish {
        auto names = std::make_shared<const FinderNames>(distinctNames(*trace));
        return [this, trace, use, names] {
            trace_ = trace;
            names_ = names;
            use(names);
        };
    });
}

}  // namespace lanescope::viewer
