// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/viewer/tracePanels.h"

#include <QApplication>
#include <QCoreApplication>
#include <QLocale>
#include <QPointer>
#include <QTabBar>
#include <algorithm>
#include <utility>

#include "app/viewer/HitNavigator.h"
#include "app/viewer/RunGuide.h"
#include "app/viewer/TracePage.h"
#include "app/viewer/ViewerActions.h"
#include "app/viewer/exportDocument.h"
#include "model/remote/RemoteTrace.h"
#include "model/reports/reports.h"
#include "model/roofline/ShapedCalls.h"
#include "model/trace/healthNotes.h"
#include "views/bandwidth/BandwidthPanel.h"
#include "views/details/WarningPanel.h"
#include "views/events/EventsPanel.h"
#include "views/explain/StepsPanel.h"
#include "views/flame/FlamePanel.h"
#include "views/histogram/NamePanel.h"
#include "views/notes/MarkStore.h"
#include "views/notes/MarksPanel.h"
#include "views/notes/TimelineMarks.h"
#include "views/roofline/RooflinePanel.h"
#include "views/sql/SqlPanel.h"
#include "views/tables/ReportPanel.h"
#include "views/tables/ReportView.h"
#include "views/text/shownText.h"
#include "views/theme/layouts.h"
#include "views/timeline/TimelineNavigator.h"
#include "views/timeline/TimelineView.h"
#include "views/topology/TopologyPanel.h"

namespace lanescope::viewer {

using namespace views;

namespace {

QString translated(const char* text) { return QCoreApplication::translate("TracePanels", text); }

std::vector<const Report*> reportsOfTabs() {
    std::vector<const Report*> reports;
    for (const Report* report : allReports())
        if (report->tab.place > 0) reports.push_back(report);
    std::ranges::sort(reports, {}, [](const Report* each) { return each->tab.place; });
    return reports;
}

Panel* makeReport(const Report& report) {
    auto* panel = new ReportPanel(toQString(report.info.name));
    if (report.info.name == "cuda_gpu_kern_sum")
        panel->offer({{translated("By full name"), QStringLiteral("cuda_gpu_kern_sum")},
                      {translated("By family"), QStringLiteral("cuda_gpu_kern_sum:family")},
                      {translated("By base name"), QStringLiteral("cuda_gpu_kern_sum:base")}});
    return panel;
}

PanelKind reportPanel(const Report& report) {
    const auto mayHaveRows = report.tab.mayHaveRows;
    return {.name = toQString(report.info.name),
            .title = translated(report.tab.title.data()),
            .make = [&report] { return makeReport(report); },
            .isUseful = [mayHaveRows](const Trace& trace) { return !mayHaveRows || mayHaveRows(trace); },
            .remark = {}};
}

Panel* makeSteps(TracePage& page) {
    auto* panel = new StepsPanel;
    QObject::connect(panel, &StepsPanel::stepActivated, &page.guide(), &RunGuide::showStep);
    QObject::connect(panel, &StepsPanel::timeActivated, &page.timeline(),
                     [&state = page.timeline().state()](int64_t timeNs) { TimelineNavigator(state).showTime(timeNs); });
    QObject::connect(panel, &StepsPanel::unitChosen, &page.guide(),
                     [&guide = page.guide()](const QString& pattern) { guide.chooseUnit(pattern.toStdString()); });
    panel->setRun(page.guide().run());
    panel->setUnits(page.guide().units(), page.guide().chosenUnit());
    return panel;
}

Panel* makeTopology(TracePage& page) {
    auto* panel = new TopologyPanel;
    QObject::connect(panel, &TopologyPanel::pairActivated, &page, [&tables = page.tables()](quint32 gpu, quint32 peer) {
        tables.demand<BandwidthPanel>("bandwidth").showPair(gpu, peer);
        tables.setCurrentWidget(&tables.tab("bandwidth"));
    });
    return panel;
}

Panel* makeFlame() {
    auto* panel = new FlamePanel;
    QObject::connect(panel, &FlamePanel::fileRequested, panel,
                     [panel](bool isPicture) { askForFlame(*panel, isPicture); });
    return panel;
}

Panel* makeEvents(TracePage& page) {
    auto* panel = new EventsPanel;
    QObject::connect(panel, &EventsPanel::eventSelected, &page.timeline().state().selection(),
                     &TimelineSelection::setEvent);
    QObject::connect(panel, &EventsPanel::saveRequested, &page, [panel, &page] { askForEvents(*panel, page.trace()); });
    return panel;
}

void showPlace(TimelineView& timeline, TimeRange range) {
    // A column called start may contain any number; sums of a few of these still fit.
    constexpr int64_t maxTimeNs = int64_t{1} << 60;
    VisibleRange& visible = timeline.state().range().axis();
    range = {std::clamp(range.startNs, -maxTimeNs, maxTimeNs), std::clamp(range.endNs, -maxTimeNs, maxTimeNs)};
    const TimeRange shared = range.shifted(-timeline.state().range().origin());
    const int64_t shownNs = visible.range().durationNs();
    // Near enough to be visible, with enough context around it.
    const int64_t windowNs = range.isEmpty() ? shownNs : std::max<int64_t>(range.durationNs() * 3, 1000);
    const int64_t middle = shared.startNs + shared.durationNs() / 2;
    visible.setRange({middle - windowNs / 2, middle - windowNs / 2 + windowNs});
    timeline.state().selection().setRange(range.isEmpty() ? std::nullopt : std::optional(range));
}

Panel* makeSql(TracePage& page) {
    auto* panel = new SqlPanel;
    QObject::connect(panel, &SqlPanel::placeActivated, &page.timeline(),
                     [&page](TimeRange range) { showPlace(page.timeline(), range); });
    panel->setHistory(page.queries());
    return panel;
}

Panel* makeMarks(PageMarks& marks) {
    auto* panel = new MarksPanel(marks.store());
    QObject::connect(panel, &MarksPanel::markActivated, &marks.onTimeline(), &TimelineMarks::show);
    QObject::connect(&marks, &PageMarks::remarked, panel, &MarksPanel::setRemark);
    panel->setRemark(marks.remark(), marks.isRemarkTrouble());
    return panel;
}

/// The hits of a search. Stepping through hits changes only the current one; the table is rebuilt for new hits.
class HitPanel : public Panel {
  public:
    explicit HitPanel(HitNavigator& hits) : hits_(hits), view_(new ReportView(this)) {
        columnIn(this)->addWidget(view_);
        connect(view_, &ReportView::rowActivated, &hits_, &HitNavigator::show);
        connect(&hits_, &HitNavigator::changed, this, &HitPanel::follow);
    }
    void setTrace(TracePtr trace) override { trace_ = std::move(trace); }
    ReportView* table() const override { return view_; }

