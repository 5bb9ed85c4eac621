// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/explain/IdleFinder.h"

#include <algorithm>
#include <utility>

#include "model/compare/shownNumbers.h"
#include "model/values/formatValue.h"
#include "views/jobs/LatestJob.h"
#include "views/jobs/freedElsewhere.h"
#include "views/text/toQString.h"

namespace lanescope::views {

using namespace compare;

namespace {

constexpr size_t mostCauses = 3;
constexpr uint32_t smallTrace = 1'000'000;  // pieces of GPU work

}  // namespace

QString causeText(const IdleCause& cause) {
    QString text = toQString(name(cause.part)) + QStringLiteral(": ") +
                   toQString(shortContributorName(cause.name));
    if (!cause.path.empty())
        text += IdleFinder::tr(", in %1").arg(toQString(printable(cause.path)));
    return text;
}

IdleFinder::IdleFinder(QObject* parent) : QObject(parent), job_(new LatestJob(this)) {
    connect(job_, &LatestJob::finished, this, &IdleFinder::found);
}

IdleFinder::~IdleFinder() {
    if (isCancelled_) isCancelled_->store(true);
}

void IdleFinder::setTrace(TracePtr trace) {
    if (isCancelled_) isCancelled_->store(true);
    job_->cancel();
    trace_ = std::move(trace);
    gaps_.reset();
    isAsked_ = false;
}

bool IdleFinder::isBusy() const {
    return job_->isRunning();
}

void IdleFinder::demand() {
    if (isAsked_ || !trace_) return;
    isAsked_ = true;
    isCancelled_ = std::make_shared<std::atomic<bool>>(false);
    job_->start([this, trace = trace_, flag = isCancelled_]() -> LatestJob::Publish {
        Result<IdleGaps> made = IdleGaps::of(*trace, {}, [&flag](double) { return !flag->load(); });
        // Without steps there is no worker, and nothing is told.
        if (!made) return [] {};
        // They refer to the trace.
        auto kept = std::make_shared<std::pair<TracePtr, IdleGaps>>(trace, std::move(*made));
        std::shared_ptr<const IdleGaps> gaps =
            freedElsewhere(std::shared_ptr<const IdleGaps>(kept, &kept->second));
        return [this, gaps] { gaps_ = gaps; };
    });
}

void IdleFinder::demandIfSmall() {
    if (!trace_) return;
    const uint64_t count = uint64_t{trace_->kernels.size()} + trace_->memcpys.size() +
                           trace_->memsets.size() + trace_->graphs.size();
    if (count <= smallTrace) demand();
}

bool IdleFinder::partsOf(uint32_t gpu, TimeRange time, size_t count,
                         std::vector<StepParts>& columns) const {
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
    const std::vector<IdleCause> causes = gaps_->whyIdle(place->worker, gap.range);
    if (causes.empty()) return std::nullopt;
    EmptyPlace told;
    told.range = gap.range;
    told.color = theme_.colorOf(causes.front().part);
    told.title = tr("GPU %1 idle for %2")
                     .arg(trace_->gpus[gaps_->gpuOf(place->worker)].id)
                     .arg(toQString(formatDuration(gap.range.durationNs())));
    QStringList lines;
    for (const IdleCause& cause : causes) {
        if (static_cast<size_t>(lines.size()) == mostCauses) break;
        const QString text = causeText(cause);
        lines << (causes.size() == 1 ? text
                                     : tr("%1  %2").arg(toQString(formatDuration(cause.ns)), text));
    }
    if (causes.size() > mostCauses) lines << tr("and %1 more").arg(causes.size() - mostCauses);
    if (gap.call != noIndex)
        lines << tr("ended by %1, launched by TID %2")
                     .arg(toQString(shortContributorName(trace_->nameOf(gap.next))))
                     .arg(trace_->threads[trace_->apiCalls.thread[gap.call]].tid);
    lines << tr("Click for more");
    told.detail = lines.join(QLatin1Char('\n'));
    return told;
}

GapMark IdleFinder::markOf(Place place) const {
    const IdleGap& gap = gaps_->at(place);
    const uint32_t gpu = gaps_->gpuOf(place.worker);
    GapMark mark{gap.range, {}, theme_.mutedText};
    for (uint32_t track = 0; track < trace_->tracks.size(); ++track)
        if (gpuOf(track) == gpu) mark.tracks.push_back(track);
    const std::vector<IdleCause> causes = gaps_->whyIdle(place.worker, gap.range);
    if (!causes.empty()) mark.color = theme_.colorOf(causes.front().part);
    return mark;
}

}  // namespace lanescope::views
