#include "views/compare/CompareView.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QScopedValueRollback>
#include <QSplitter>
#include <QVBoxLayout>
#include <utility>

#include "model/compare/stepPace.h"
#include "model/export/formatTable.h"
#include "views/compare/AlignmentBar.h"
#include "views/compare/CompareSide.h"
#include "views/compare/DifferenceModel.h"
#include "views/compare/HeadlineCard.h"
#include "views/details/DetailsPanel.h"
#include "views/summary/LatestJob.h"
#include "views/summary/ReportFilter.h"
#include "views/summary/ReportView.h"
#include "views/text/toQString.h"
#include "views/timeline/TimelineView.h"
#include "views/timeline/VisibleRange.h"

namespace lanescope {

CompareView::CompareView(QWidget* parent)
    : QWidget(parent),
      visibleRange_(new VisibleRange(this)),
      job_(new LatestJob(this)),
      headline_(new HeadlineCard(this)),
      alignment_(new AlignmentBar(this)),
      baseline_(new CompareSide(CompareSide::Role::Baseline, visibleRange_, this)),
      candidate_(new CompareSide(CompareSide::Role::Candidate, visibleRange_, this)),
      details_(new DetailsPanel(this)),
      model_(new DifferenceModel),
      differences_(new ReportView(model_, this)),
      parts_(new QSplitter(Qt::Vertical, this)) {
    build();
    addGroupFilter();
    connectSide(baseline_, candidate_);
    connectSide(candidate_, baseline_);
    connect(alignment_, &AlignmentBar::alignmentChanged, this, &CompareView::align);
    connect(differences_, &ReportView::nameActivated, this, &CompareView::nameActivated);
    connect(details_, &DetailsPanel::eventActivated, this, [this](EventRef event) {
        const bool isBaseline = baseline_->timeline().selectedEvent().isValid();
        (isBaseline ? baseline_ : candidate_)->timeline().revealEvent(event);
    });
}

void CompareView::build() {
    auto* timelines = new QSplitter(Qt::Vertical, this);
    timelines->addWidget(baseline_);
    timelines->addWidget(candidate_);
    timelines->setChildrenCollapsible(false);
    auto* upper = new QSplitter(Qt::Horizontal, this);
    upper->addWidget(timelines);
    upper->addWidget(details_);
    upper->setStretchFactor(0, 1);
    upper->setSizes({1000, 280});
    parts_->addWidget(upper);
    parts_->addWidget(differences_);
    parts_->setStretchFactor(0, 1);
    parts_->setStretchFactor(1, 0);
    parts_->setSizes({640, 240});
    parts_->setChildrenCollapsible(false);
    differences_->setEmptyText(tr("Both runs did the same work in the same time."));

    auto* top = new QHBoxLayout;
    top->setContentsMargins(0, 0, 12, 0);
    top->addWidget(headline_, 1);
    top->addWidget(alignment_, 0, Qt::AlignVCenter);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addLayout(top);
    layout->addWidget(parts_, 1);
}

void CompareView::addGroupFilter() {
    const auto groups = [](std::initializer_list<DifferenceGroup> members) {
        QStringList names;
        for (const DifferenceGroup group : members) names << toQString(name(group));
        return names;
    };
    auto* box = new QComboBox(this);
    // First what takes time itself; ranges and calls only hold or await the same time again.
    box->addItem(tr("GPU work"), groups({DifferenceGroup::Kernel, DifferenceGroup::Memcpy,
                                         DifferenceGroup::Memset}));
    box->addItem(tr("NVTX ranges"), groups({DifferenceGroup::NvtxRange}));
    box->addItem(tr("CUDA API calls"), groups({DifferenceGroup::ApiCall}));
    box->addItem(tr("All differences"), QStringList());
    box->setAccessibleName(tr("Kind of differences"));
    const auto apply = [this, box] {
        differences_->filter().setGroups(box->currentData().toStringList());
    };
    connect(box, &QComboBox::currentIndexChanged, this, apply);
    apply();
    differences_->addControl(box);
}

void CompareView::connectSide(CompareSide* side, CompareSide* other) {
    connect(&side->timeline(), &TimelineView::selectedRangeChanged, this,
            [this, side](std::optional<TimeRange> range) { selectRange(side, range); });
    connect(&side->timeline(), &TimelineView::eventSelected, this,
            [this, side, other](EventRef event) {
                if (isMirroring_) return;
                const QScopedValueRollback guard(isMirroring_, true);
                if (event.isValid()) other->timeline().setSelectedEvent({});
                details_->setTrace(side->timeline().trace());
                details_->setEvent(event);
            });
}

void CompareView::setTraces(TracePtr baseline, TracePtr candidate) {
    baselineTrace_ = std::move(baseline);
    candidateTrace_ = std::move(candidate);
    selectedRange_.reset();
    shownName_.clear();
    alignment_->setRangeNames(commonRangeNames(*baselineTrace_, *candidateTrace_));
    {
        const QScopedValueRollback guard(isMirroring_, true);
        baseline_->setTrace(baselineTrace_);
        candidate_->setTrace(candidateTrace_);
    }
    if (!alignAtSteps()) {
        align();
        visibleRange_->fit();
    }
}

bool CompareView::alignAtSteps() {
    const std::optional<StepPace> pace =
        stepPace(Baseline{*baselineTrace_, baselineTrace_->range},
                 Candidate{*candidateTrace_, candidateTrace_->range});
    if (!pace) return false;
    return alignment_->setAlignment(toQString(pace->pattern),
                                    warmUpCount(*baselineTrace_, *candidateTrace_, pace->pattern));
}

void CompareView::setTheme(const Theme& theme) {
    headline_->setTheme(theme);
    baseline_->setTheme(theme);
    candidate_->setTheme(theme);
    model_->setTheme(theme);
}

QByteArray CompareView::saveState() const {
    return parts_->saveState();
}

void CompareView::restoreState(const QByteArray& state) {
    parts_->restoreState(state);
}

bool CompareView::isBusy() const {
    return job_->isRunning();
}

void CompareView::align() {
    if (!baselineTrace_ || !candidateTrace_) return;
    const std::string name = alignment_->rangeName().toStdString();
    const auto originOf = [&](const Trace& trace) -> Result<int64_t> {
        if (name.empty()) return trace.range.startNs;
        return alignmentTime(trace, name, alignment_->occurrence());
    };
    const Result<int64_t> baselineOrigin = originOf(*baselineTrace_);
    const Result<int64_t> candidateOrigin = originOf(*candidateTrace_);
    if (!baselineOrigin || !candidateOrigin) {
        const Error& error = baselineOrigin ? candidateOrigin.error() : baselineOrigin.error();
        alignment_->setMessage(toQString(error.sentence));
        return;
    }
    alignment_->setMessage({});
    {
        const QScopedValueRollback guard(isMirroring_, true);
        baseline_->timeline().setTimeOrigin(*baselineOrigin);
        candidate_->timeline().setTimeOrigin(*candidateOrigin);
        // A selected range is trace time on each side; the sides have moved against each other.
        baseline_->timeline().setSelectedRange(std::nullopt);
        candidate_->timeline().setSelectedRange(std::nullopt);
    }
    selectedRange_.reset();
    showCompared(name);
    startComparison();
}

void CompareView::showCompared(const std::string& name) {
    // The next number of the same range is looked at with the same zoom.
    const bool isOther = std::exchange(shownName_, name) != name;
    if (!isOther) return;
    if (name.empty()) return visibleRange_->fit();
    const AlignedRanges ranges = comparedRanges();
    const TimeRange compared =
        baseline_->toAxis(ranges.baseline).united(candidate_->toAxis(ranges.candidate));
    const int64_t marginNs = compared.durationNs() / 50;
    visibleRange_->setRange({compared.startNs - marginNs, compared.endNs + marginNs});
}

void CompareView::selectRange(CompareSide* from, std::optional<TimeRange> traceRange) {
    if (isMirroring_) return;
    const QScopedValueRollback guard(isMirroring_, true);
    CompareSide* other = from == baseline_ ? candidate_ : baseline_;
    selectedRange_.reset();
    if (traceRange) selectedRange_ = from->toAxis(*traceRange);
    other->timeline().setSelectedRange(
        selectedRange_ ? std::optional(other->toTrace(*selectedRange_)) : std::nullopt);
    startComparison();
}

void CompareView::startComparison() {
    if (!baselineTrace_ || !candidateTrace_) return;
    const AlignedRanges ranges = comparedRanges();
    differences_->setRemark(comparedText(ranges));
    job_->start([this, baseline = baselineTrace_, candidate = candidateTrace_,
                 ranges]() -> LatestJob::Publish {
        auto comparison = std::make_shared<Comparison>(
            compare(Baseline{*baseline, ranges.baseline}, Candidate{*candidate, ranges.candidate}));
        return [this, comparison] { showComparison(*comparison); };
    });
}

AlignedRanges CompareView::comparedRanges() const {
    if (selectedRange_) {
        return {baseline_->toTrace(*selectedRange_), candidate_->toTrace(*selectedRange_), 0};
    }
    if (const std::string name = alignment_->rangeName().toStdString(); !name.empty()) {
        const auto ranges =
            alignedRanges(*baselineTrace_, *candidateTrace_, name, alignment_->occurrence());
        if (ranges) return *ranges;
    }
    return {baselineTrace_->range, candidateTrace_->range, 0};
}

QString CompareView::comparedText(const AlignedRanges& ranges) const {
    if (selectedRange_) {
        return tr("Selected range, %1")
            .arg(toQString(formatDuration(selectedRange_->durationNs())));
    }
    if (ranges.occurrences == 1) return tr("One “%1” of each run").arg(alignment_->rangeName());
    if (ranges.occurrences > 1) {
        return tr("%1 × “%2” of each run").arg(ranges.occurrences).arg(alignment_->rangeName());
    }
    return tr("Whole runs");
}

void CompareView::showComparison(const Comparison& comparison) {
    headline_->setSentences(summaryLines(comparison), verdictOf(comparison));
    const bool isFirst = model_->columnCount() == 0;
    model_->setComparison(comparison);
    if (isFirst) differences_->fitAndSort(model_->lostColumn(), Qt::DescendingOrder);
    emit compared();
}

}  // namespace lanescope