  protected:
    /// Fills only here, because the widths of columns depend on the style.
    void showEvent(QShowEvent* event) override {
        Panel::showEvent(event);
        follow();
    }

  private:
    void follow() {
        if (hits_.generation() == shownHits_) return;
        shownHits_ = hits_.generation();
        view_->setTable(hitTable(*trace_, hits_.firstHits(maxHitRows)));
        if (hits_.text().isEmpty())
            view_->setEmptyText(translated("Search with Ctrl+F; what is found is listed here."));
        else
            view_->setEmptyText(hits_.error().isEmpty() ? translated("No name matches “%1”.").arg(hits_.text())
                                                        : hits_.error());
    }

    HitNavigator& hits_;
    TracePtr trace_;
    ReportView* view_;
    int shownHits_ = -1;
};

bool mayHaveSteps(const Trace& trace) { return hasGpuWork(trace) || trace.nvtx.size() > 0; }

bool mayHaveRates(const Trace& trace) {
    return trace.memcpys.size() > 0 || trace.migrations.size() > 0 ||
           std::ranges::any_of(trace.counters, [](const CounterSeries& each) { return each.gpu != noIndex; });
}

bool mayHaveFlame(const Trace& trace) { return hasGpuWork(trace) || trace.stacks.size() > 0; }

/// A scan of all ranges, which another machine does for its trace.
bool mayHaveShapes(const Trace& trace) {
    const auto remote = remoteOf(trace);
    return remote ? remote->hasShapes() : reportsShapes(trace);
}

QString countWarnings(const Trace& trace) {
    const auto count = std::ranges::count_if(healthNotesOf(trace),
                                             [](const HealthNote& note) { return note.severity >= Severity::Warning; });
    return count > 0 ? QString::number(count) : QString();
}

template <class T>
Panel* made() {
    return new T;
}

}  // namespace

TraceTables::TraceTables(QWidget* parent) : QTabWidget(parent) {
    setDocumentMode(true);
    tabBar()->setExpanding(false);
    tabBar()->setDrawBase(false);
}

// The focused widget loses the focus while its children are destroyed, when the other members are gone.
TraceTables::~TraceTables() { disconnect(qApp, nullptr, this, nullptr); }

void TraceTables::addPanels(std::vector<PanelKind> kinds, TracePtr trace, const QString& first) {
    trace_ = std::move(trace);
    for (PanelKind& kind : kinds) {
        auto* tab =
            new PanelTab<Panel>([this, kind] { return make(kind); }, [](Panel& panel) { return panel.table(); });
        tab->setObjectName(kind.name);
        addTab(tab, kind.title);
        tabs_.push_back({std::move(kind), tab});
    }
    setCurrentWidget(&tab(first));
    removeUseless();
    updateTitles();
    const auto choose = [this] { hasChosen_ = true; };
    connect(this, &QTabWidget::currentChanged, this, choose);
    connect(this, &QTabWidget::tabBarClicked, this, choose);
    connect(qApp, &QApplication::focusChanged, this, [this](QWidget*, QWidget* now) {
        if (currentWidget() && now && currentWidget()->isAncestorOf(now)) hasChosen_ = true;
    });
}

Panel* TraceTables::make(const PanelKind& kind) {
    Panel* panel = kind.make();
    connect(panel, &Panel::nameActivated, this, &TraceTables::nameActivated);
    connect(panel, &Panel::eventActivated, this, &TraceTables::eventActivated);
    connect(panel, &Panel::rangeActivated, this, &TraceTables::rangeActivated);
    panel->setTheme(theme_);
    panel->setTrace(trace_);
    panel->setRange(range_);
    panel->setVisibleRange(visible_);
    panel->setEvent(event_);
    return panel;
}

void TraceTables::removeUseless() {
    for (const auto& [kind, tab] : tabs_)
        if (kind.isUseful) setTabVisible(indexOf(tab), kind.isUseful(*trace_) || tab == currentWidget());
}

void TraceTables::setTrace(TracePtr trace) {
    trace_ = std::move(trace);
    event_ = {};
    // In a followed run the user has been reading for a while.
    hasChosen_ = true;
    setAll(&Panel::setTrace, trace_);
    setAll(&Panel::setVisibleRange, visible_);
    removeUseless();
    updateTitles();
}

void TraceTables::setRange(std::optional<TimeRange> range) {
    range_ = range;
    setAll(&Panel::setRange, range);
}

void TraceTables::setVisibleRange(TimeRange range) {
    visible_ = range;
    setAll(&Panel::setVisibleRange, range);
}

void TraceTables::setEvent(EventRef event) {
    event_ = event;
    setAll(&Panel::setEvent, event);
}

void TraceTables::setTheme(const Theme& theme) {
    theme_ = theme;
    setAll(&Panel::setTheme, theme);
}

void TraceTables::updateTitles() {
    for (const auto& [kind, tab] : tabs_) {
        const QString remark = kind.remark ? kind.remark(*trace_) : QString();
        const QString title = remark.isEmpty() ? kind.title : QStringLiteral("%1 (%2)").arg(kind.title, remark);
        if (tabText(indexOf(tab)) != title) setTabText(indexOf(tab), title);
    }
}

void TraceTables::suggest(const QString& name) {
    if (!hasChosen_) setCurrentWidget(&tab(name));
}

PanelTab<Panel>& TraceTables::tab(const QString& name) const {
    const auto found = std::ranges::find_if(tabs_, [&](const Tab& each) { return each.kind.name == name; });
    Q_ASSERT(found != tabs_.end());
    return *found->tab;
}

TableCommands::TableCommands(QTabWidget& tables, QObject* parent) : QObject(parent), tables_(tables) {
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

std::vector<PanelKind> tracePanels(TracePage& page) {
    std::vector<PanelKind> kinds;
    for (const Report* report : reportsOfTabs()) kinds.push_back(reportPanel(*report));
    const auto requests = [&page](const Trace&) {
        const ExplainedRunPtr& run = page.guide().run();
        return run && run->summary.kind == StepKind::Request ? translated("requests") : QString();
    };
    const auto hitCount = [&page](const Trace&) {
        return page.hits().count() > 0 ? QLocale(QLocale::English).toString(page.hits().count()) : QString();
    };
    const auto markCount = [&page](const Trace&) {
        const size_t count = page.marks().store().marks().size();
        return count > 0 ? QString::number(count) : QString();
    };
    // Steps come before the reports, copies and connections after the first.
    kinds.insert(kinds.begin() + 1,
                 {{"bandwidth", translated("Memcpy bandwidth"), made<BandwidthPanel>, mayHaveRates, {}},
                  {"topology",
                   translated("Topology"),
                   [&page] { return makeTopology(page); },
                   [](const Trace& trace) { return !trace.gpus.empty(); },
                   {}},
                  {"roofline", translated("Roofline"), made<RooflinePanel>, mayHaveShapes, {}}});
    kinds.insert(kinds.begin(),
                 {"steps", translated("Steps"), [&page] { return makeSteps(page); }, mayHaveSteps, requests});
    kinds.insert(kinds.end(),
                 {{"flame", translated("Flame"), makeFlame, mayHaveFlame, {}},
                  {"selection", translated("Selection"), made<SelectionPanel>, {}, {}},
                  {"events", translated("Events"), [&page] { return makeEvents(page); }, {}, {}},
                  {"name", translated("Instances"), made<NamePanel>, {}, {}},
                  {"sql", translated("SQL"), [&page] { return makeSql(page); }, {}, {}},
                  {"marks", translated("Marks"), [&page] { return makeMarks(page.marks()); }, {}, markCount},
                  {"hits", translated("Search results"), [&page] { return new HitPanel(page.hits()); }, {}, hitCount},
                  {"health", translated("Warnings"), made<WarningPanel>, {}, countWarnings}});
    return kinds;
}

QString firstPanel(const Trace& trace) {
    if (trace.kernels.size() > 0) return QStringLiteral("cuda_gpu_kern_sum");
    if (trace.memcpys.size() > 0) return QStringLiteral("bandwidth");
    if (trace.nvtx.size() > 0) return QStringLiteral("nvtx_sum:family");
    if (trace.apiCalls.size() > 0) return QStringLiteral("cuda_api_sum");
    if (trace.cpuStates.size() > 0) return QStringLiteral("thread_states");
    return QStringLiteral("cuda_gpu_kern_sum");
}

}  // namespace lanescope::viewer
