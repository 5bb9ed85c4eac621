// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/explain/IdlePanel.h"

#include <utility>

#include "model/analysis/ThreadActivities.h"
#include "model/analysis/shownNumbers.h"
#include "model/text/formatValue.h"
#include "views/details/DetailsPanel.h"
#include "views/text/shownText.h"
#include "views/theme/layouts.h"

namespace lanescope::views {

using namespace analysis;

namespace {

constexpr size_t maxCauses = 3;
constexpr uint32_t smallTrace = 1'000'000;  // pieces of GPU work

}  // namespace

QString causeText(const GapCause& cause) {
    QString text = toQString(name(cause.part)) + QStringLiteral(": ") + toQString(shortName(cause.name));
    if (!cause.path.empty()) text += IdleFinder::tr(", in %1").arg(toQString(printable(cause.path)));
    return text;
}

IdleFinder::IdleFinder(QObject* parent) : QObject(parent), job_(new LatestJob(this)) {
    connect(job_, &LatestJob::finished, this, &IdleFinder::found);
}

void IdleFinder::setTrace(TracePtr trace) {
    job_->cancel();
    trace_ = std::move(trace);
    gaps_.reset();
    isRequested_ = false;
}

void IdleFinder::demand() {
    if (isRequested_ || !trace_) return;
    isRequested_ = true;
    job_->start([this, trace = trace_, flag = job_->newCancelFlag()]() -> LatestJob::Publish {
        Result<IdleGaps> made = IdleGaps::of(*trace, {}, [&flag](double) { return !flag->load(); });
        // Without steps the run has no rank and nothing is published.
        if (!made) return [] {};
        // The gaps refer to the trace.
        auto kept = std::make_shared<std::pair<TracePtr, IdleGaps>>(trace, std::move(*made));
        std::shared_ptr<const IdleGaps> gaps = freedInBackground(std::shared_ptr<const IdleGaps>(kept, &kept->second));
        return [this, gaps] { gaps_ = gaps; };
    });
}

void IdleFinder::demandIfSmall() {
    if (!trace_) return;
    const uint64_t count =
        uint64_t{trace_->kernels.size()} + trace_->memcpys.size() + trace_->memsets.size() + trace_->graphs.size();
    if (count <= smallTrace) demand();
}

bool IdleFinder::partsOf(uint32_t gpu, TimeRange time, size_t count, std::vector<StepParts>& columns) const {
    const PartTimeline* parts = nullptr;
    for (size_t worker = 0; gaps_ && worker < gaps_->workerCount(); ++worker) {
        if (gaps_->gpuOf(worker) != gpu) continue;
        if (parts != nullptr) return false;
        parts = &gaps_->partsOf(worker);
    }
    if (parts == nullptr) return false;
    parts->columns(time, count, columns);
    return true;
}

std::optional<uint32_t> IdleFinder::gpuOf(uint32_t track) const {
    if (!trace_ || track >= trace_->tracks.size()) return std::nullopt;
    const Track& which = trace_->tracks[track];
    if (which.kind == TrackKind::Gpu) return which.subject;
    if (which.kind == TrackKind::Stream) return trace_->streams[which.subject].gpu;
    return std::nullopt;
}

std::optional<IdleFinder::Place> IdleFinder::gapOf(uint32_t gpu, int64_t timeNs) const {
    return gaps_ ? gaps_->find(gpu, timeNs) : std::nullopt;
}

std::optional<IdleFinder::Place> IdleFinder::gapAt(uint32_t track, int64_t timeNs) const {
    const auto gpu = gpuOf(track);
    return gpu ? gapOf(*gpu, timeNs) : std::nullopt;
}

std::optional<EmptyPlace> IdleFinder::placeAt(uint32_t track, int64_t timeNs) {
    if (!gpuOf(track)) return std::nullopt;
    if (!gaps_) {
        demand();
        if (!isBusy()) return std::nullopt;
        return EmptyPlace{tr("Nothing runs here"), tr("Working out why…"), theme_.mutedText, {}};
    }
    const auto place = gapAt(track, timeNs);
    if (!place) return std::nullopt;
    const IdleGap& gap = gaps_->at(*place);
    const std::vector<GapCause> causes = gaps_->whyIdle(place->worker, gap.range);
    if (causes.empty()) return std::nullopt;
    EmptyPlace explained{.title = tr("GPU %1 idle for %2")
                                      .arg(trace_->gpus[gaps_->gpuOf(place->worker)].id)
                                      .arg(shortDuration(gap.range.durationNs())),
                         .color = theme_.colorOf(causes.front().part),
                         .range = gap.range};
    QStringList lines;
    for (const GapCause& cause : causes) {
        if (static_cast<size_t>(lines.size()) == maxCauses) break;
        const QString text = causeText(cause);
        lines << (causes.size() == 1 ? text : tr("%1  %2").arg(shortDuration(cause.ns), text));
    }
    if (causes.size() > maxCauses) lines << tr("and %1 more").arg(causes.size() - maxCauses);
    if (gap.call != noIndex)
        lines << tr("Next: %1, from thread %2")
                     .arg(toQString(shortContributorName(trace_->nameOf(gap.next))))
                     .arg(trace_->threads[trace_->apiCalls.thread[gap.call]].tid);
    lines << tr("Click for details");
    explained.detail = lines.join(QLatin1Char('\n'));
    return explained;
}

GapMark IdleFinder::markOf(Place place) const {
    const IdleGap& gap = gaps_->at(place);
    const uint32_t gpu = gaps_->gpuOf(place.worker);
    GapMark mark{gap.range, {}, theme_.mutedText};
    for (uint32_t track = 0; track < trace_->tracks.size(); ++track)
        if (gpuOf(track) == gpu) mark.tracks.push_back(track);
    const std::vector<GapCause> causes = gaps_->whyIdle(place.worker, gap.range);
    if (!causes.empty()) mark.color = theme_.colorOf(causes.front().part);
    return mark;
}

IdlePanel::IdlePanel(QWidget* parent) : QWidget(parent), sheet_(new FactSheet(this)) {
    columnIn(this)->addWidget(sheet_);
    sheet_->setAccessibleName(tr("Why the GPU was idle"));
    connect(sheet_, &FactSheet::eventActivated, this, &IdlePanel::eventActivated);
}

void IdlePanel::setGap(const TracePtr& trace, std::shared_ptr<const IdleGaps> gaps, IdleGaps::Place place) {
    trace_ = trace;
    gaps_ = std::move(gaps);
    place_ = place;
    refresh();
}

void IdlePanel::setTheme(const Theme& theme) {
    theme_ = theme;
    // The text contains colours; the sheet has the new ones after this event.
    QMetaObject::invokeMethod(this, &IdlePanel::refresh, Qt::QueuedConnection);
}

void IdlePanel::refresh() {
    sheet_->clearSheet();
    if (gaps_) {
        const IdleGap& gap = gaps_->at(place_);
        const std::vector<GapCause> causes = gaps_->whyIdle(place_.worker, gap.range);
        sheet_->addTitle(tr("GPU %1 idle, %2")
                             .arg(trace_->gpus[gaps_->gpuOf(place_.worker)].id)
                             .arg(shortDuration(gap.range.durationNs())),
                         causes.empty() ? QColor() : theme_.colorOf(causes.front().part));
        if (!causes.empty()) sheet_->addCaption(toQString(name(causes.front().part)));
        addCauses(causes, gap.range);
        addThreads(gap);
        addNeighbours(gap);
        const IdleGaps::Likes likes = gaps_->likesOf(place_);
        if (!causes.empty() && likes.count > 0) {
            sheet_->addHeading(tr("In the whole run"));
            sheet_->addParagraph(tr("%1 gaps with this cause, %2 in total.")
                                     .arg(toQString(formatCount(likes.count)), shortDuration(likes.ns)));
        }
        sheet_->addParagraph(tr("Press I for the next-longest gap."));
    }
    sheet_->finish();
}

void IdlePanel::addCauses(const std::vector<GapCause>& causes, TimeRange gap) {
    std::vector<Property> facts{{"From", formatTimestamp(gap.startNs)}, {"To", formatTimestamp(gap.endNs)}};
    if (gaps_->at(place_).call != noIndex) {
        const Thread& thread = trace_->threads[trace_->apiCalls.thread[gaps_->at(place_).call]];
        facts.push_back({"Waiting on", thread.name.empty()
                                           ? "TID " + std::to_string(thread.tid)
                                           : printable(thread.name) + ", TID " + std::to_string(thread.tid)});
    }
    sheet_->addFacts(facts);
    sheet_->addHeading(tr("Why"));
    for (const GapCause& cause : causes)
        sheet_->addParagraph(tr("%1  %2").arg(shortDuration(cause.ns), causeText(cause)), theme_.colorOf(cause.part));
}

void IdlePanel::addThreads(const IdleGap& gap) {
    const std::vector<IdleGaps::ThreadInGap> threads = gaps_->threadsDuring(gap);
    if (threads.empty()) return;
    sheet_->addHeading(tr("Thread activity"));
    for (const IdleGaps::ThreadInGap& each : threads) {
        const Thread& thread = trace_->threads[each.thread];
        const std::string which = each.isAwaited
                                      ? threadRef(*trace_, each.thread).text()
                                      : thread.name + ", PID " + std::to_string(trace_->processes[thread.process].pid);
        sheet_->addParagraph(tr("%1: %2").arg(
            toQString(printable(which)), toQString(printable(timesText(*trace_, each.times, gap.range.durationNs())))));
    }
}

void IdlePanel::addNeighbours(const IdleGap& gap) {
    if (const uint32_t before = gaps_->callBefore(gap); before != noIndex)
        addLink(tr("Previous call"), {EventKind::Api, before});
    if (gap.call != noIndex) addLink(tr("Launch that ended the gap"), {EventKind::Api, gap.call});
    addLink(tr("Previous GPU work"), gap.before);
    addLink(tr("Next GPU work"), gap.next);
}

void IdlePanel::addLink(const QString& heading, EventRef event) {
    if (!event.isValid()) return;
    sheet_->addHeading(heading);
    const TimeRange range = trace_->rangeOf(event);
    const std::string name = trace_->nameOf(event);
    sheet_->addLink(toQString(name.empty() ? "(no name)" : name), event.bits(),
                    tr("%1 at %2").arg(shortDuration(range.durationNs()), toQString(formatTimestamp(range.startNs))));
}

}  // namespace lanescope::views
