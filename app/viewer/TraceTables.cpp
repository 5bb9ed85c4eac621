// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/viewer/TraceTables.h"

#include <QAction>
#include <QApplication>
#include <QLocale>
#include <QPointer>
#include <QTabBar>
#include <QTabWidget>
#include <algorithm>

#include "app/viewer/HitNavigator.h"
#include "app/viewer/exportDocument.h"
#include "model/reports/reports.h"
#include "model/trace/Trace.h"
#include "model/trace/healthNotes.h"
#include "views/bandwidth/BandwidthPanel.h"
#include "views/details/HealthPanel.h"
#include "views/explain/StepsPanel.h"
#include "views/flame/FlamePanel.h"
#include "views/tables/ReportPanel.h"
#include "views/tables/ReportView.h"
#include "views/tables/SelectionPanel.h"
#include "views/text/shownText.h"
#include "views/topology/TopologyPanel.h"

namespace lanescope::viewer {

using namespace views;

namespace {

/// In tab order; steps come before them, bandwidth and topology after the first.
std::vector<const Report*> reportsOfTabs() {
    std::vector<const Report*> reports;
    for (const Report* report : allReports())
        if (report->tab.place > 0) reports.push_back(report);
    std::sort(reports.begin(), reports.end(),
              [](const Report* a, const Report* b) { return a->tab.place < b->tab.place; });
    return reports;
}

}  // namespace

TraceTables::TraceTables(TracePtr trace, HitNavigator& hits, QWidget* parent)
    : QTabWidget(parent),
      trace_(std::move(trace)),
      navigator_(hits),
      steps_(new PanelTab<StepsPanel>([this] { return makeSteps(); },
                                      [](StepsPanel& panel) { return panel.currentTable(); })),
      selection_(new PanelTab<SelectionPanel>(
          [this] { return makeSelection(); },
          [this](SelectionPanel& panel) { return range_ ? &panel.names() : nullptr; })),
      bandwidth_(new PanelTab<BandwidthPanel>([this] { return makeBandwidth(); },
                                              [](BandwidthPanel& panel) { return &panel.view(); })),
      topology_(new PanelTab<TopologyPanel>([this] { return makeTopology(); },
                                            [](TopologyPanel& panel) {
                                                return panel.links().isHidden() ? nullptr
                                                                                : &panel.links();
                                            })),
      flame_(new PanelTab<FlamePanel>([this] { return makeFlame(); })),
      hits_(new PanelTab<ReportView>([this] { return makeHits(); },
                                     [](ReportView& view) { return &view; },
                                     [this](ReportView& view) { fillHits(view); })),
      health_(new PanelTab<HealthPanel>([this] { return makeHealth(); })) {
    addTabs();
    chooseFirst();
    hideEmpty();
    // A table chosen by the user stays.
    connect(this, &QTabWidget::currentChanged, this, [this] { mayOpenSteps_ = false; });
    connect(this, &QTabWidget::tabBarClicked, this, [this] { mayOpenSteps_ = false; });
    connect(qApp, &QApplication::focusChanged, this, [this](QWidget*, QWidget* now) {
        if (currentWidget() && now && currentWidget()->isAncestorOf(now)) mayOpenSteps_ = false;
    });
    updateHealthTitle();
    noticeHits();
    setDocumentMode(true);
    tabBar()->setExpanding(false);
    tabBar()->setDrawBase(false);
    connect(&navigator_, &HitNavigator::changed, this, &TraceTables::noticeHits);
}

// The focused widget loses the focus while its children are destroyed, when the other members are
// gone.
TraceTables::~TraceTables() {
    disconnect(qApp, nullptr, this, nullptr);
}

void TraceTables::addTabs() {
    for (const Report* report : reportsOfTabs()) {
        auto* tab = new PanelTab<ReportPanel>([this, report] { return makeReport(*report); },
                                              [](ReportPanel& panel) { return &panel.view(); });
        reports_.emplace_back(report, tab);
        addTab(tab, tr(report->tab.title.data()));
    }
    insertTab(1, bandwidth_, tr("Memcpy bandwidth"));
    insertTab(2, topology_, tr("Topology"));
    insertTab(0, steps_, tr("Steps"));
    addTab(flame_, tr("Flame"));
    addTab(selection_, tr("Selection"));
    addTab(hits_, tr("Search results"));
    addTab(health_, tr("Health"));
}

void TraceTables::hideEmpty() {
    const auto show = [this](QWidget* tab, bool isVisible) {
        setTabVisible(indexOf(tab), isVisible || tab == currentWidget());
    };
    for (const auto& [report, tab] : reports_)
        show(tab, !report->tab.mayHaveRows || report->tab.mayHaveRows(*trace_));
    show(bandwidth_, trace_->memcpys.size() > 0 || trace_->migrations.size() > 0 ||
                         std::ranges::any_of(trace_->counters, [](const CounterSeries& each) {
                             return each.gpu != noIndex;
                         }));
    show(topology_, !trace_->gpus.empty());
    show(flame_, hasGpuWork(*trace_) || trace_->stacks.size() > 0);
    show(steps_, hasGpuWork(*trace_) || trace_->nvtx.size() > 0);
}

/// Until the steps are known. A trace of NVTX ranges only must not begin with an empty table of
/// kernels.
void TraceTables::chooseFirst() {
    setCurrentWidget(reports_.front().second);
    if (trace_->kernels.size() > 0) return;
    if (trace_->memcpys.size() > 0)
        setCurrentWidget(bandwidth_);
    else if (trace_->nvtx.size() > 0)
        setCurrentWidget(tabOf("nvtx_sum:family"));
    else if (trace_->apiCalls.size() > 0)
        setCurrentWidget(tabOf("cuda_api_sum"));
    else if (trace_->cpuStates.size() > 0)
        setCurrentWidget(tabOf("thread_states"));
}

PanelTab<ReportPanel>* TraceTables::tabOf(std::string_view report) const {
    const auto found = std::find_if(reports_.begin(), reports_.end(), [&](const auto& each) {
        return each.first->info.name == report;
    });
    return found == reports_.end() ? reports_.front().second : found->second;
}

ReportPanel* TraceTables::makeReport(const Report& report) {
    auto* panel = new ReportPanel(toQString(report.info.name));
    connect(panel, &ReportPanel::nameActivated, this, &TraceTables::nameActivated);
    if (report.info.name == "cuda_gpu_kern_sum")
        panel->offer({{tr("By full name"), QStringLiteral("cuda_gpu_kern_sum")},
                      {tr("By family"), QStringLiteral("cuda_gpu_kern_sum:family")},
                      {tr("By base name"), QStringLiteral("cuda_gpu_kern_sum:base")}});
    panel->setTrace(trace_);
    panel->setRange(range_);
    return panel;
}

StepsPanel* TraceTables::makeSteps() {
    auto* panel = new StepsPanel;
    connect(panel, &StepsPanel::stepActivated, this, &TraceTables::stepActivated);
    connect(panel, &StepsPanel::timeActivated, this, &TraceTables::timeActivated);
    panel->setTheme(theme_);
    panel->setTrace(trace_);
    panel->setRange(range_);
    panel->setRun(run_);
    return panel;
}

SelectionPanel* TraceTables::makeSelection() {
    auto* panel = new SelectionPanel;
    connect(panel, &SelectionPanel::nameActivated, this, &TraceTables::nameActivated);
    panel->setTrace(trace_);
    panel->setRange(range_);
    return panel;
}

BandwidthPanel* TraceTables::makeBandwidth() {
    auto* panel = new BandwidthPanel;
    connect(panel, &BandwidthPanel::nameActivated, this, &TraceTables::nameActivated);
    connect(panel, &BandwidthPanel::eventActivated, this, &TraceTables::eventActivated);
    connect(panel, &BandwidthPanel::rangeActivated, this, &TraceTables::rangeActivated);
    panel->setTheme(theme_);
    panel->setTrace(trace_);
    panel->setRange(range_);
    panel->setVisibleRange(visible_);
    return panel;
}

TopologyPanel* TraceTables::makeTopology() {
    auto* panel = new TopologyPanel;
    connect(panel, &TopologyPanel::pairActivated, this, [this](quint32 gpu, quint32 peer) {
        bandwidth_->demandPanel().showPair(gpu, peer);
        setCurrentWidget(bandwidth_);
    });
    connect(panel, &TopologyPanel::copyActivated, this, &TraceTables::eventActivated);
    panel->setTheme(theme_);
    panel->setTrace(trace_);
    panel->setRange(range_);
    panel->setVisibleRange(visible_);
    return panel;
}

FlamePanel* TraceTables::makeFlame() {
    auto* panel = new FlamePanel;
    connect(panel, &FlamePanel::searchRequested, this, &TraceTables::nameActivated);
    connect(panel, &FlamePanel::fileRequested, this,
            [panel](bool isPicture) { askForFlame(*panel, isPicture); });
    panel->setTheme(theme_);
    panel->setTrace(trace_);
    panel->setRange(range_);
    panel->setVisibleRange(visible_);
    return panel;
}

ReportView* TraceTables::makeHits() {
    auto* view = new ReportView;
    connect(view, &ReportView::rowActivated, &navigator_, &HitNavigator::show);
    return view;
}

HealthPanel* TraceTables::makeHealth() {
    auto* panel = new HealthPanel;
    panel->setTheme(theme_);
    panel->setTrace(trace_);
    return panel;
}

void TraceTables::setTrace(TracePtr trace) {
    trace_ = std::move(trace);
    // In a followed run the user has been reading for a while.
    mayOpenSteps_ = false;
    const auto update = [this](auto* panel) {
        if (panel) panel->setTrace(trace_);
    };
    for (const auto& report : reports_) update(report.second->panel());
    update(steps_->panel());
    update(selection_->panel());
    update(bandwidth_->panel());
    update(topology_->panel());
    update(flame_->panel());
    hideEmpty();
    showHealth();
}

void TraceTables::showHealth() {
    if (auto* panel = health_->panel()) panel->setTrace(trace_);
    updateHealthTitle();
}

void TraceTables::setRange(std::optional<TimeRange> range) {
    range_ = range;
    const auto update = [this](auto* panel) {
        if (panel) panel->setRange(range_);
    };
    for (const auto& report : reports_) update(report.second->panel());
    update(steps_->panel());
    update(selection_->panel());
    update(bandwidth_->panel());
    update(topology_->panel());
    update(flame_->panel());
}

void TraceTables::setVisibleRange(TimeRange range) {
    visible_ = range;
    if (bandwidth_->panel()) bandwidth_->panel()->setVisibleRange(range);
    if (topology_->panel()) topology_->panel()->setVisibleRange(range);
    if (flame_->panel()) flame_->panel()->setVisibleRange(range);
}

void TraceTables::setTheme(const Theme& theme) {
    theme_ = theme;
    if (bandwidth_->panel()) bandwidth_->panel()->setTheme(theme);
    if (topology_->panel()) topology_->panel()->setTheme(theme);
    if (health_->panel()) health_->panel()->setTheme(theme);
    if (steps_->panel()) steps_->panel()->setTheme(theme);
    if (flame_->panel()) flame_->panel()->setTheme(theme);
}

void TraceTables::setRun(ExplainedRunPtr run) {
    run_ = std::move(run);
    if (steps_->panel()) steps_->panel()->setRun(run_);
    const bool isServer = run_ && run_->summary.kind == StepKind::Request;
    if (const int index = indexOf(steps_); index >= 0)
        setTabText(index, isServer ? tr("Steps (requests)") : tr("Steps"));
    if (mayOpenSteps_ && run_ && run_->hasPlainSteps()) setCurrentWidget(steps_);
}

LazyTab* TraceTables::currentTab() const {
    return qobject_cast<LazyTab*>(currentWidget());
}

LazyTab& TraceTables::hitTab() const {
    return *hits_;
}

LazyTab& TraceTables::healthTab() const {
    return *health_;
}

LazyTab& TraceTables::stepsTab() const {
    return *steps_;
}

LazyTab& TraceTables::flameTab() const {
    return *flame_;
}

void TraceTables::updateHealthTitle() {
    const std::vector<HealthNote> notes = healthNotesOf(*trace_);
    const auto grave = std::count_if(notes.begin(), notes.end(), [](const HealthNote& note) {
        return note.severity >= Severity::Warning;
    });
    setTabText(indexOf(health_), grave > 0 ? tr("Health (%1)").arg(grave) : tr("Health"));
}

void TraceTables::noticeHits() {
    // Stepping through hits changes only the current one; the table is rebuilt for new hits.
    if (navigator_.generation() == shownHits_) return;
    shownHits_ = navigator_.generation();
    const QString title = tr("Search results");
    setTabText(indexOf(hits_),
               navigator_.count() == 0
                   ? title
                   : title + QStringLiteral(" (%1)").arg(
                                 QLocale(QLocale::English).toString(navigator_.count())));
    if (hits_->panel()) fillHits(*hits_->panel());
}

void TraceTables::fillHits(ReportView& view) const {
    view.setTable(hitTable(*trace_, navigator_.firstHits(maxHitRows)));
    if (navigator_.text().isEmpty())
        view.setEmptyText(tr("Search with Ctrl+F; what is found is listed here."));
    else
        view.setEmptyText(navigator_.error().isEmpty()
                              ? tr("Nothing is called “%1”.").arg(navigator_.text())
                              : navigator_.error());
}

TableCommands::TableCommands(QTabWidget& tables, QObject* parent)
    : QObject(parent), tables_(tables) {
    for (int index = 0; index < tables.count(); ++index) {
        auto* action = new QAction(tables.tabText(index), this);
        const QPointer<QWidget> page(tables.widget(index));
        connect(action, &QAction::triggered, this, [this, page] {
            if (page) show(page);
        });
        actions_ << action;
    }
    auto* line = new QAction(this);
    line->setSeparator(true);
    auto* next = new QAction(tr("Ne&xt table"), this);
    next->setShortcut(Qt::Key_F8);
    connect(next, &QAction::triggered, this, [this] { step(+1); });
    auto* previous = new QAction(tr("&Previous table"), this);
    previous->setShortcut(Qt::SHIFT | Qt::Key_F8);
    connect(previous, &QAction::triggered, this, [this] { step(-1); });
    actions_ << line << next << previous;
}

void TableCommands::show(QWidget* page) {
    emit shown();
    tables_.setTabVisible(tables_.indexOf(page), true);  // it may be hidden for lack of content
    tables_.setCurrentWidget(page);
}

void TableCommands::step(int direction) {
    const int count = tables_.count();
    int index = tables_.currentIndex();
    for (int tries = 0; tries < count; ++tries) {
        index = (index + direction + count) % count;
        if (!tables_.isTabVisible(index)) continue;
        show(tables_.widget(index));
        return;
    }
}

}  // namespace lanescope::viewer
