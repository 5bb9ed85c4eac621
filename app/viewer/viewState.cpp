// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/viewer/viewState.h"

#include <QElapsedTimer>
#include <QEventLoop>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QRegularExpression>
#include <QTabWidget>
#include <QThread>
#include <utility>

#include "app/viewer/ComparePage.h"
#include "app/viewer/DocumentTabs.h"
#include "app/viewer/FleetPage.h"
#include "app/viewer/HitNavigator.h"
#include "app/viewer/MainWindow.h"
#include "app/viewer/RunGuide.h"
#include "app/viewer/TracePage.h"
#include "app/viewer/tracePanels.h"
#include "model/remote/RemoteAddress.h"
#include "model/text/formatValue.h"
#include "views/compare/AlignmentBar.h"
#include "views/compare/CompareTables.h"
#include "views/compare/CompareView.h"
#include "views/compare/ComparedTimelines.h"
#include "views/compare/WaterfallChart.h"
#include "views/explain/StepStrip.h"
#include "views/sql/SqlPanel.h"
#include "views/text/shownText.h"
#include "views/timeline/TimelineView.h"

namespace lanescope::viewer {

using namespace views;

namespace {

constexpr qint64 patienceMs = 10 * 60 * 1000;

/// A picture of an empty range would look like an empty trace.
Result<void> checkInside(const char* option, const std::optional<TimeRange>& range, const Trace& trace) {
    const TimeRange whole = trace.timelineRange();
    if (!range || range->overlaps(whole)) return {};
    return fail("The range of {} lies outside the trace, which goes from {} to {}.", option,
                formatTimestamp(whole.startNs), formatTimestamp(whole.endNs));
}

Result<void> showTable(DocumentPage* page, const std::string& title) {
    auto* trace = qobject_cast<TracePage*>(page);
    auto* comparison = qobject_cast<ComparePage*>(page);
    QTabWidget& tables = trace ? static_cast<QTabWidget&>(trace->tables()) : comparison->view().tables();
    QStringList titles;
    for (int index = 0; index < tables.count(); ++index) {
        // A table without data in the trace may be requested, and shows so.
        if (!trace && !tables.isTabVisible(index)) continue;
        titles << tables.tabText(index);
        if (!tables.tabText(index).contains(toQString(title), Qt::CaseInsensitive)) continue;
        tables.setTabVisible(index, true);
        tables.setCurrentIndex(index);
        return {};
    }
    return fail("There is no table \"{}\" to show; there are {}.", title,
                titles.join(QStringLiteral(", ")).toStdString());
}

Result<void> showAnswer(DocumentPage* page, const std::string& query) {
    auto* trace = qobject_cast<TracePage*>(page);
    if (!trace) return fail("--query asks one trace; leave --compare away.");
    auto& sql = trace->tables().demand<SqlPanel>("sql");
    trace->tables().setCurrentWidget(&trace->tables().tab("sql"));
    sql.ask(toQString(query));
    return {};
}

Result<void> align(DocumentPage* page, const std::string& rangeName) {
    auto* comparison = qobject_cast<ComparePage*>(page);
    if (comparison && comparison->view().alignment().setAlignment(toQString(rangeName), 0)) return {};
    return fail("The runs cannot be aligned at \"{}\": not both have an NVTX range of that name.", rangeName);
}

/// Returns the index of the label that is `name` or begins with it, such as "rank 2" of "rank 2, GPU 2".
Result<int> workerCalled(const std::string& name, const QStringList& labels) {
    const QString wanted = toQString(name);
    for (int index = 0; index < labels.size(); ++index)
        if (labels[index].compare(wanted, Qt::CaseInsensitive) == 0 ||
            labels[index].startsWith(wanted + QLatin1Char(','), Qt::CaseInsensitive))
            return index;
    return fail("--worker: the run has no \"{}\"; there are: {}.", printable(name),
                labels.isEmpty() ? "none" : labels.join(QStringLiteral("; ")).toStdString());
}

QStringList labelsOf(const analysis::RunSummary& run) {
    QStringList labels;
    for (const analysis::WorkerSummary& worker : run.workers) labels << toQString(worker.label());
    return labels;
}

Result<void> showStep(DocumentPage* page, const ViewOptions& view) {
    if (auto* trace = qobject_cast<TracePage*>(page)) {
        if (view.hasBaselineOverlay) return fail("--ghost needs two runs; add --compare.");
        std::optional<uint32_t> worker;
        if (!view.worker.empty()) {
            if (!view.step) return fail("--worker of a trace needs --step.");
            const ExplainedRunPtr& run = trace->guide().run();
            const Result<int> found = workerCalled(view.worker, run ? labelsOf(run->summary) : QStringList());
            if (!found) return fail(found.error());
            worker = static_cast<uint32_t>(*found);
        }
        if (view.step && !trace->guide().showStepOf(*view.step, worker))
            return fail("--step: {} has no step {}.", worker ? printable(view.worker) : "the run", *view.step);
        return {};
    }
    auto* comparison = qobject_cast<ComparePage*>(page);
    if (!view.worker.empty()) {
        const Result<int> found = workerCalled(view.worker, comparison->view().alignment().workers());
        if (!found) return fail(found.error());
        comparison->view().alignment().chooseWorker(*found);
    }
    comparison->view().alignment().setBaselineOverlayVisible(view.hasBaselineOverlay);
    if (!view.step) return {};
    const int count = comparison->view().steps().stepCount();
    if (*view.step >= count) return fail("--step: there is no compared step {}; the runs have {}.", *view.step, count);
    comparison->view().showStep(*view.step);
    return {};
}

Result<void> showUnit(DocumentPage* page, const ViewOptions& view) {
    auto* trace = qobject_cast<TracePage*>(page);
    if (trace == nullptr) return fail("--unit needs one trace; remove --compare.");
    const auto& units = trace->guide().units();
    const auto found = std::ranges::find(units, view.unit, &StepUnit::pattern);
    if (found == units.end()) return fail("--unit: the run has no unit \"{}\".", printable(view.unit));
    if (found != units.begin()) trace->guide().chooseUnit(view.unit);
    return {};
}

/// Pages may be closed while this waits.
Result<DocumentPage*> waitForPage(MainWindow& window) {
    if (auto result = waitUntilIdle(window); !result) return fail(result.error());
    DocumentPage* page = window.tabs().currentDocument();
    if (page == nullptr || page->timelines().empty()) return fail("The document was closed.");
    return page;
}

Result<void> checkView(const ViewOptions& view, const Trace& trace) {
    for (const auto& [option, range] : {std::pair("--select", view.select), std::pair("--visible", view.visible)})
        if (auto result = checkInside(option, range, trace); !result) return result;
    if (!view.event.isValid() || view.event.row() < trace.rowCount(view.event.kind())) return {};
    return fail("--event: the trace has no {}.", eventText(view.event));
}

QString rangeText(TimeRange range) { return QStringLiteral("%1ns:%2ns").arg(range.startNs).arg(range.endNs); }

QString pathOf(const std::filesystem::path& file) {
    std::error_code ignored;
    if (isRemoteAddress(file.string())) return toQString(file.string());
    const std::filesystem::path whole = std::filesystem::absolute(file, ignored);
    return toQString((ignored ? file : whole).string());
}

/// Adds the view of a timeline. A negative time needs no quotes, but an option must not begin with "-".
void addTimeline(QStringList& arguments, const TimelineView& timeline) {
    const TimelineState& state = timeline.state();
    // Also the whole trace: another size of the window or a default range must not change it.
    arguments << QStringLiteral("--visible=") + rangeText(state.range().visible());
    if (const auto range = state.selection().range()) arguments << QStringLiteral("--select=") + rangeText(*range);
    if (const std::string event = eventText(state.selection().event()); !event.empty())
        arguments << QStringLiteral("--event=") + toQString(event);
    if (!state.tracks().filterText().isEmpty()) arguments << QStringLiteral("--filter=") + state.tracks().filterText();
}

void addSearch(QStringList& arguments, const HitNavigator& hits) {
    if (!hits.text().isEmpty()) arguments << QStringLiteral("--find=") + hits.text();
}

/// Tabs have remarks such as "Warnings (3)" or "Steps, requests" after their title.
void addTable(QStringList& arguments, const QTabWidget& tables) {
    if (!tables.isVisible() || tables.currentIndex() < 0) return;
    const QString text = tables.tabText(tables.currentIndex());
    arguments << QStringLiteral("--table=") + text.section(QLatin1Char('('), 0, 0).trimmed();
}

QStringList argumentsOfTrace(const TracePage& page) {
    QStringList arguments{pathOf(page.trace()->path)};
    if (const std::string& unit = page.guide().chosenUnit(); !unit.empty())
        arguments << QStringLiteral("--unit=") + toQString(unit);
    if (const auto step = page.guide().strip().chosen()) {
        const std::vector<analysis::WorkerSummary>& workers = page.guide().run()->summary.workers;
        arguments << QStringLiteral("--step=%1").arg(workers[step->worker].steps[step->step].number);
        if (workers.size() > 1) arguments << QStringLiteral("--worker=") + toQString(workers[step->worker].label());
    }
    addTimeline(arguments, page.timeline());
    addSearch(arguments, page.hits());
    addTable(arguments, page.tables());
    const auto* sql = page.tables().panel<SqlPanel>("sql");
    const QString query = sql ? sql->editor().toPlainText().trimmed() : QString();
    if (!query.isEmpty() && page.tables().isVisible() && page.tables().currentWidget() == &page.tables().tab("sql"))
        arguments << QStringLiteral("--query=") + query;
    return arguments;
}

QStringList argumentsOfComparison(const ComparePage& page) {
    const CompareView& view = page.view();
    QStringList arguments;
    if (view.hasSets()) {
        for (const auto& [option, runs] :
             {std::pair("--baseline", &view.baselineRuns()), std::pair("--candidate", &view.candidateRuns())}) {
            arguments << QString::fromLatin1(option);
            for (const TracePtr& run : *runs) arguments << pathOf(run->path);
        }
    } else {
        arguments << QStringLiteral("--compare") << pathOf(view.baseline().timeline().trace()->path)
                  << pathOf(view.candidate().timeline().trace()->path);
    }
    const AlignmentBar& alignment = view.alignment();
    if (const QString range = alignment.rangeName(); !range.isEmpty()) arguments << QStringLiteral("--align=") + range;
    if (const QString worker = alignment.worker(); !worker.isEmpty()) arguments << QStringLiteral("--worker=") + worker;
    if (view.steps().chosen() >= 0) arguments << QStringLiteral("--step=%1").arg(view.steps().chosen());
    if (view.baseline().timeline().isBaselineOverlayVisible() || view.candidate().timeline().isBaselineOverlayVisible())
        arguments << QStringLiteral("--ghost");
    addTimeline(arguments, view.baseline().timeline());
    addSearch(arguments, *page.navigator());
    addTable(arguments, view.tables());
    return arguments;
}

}  // namespace

Result<void> waitUntilIdle(const MainWindow& window) {
    QElapsedTimer timer;
    timer.start();
    QEventLoop loop;
    // Twice idle: the first content may have requested more.
    for (int idleRounds = 0; idleRounds < 2;) {
        loop.processEvents(QEventLoop::AllEvents, 20);
        idleRounds = window.isBusy() ? 0 : idleRounds + 1;
        if (!window.isVisible()) return fail("The window was closed.");
        if (timer.elapsed() > patienceMs) return fail("The window was not complete after ten minutes.");
        QThread::msleep(5);
    }
    return {};
}

Result<void> applyView(MainWindow& window, const ViewOptions& view) {
    if (view == ViewOptions()) return {};
    if (auto result = waitUntilIdle(window); !result) return result;
    DocumentPage* document = window.tabs().currentDocument();
    if (document == nullptr) return {};
    if (document->timelines().empty())
        return fail(
            "A report of many ranks has no timeline and no tables to choose from: remove the options of the view.");
    if (auto result = checkView(view, *document->timelines().front()->trace()); !result) return result;
    // Each of these needs the results of the one before, and the window may choose a table itself.
    using Apply = Result<void> (*)(DocumentPage*, const ViewOptions&);
    const std::pair<bool, Apply> parts[]{
        {!view.unit.empty(), showUnit},
        {!view.align.empty(), [](DocumentPage* page, const ViewOptions& of) { return align(page, of.align); }},
        {view.step || view.hasBaselineOverlay || !view.worker.empty(), showStep},
        {!view.table.empty(), [](DocumentPage* page, const ViewOptions& of) { return showTable(page, of.table); }},
        {!view.query.empty(), [](DocumentPage* page, const ViewOptions& of) { return showAnswer(page, of.query); }}};
    for (const auto& [isWanted, apply] : parts) {
        if (!isWanted) continue;
        const Result<DocumentPage*> page = waitForPage(window);
        if (!page) return fail(page.error());
        if (auto result = apply(*page, view); !result) return result;
    }
    Result<DocumentPage*> page = waitForPage(window);
    if (!page) return fail(page.error());
    if (const auto* trace = qobject_cast<TracePage*>(*page); trace && !trace->guide().unitError().isEmpty())
        return fail("--unit: {}", trace->guide().unitError().toStdString());
    const auto timeline = [&page]() -> TimelineState& { return (*page)->timelines().front()->state(); };
    const auto showVisible = [&] {
        if (view.visible) timeline().range().axis().setRange(view.visible->shifted(-timeline().range().origin()));
    };
    if (!view.filter.empty()) timeline().tracks().setFilterText(toQString(view.filter));
    showVisible();  // The search begins at the visible range.
    if (!view.find.empty()) {
        window.searchBar().searchFor(toQString(view.find));
        // The hit moves the view; the requests below have priority.
        page = waitForPage(window);
        if (!page) return fail(page.error());
    }
    if (view.event.isValid()) {
        TimelineView& first = *(*page)->timelines().front();
        if (view.visible)
            first.state().selection().setEvent(view.event);
        else
            first.revealEvent(view.event);
    }
    showVisible();
    if (view.select) timeline().selection().setRange(view.select);
    return {};
}

QStringList argumentsOf(const DocumentPage& page) {
    if (const auto* trace = qobject_cast<const TracePage*>(&page)) return argumentsOfTrace(*trace);
    if (const auto* comparison = qobject_cast<const ComparePage*>(&page)) return argumentsOfComparison(*comparison);
    if (const auto* fleet = qobject_cast<const FleetPage*>(&page)) return {pathOf(fleet->report().path)};
    return {};
}

QString shellCommand(const QString& program, const QStringList& arguments) {
    static const QRegularExpression safe(QStringLiteral("^[A-Za-z0-9_./:=@%+,-]+$"));
    QStringList words{program};
    for (QString argument : arguments) {
        if (!safe.match(argument).hasMatch())
            argument =
                QLatin1Char('\'') + argument.replace(QLatin1Char('\''), QLatin1String("'\\''")) + QLatin1Char('\'');
        words << argument;
    }
    return words.join(QLatin1Char(' '));
}

}  // namespace lanescope::viewer
