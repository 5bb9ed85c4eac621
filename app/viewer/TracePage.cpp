#include "app/viewer/TracePage.h"

#include <QLocale>
#include <QSplitter>
#include <QTabBar>
#include <QTabWidget>
#include <QVBoxLayout>
#include <algorithm>

#include "app/viewer/AppSettings.h"
#include "app/viewer/HitNavigator.h"
#include "app/viewer/LiveBar.h"
#include "app/viewer/PageTools.h"
#include "model/trace/healthPlaces.h"
#include "views/bandwidth/BandwidthPanel.h"
#include "views/details/DetailsPanel.h"
#include "views/details/HealthBar.h"
#include "views/details/HealthPanel.h"
#include "views/sql/SqlPanel.h"
#include "views/summary/ReportPanel.h"
#include "views/summary/ReportView.h"
#include "views/summary/SelectionPanel.h"
#include "views/summary/hitTable.h"
#include "views/text/toQString.h"
#include "views/timeline/TimelineView.h"
#include "views/topology/TopologyPanel.h"

namespace lanescope {
namespace {

struct NamedReport {
    const char* title;
    const char* report;
};

/// In the order of the tabs; bandwidth comes after the kernels.
constexpr NamedReport namedReports[] = {
    {QT_TRANSLATE_NOOP("TracePage", "Kernels"), "cuda_gpu_kern_sum"},
    {QT_TRANSLATE_NOOP("TracePage", "NVTX ranges"), "nvtx_sum"},
    {QT_TRANSLATE_NOOP("TracePage", "NVTX on the GPU"), "nvtx_gpu_proj_sum"},
    {QT_TRANSLATE_NOOP("TracePage", "CUDA API"), "cuda_api_sum"},
    {QT_TRANSLATE_NOOP("TracePage", "NCCL"), "nccl_sum"},
};

}  // namespace

TracePage::TracePage(TracePtr trace, QWidget* parent)
    : DocumentPage(parent),
      trace_(std::move(trace)),
      timeline_(new TimelineView(this)),
      hits_(new HitNavigator({timeline_}, this)),
      healthBar_(new HealthBar(this)),
      details_(new DetailsPanel(this)),
      tables_(new QTabWidget(this)),
      selection_(new SelectionPanel(this)),
      bandwidth_(new BandwidthPanel(this)),
      topology_(new TopologyPanel(this)),
      hitView_(new ReportView(this)),
      health_(new HealthPanel(this)),
      upper_(new QSplitter(Qt::Horizontal, this)),
      whole_(new QSplitter(Qt::Vertical, this)) {
    addTables();
    arrange();
    connectParts();
    timeline_->setTrace(trace_);
    tools_ = new PageTools(trace_, *timeline_, *tables_, hitView_, this);
    details_->setTrace(trace_);
    showHealth();
    bandwidth_->setTrace(trace_);
    selection_->setTrace(trace_);
    topology_->setTrace(trace_);
    for (ReportPanel* report : reports_) report->setTrace(trace_);
    updateHits();
    setFocusProxy(timeline_);
}

void TracePage::addTables() {
    for (const NamedReport& named : namedReports) {
        auto* panel = new ReportPanel(named.report, this);
        reports_.push_back(panel);
        tables_->addTab(panel, tr(named.title));
    }
    tables_->insertTab(1, bandwidth_, tr("Memcpy bandwidth"));
    tables_->addTab(selection_, tr("Selection"));
    tables_->insertTab(2, topology_, tr("Topology"));
    hitView_->setEmptyText(tr("Search with Ctrl+F; what is found is listed here."));
    tables_->addTab(hitView_, tr("Search results"));
    tables_->addTab(health_, tr("Health"));
    // A trace of NVTX ranges alone should not begin with an empty table of kernels.
    if (trace_->kernels.size() == 0) {
        const bool hasCopies = trace_->memcpys.size() > 0;
        const bool hasRanges = trace_->nvtx.size() > 0;
        if (hasCopies) tables_->setCurrentWidget(bandwidth_);
        if (!hasCopies && hasRanges) tables_->setCurrentWidget(reports_[1]);
        if (!hasCopies && !hasRanges && trace_->apiCalls.size() > 0)
            tables_->setCurrentWidget(reports_[3]);
    }
    tables_->setDocumentMode(true);
    tables_->tabBar()->setExpanding(false);
    tables_->tabBar()->setDrawBase(false);
}

void TracePage::arrange() {
    upper_->addWidget(timeline_);
    upper_->addWidget(details_);
    upper_->setStretchFactor(0, 1);
    upper_->setStretchFactor(1, 0);
    upper_->setSizes({1280, 320});
    whole_->addWidget(upper_);
    whole_->addWidget(tables_);
    whole_->setStretchFactor(0, 1);
    whole_->setStretchFactor(1, 0);
    whole_->setSizes({640, 280});
    upper_->setChildrenCollapsible(false);
    whole_->setChildrenCollapsible(false);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addWidget(healthBar_);
    layout->addWidget(whole_, 1);
}

void TracePage::connectParts() {
    connect(timeline_, &TimelineView::eventSelected, details_, &DetailsPanel::setEvent);
    connect(timeline_, &TimelineView::selectedRangeChanged, this, &TracePage::selectRange);
    connect(details_, &DetailsPanel::eventActivated, timeline_, &TimelineView::revealEvent);
    connect(healthBar_, &HealthBar::placeRequested, this, [this] {
        const auto place = placeOf(*trace_, healthPlaces(*trace_), healthBar_->worst());
        if (place) timeline_->showPlace(place->range, place->process);
    });
    connect(healthBar_, &HealthBar::detailsRequested, this, [this] {
        tables_->show();
        tables_->setCurrentWidget(health_);
    });
    for (ReportPanel* report : reports_) {
        connect(report, &ReportPanel::nameActivated, this, &TracePage::showName);
    }
    connect(bandwidth_, &BandwidthPanel::nameActivated, this, &TracePage::showName);
    connect(selection_, &SelectionPanel::nameActivated, this, &TracePage::showName);
    connect(bandwidth_, &BandwidthPanel::eventActivated, timeline_, &TimelineView::revealEvent);
    connect(bandwidth_, &BandwidthPanel::rangeActivated, timeline_,
            [this](TimeRange range) { timeline_->setSelectedRange(range); });
    connect(topology_, &TopologyPanel::pairActivated, this, [this](quint32 gpu, quint32 peer) {
        bandwidth_->showPair(gpu, peer);
        tables_->setCurrentWidget(bandwidth_);
    });
    const auto followView = [this] {
        bandwidth_->setVisibleRange(
            timeline_->visibleRange()->range().shifted(timeline_->timeOrigin()));
    };
    connect(timeline_->visibleRange(), &VisibleRange::changed, this, followView);
    connect(hits_, &HitNavigator::changed, this, &TracePage::updateHits);
    connect(hitView_, &ReportView::rowActivated, hits_, &HitNavigator::show);
}

void TracePage::showHealth() {
    healthBar_->setNotes(trace_->health);
    healthBar_->setPlaceKnown(
        placeOf(*trace_, healthPlaces(*trace_), healthBar_->worst()).has_value());
    health_->setTrace(trace_);
    const auto grave =
        std::count_if(trace_->health.begin(), trace_->health.end(),
                      [](const HealthNote& note) { return note.severity >= Severity::Warning; });
    tables_->setTabText(tables_->indexOf(health_),
                        grave > 0 ? tr("Health (%1)").arg(grave) : tr("Health"));
}

void TracePage::showName(const QString& name) {
    hits_->search(name);
    hits_->step(+1);
}

void TracePage::selectRange(std::optional<TimeRange> range) {
    bandwidth_->setRange(range);
    selection_->setRange(range);
    topology_->setRange(range);
    for (ReportPanel* report : reports_) report->setRange(range);
}

void TracePage::updateHits() {
    // Stepping through hits changes the current one only; the table is made anew for new hits.
    if (hits_->generation() == shownHits_) return;
    shownHits_ = hits_->generation();
    hitView_->setTable(hitTable(*trace_, hits_->firstHits(maximumHitRows)));
    const QString title = tr("Search results");
    tables_->setTabText(tables_->indexOf(hitView_),
                        hits_->count() == 0
                            ? title
                            : title + QStringLiteral(" (%1)").arg(
                                          QLocale(QLocale::English).toString(hits_->count())));
    if (hits_->text().isEmpty())
        hitView_->setEmptyText(tr("Search with Ctrl+F; what is found is listed here."));
    else
        hitView_->setEmptyText(hits_->error().isEmpty()
                                   ? tr("Nothing is called “%1”.").arg(hits_->text())
                                   : hits_->error());
}

QString TracePage::title() const {
    return toQString(trace_->title);
}

ReportView* TracePage::currentTable() const {
    QWidget* current = tables_->isVisible() ? tables_->currentWidget() : nullptr;
    if (auto* report = qobject_cast<ReportPanel*>(current)) return &report->view();
    if (current == bandwidth_) return &bandwidth_->view();
    if (current == topology_) return topology_->links().isHidden() ? nullptr : &topology_->links();
    if (current == &tools_->sql()) return &tools_->sql().answer();
    if (current == selection_) return timeline_->selectedRange() ? &selection_->names() : nullptr;
    return qobject_cast<ReportView*>(current);
}

void TracePage::setTheme(const Theme& theme) {
    timeline_->setTheme(theme);
    bandwidth_->setTheme(theme);
    topology_->setTheme(theme);
    healthBar_->setTheme(theme);
    health_->setTheme(theme);
    tools_->setTheme(theme);
    if (liveBar_) liveBar_->setTheme(theme);
}

void TracePage::setDetailsVisible(bool isVisible) {
    details_->setVisible(isVisible);
}

void TracePage::setTablesVisible(bool isVisible) {
    tables_->setVisible(isVisible);
}

bool TracePage::isBusy() const {
    const QWidget* current = tables_->currentWidget();
    const auto* report = qobject_cast<const ReportPanel*>(current);
    return hits_->isSearching() || (report && report->isStale()) ||
           (current == bandwidth_ && bandwidth_->isStale()) ||
           (current == selection_ && selection_->isStale()) ||
           (current == topology_ && topology_->isStale()) || tools_->isBusy();
}

void TracePage::restoreLayout(const AppSettings& settings) {
    upper_->restoreState(settings.splitterState("trace.upper"));
    whole_->restoreState(settings.splitterState("trace.whole"));
    tools_->restore(settings);
    const QByteArray json = settings.trackArrangement(toQString(trace_->path.string()));
    if (const auto arrangement = arrangementFromJson(json)) timeline_->setArrangement(*arrangement);
}

void TracePage::storeLayout(AppSettings& settings) const {
    settings.setSplitterState("trace.upper", upper_->saveState());
    settings.setSplitterState("trace.whole", whole_->saveState());
    tools_->store(settings);
    const TrackArrangement arrangement = timeline_->arrangement();
    settings.setTrackArrangement(toQString(trace_->path.string()),
                                 arrangement.isDefault() ? QByteArray() : toJson(arrangement));
}

}  // namespace lanescope
