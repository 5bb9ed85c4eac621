// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/viewer/renderWindow.h"

#include <QAction>
#include <QApplication>
#include <QBuffer>
#include <QDialog>
#include <QElapsedTimer>
#include <QEventLoop>
#include <QLineEdit>
#include <QMenu>
#include <QMenuBar>
#include <QPainter>
#include <QPixmap>
#include <QPlainTextEdit>
#include <QTabWidget>
#include <QThread>
#include <algorithm>
#include <utility>
#include <vector>

#include "app/viewer/ComparePage.h"
#include "app/viewer/DocumentTabs.h"
#include "app/viewer/FinderEntry.h"
#include "app/viewer/HitNavigator.h"
#include "app/viewer/LoadPage.h"
#include "app/viewer/MainWindow.h"
#include "app/viewer/SearchBar.h"
#include "app/viewer/TracePage.h"
#include "app/viewer/TraceTables.h"
#include "app/viewer/ViewerActions.h"
#include "model/format/OutputFile.h"
#include "model/importers/TraceSource.h"
#include "model/index/openTrace.h"
#include "model/text/formatValue.h"
#include "model/trace/healthNotes.h"
#include "views/compare/AlignmentBar.h"
#include "views/compare/CompareTables.h"
#include "views/compare/CompareView.h"
#include "views/compare/StepChart.h"
#include "views/sql/SqlPanel.h"
#include "views/text/shownText.h"
#include "views/timeline/TimelineView.h"

namespace lanescope::viewer {

using namespace views;

namespace {

constexpr qint64 patienceMs = 10 * 60 * 1000;

Result<void> waitUntilIdle(const MainWindow& window) {
    QElapsedTimer timer;
    timer.start();
    QEventLoop loop;
    // Twice idle: the first content may have requested more.
    for (int idleRounds = 0; idleRounds < 2;) {
        loop.processEvents(QEventLoop::AllEvents, 20);
        idleRounds = window.isBusy() ? 0 : idleRounds + 1;
        if (timer.elapsed() > patienceMs) return fail("The window was not complete after ten minutes.");
        QThread::msleep(5);
    }
    return {};
}

Result<void> firstLoadError(const MainWindow& window) {
    for (int index = 0; index < window.tabs().count(); ++index) {
        const auto* page = qobject_cast<const LoadPage*>(window.tabs().widget(index));
        if (page && !page->errorText().isEmpty()) return fail("{}", page->errorText().toStdString());
    }
    return {};
}

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

/// The requested content must be in the picture: a hit of the search, an answer to the query.
Result<void> checkAnswered(MainWindow& window, const RenderOptions& render) {
    DocumentPage* page = window.tabs().currentDocument();
    if (!page) return {};
    const HitNavigator* hits = page->navigator();
    if (!hits) return {};
    if (!hits->error().isEmpty()) return fail("--find: {}", hits->error().toStdString());
    if (!render.find.empty() && hits->count() == 0)
        return fail("--find: nothing has \"{}\" in its name.", printable(render.find));
    const auto* trace = qobject_cast<const TracePage*>(page);
    if (render.query.empty() || !trace) return {};
    const auto& sql = trace->tables().demand<SqlPanel>("sql");
    if (!sql.hasFailed()) return {};
    return fail("--query: {}", sql.status().toStdString());
}

Result<void> align(DocumentPage* page, const std::string& rangeName) {
    auto* comparison = qobject_cast<ComparePage*>(page);
    if (comparison && comparison->view().alignment().setAlignment(toQString(rangeName), 0)) return {};
    return fail("The runs cannot be aligned at \"{}\": not both have an NVTX range of that name.", rangeName);
}

Result<void> showStep(DocumentPage* page, const RenderOptions& render) {
    auto* comparison = qobject_cast<ComparePage*>(page);
    if (!comparison) return fail("--step and --ghost are about two runs; give them with --compare.");
    comparison->view().alignment().setBaselineOverlayVisible(render.hasBaselineOverlay);
    if (!render.step) return {};
    const int count = comparison->view().steps().stepCount();
    if (*render.step >= count)
        return fail("There is no compared step {}: the runs have {} of them.", *render.step, count);
    comparison->view().showStep(*render.step);
    return {};
}

Result<void> checkNoTimelineOptions(const RenderOptions& render) {
    if (render.select || render.visible || render.step || render.hasBaselineOverlay || !render.align.empty() ||
        !render.table.empty() || !render.query.empty() || !render.find.empty())
        return fail(
            "A report of many ranks has no timeline and no tables to choose from: leave "
            "out all but --do.");
    return {};
}

Result<void> arrange(MainWindow& window, const RenderOptions& render) {
    DocumentPage* page = window.tabs().currentDocument();
    if (!page) return {};
    if (page->timelines().empty()) return checkNoTimelineOptions(render);
    const Trace& shown = *page->timelines().front()->trace();
    for (const auto& [option, range] : {std::pair("--select", render.select), std::pair("--visible", render.visible)}) {
        if (auto result = checkInside(option, range, shown); !result) return result;
    }
    if (!render.align.empty()) {
        // The names are known only afterwards.
        if (auto result = waitUntilIdle(window); !result) return result;
        if (auto result = align(page, render.align); !result) return result;
    }
    if (render.step || render.hasBaselineOverlay) {
        if (auto result = waitUntilIdle(window); !result) return result;
        if (auto result = showStep(page, render); !result) return result;
    }
    if (!render.table.empty()) {
        // Before, the window may choose one itself.
        if (auto result = waitUntilIdle(window); !result) return result;
        if (auto result = showTable(page, render.table); !result) return result;
    }
    if (!render.query.empty()) {
        if (auto result = showAnswer(page, render.query); !result) return result;
    }
    TimelineView& timeline = *page->timelines().front();
    const auto showVisible = [&] {
        if (!render.visible) return;
        timeline.state().range().axis().setRange(render.visible->shifted(-timeline.state().range().origin()));
    };
    showVisible();  // The search begins at the visible range.
    if (!render.find.empty()) {
        window.searchBar().edit().setText(toQString(render.find));
        window.searchBar().next();
        // The hit moves the view; the requests below have priority.
        if (auto result = waitUntilIdle(window); !result) return result;
    }
    showVisible();
    if (render.select) timeline.state().selection().setRange(render.select);
    return {};
}

QAction* findCommand(const ViewerActions& actions, const QString& name) {
    for (const QMenu* menu : actions.menus()) {
        for (QAction* action : menu->actions())
            if (commandName(action->text()).compare(name, Qt::CaseInsensitive) == 0) return action;
    }
    return nullptr;
}

QMenu* findMenu(const ViewerActions& actions, const QString& name) {
    for (QMenu* menu : actions.menus())
        if (commandName(menu->title()).compare(name, Qt::CaseInsensitive) == 0) return menu;
    return nullptr;
}

/// Runs a command by menus and keys like the user; the name of a menu opens it.
Result<void> command(MainWindow& window, const RenderOptions& render) {
    for (const std::string& name : render.commands) {
        const ViewerActions& actions = window.actions();
        QAction* action = findCommand(actions, toQString(name));
        QMenu* menu = action ? nullptr : findMenu(actions, toQString(name));
        if (!action && !menu) return fail("There is no command \"{}\"; the menus have all there are.", name);
        if (menu) {
            const QRect title = window.menuBar()->actionGeometry(menu->menuAction());
            menu->popup(window.menuBar()->mapToGlobal(title.bottomLeft()));
        } else if (!action->isEnabled()) {
            return fail("The command \"{}\" cannot be done here.", name);
        } else {
            action->trigger();
        }
        if (auto result = waitUntilIdle(window); !result) return result;
    }
    if (render.typed.empty()) return {};
    auto* line = qobject_cast<QLineEdit*>(window.focusWidget());
    if (!line) return fail("--type needs a line to type into; open one with --do.");
    line->setText(toQString(render.typed));
    return {};
}

/// Returns the window with the menus and cards over it.
QPixmap picture(MainWindow& window) {
    QPixmap whole = window.grab();
    QPainter painter(&whole);
    for (QWidget* over : QApplication::topLevelWidgets()) {
        if (over == &window || !over->isVisible()) continue;
        QPoint place = over->pos() - window.pos();
        if (qobject_cast<QDialog*>(over)) place = window.rect().center() - over->rect().center();
        const QPixmap card = over->grab();
        painter.drawPixmap(place, card);
        painter.setPen(window.palette().color(QPalette::Mid));
        painter.drawRect(QRect(place, over->size()).adjusted(0, 0, -1, -1));
    }
    return whole;
}

/// Through memory: Qt's PNG writer reports no reason on a full disk, and does not support names that are not UTF-8.
Result<void> save(const QPixmap& picture, OutputFile& file) {
    QByteArray png;
    QBuffer buffer(&png);
    buffer.open(QIODevice::WriteOnly);
    if (!picture.save(&buffer, "PNG")) return fail("The picture cannot be made into a PNG.");
    file.write({png.constData(), static_cast<size_t>(png.size())});
    return file.close();
}

/// Returns the traces of the window, each once, in the order of its tabs.
std::vector<TracePtr> tracesIn(const MainWindow& window) {
    std::vector<TracePtr> traces;
    for (int index = 0; index < window.tabs().count(); ++index) {
        const auto* page = qobject_cast<const DocumentPage*>(window.tabs().widget(index));
        if (!page) continue;
        for (const TimelineView* timeline : page->timelines())
            if (std::ranges::find(traces, timeline->trace()) == traces.end()) traces.push_back(timeline->trace());
    }
    return traces;
}

}  // namespace

std::vector<std::string> warningsOf(const MainWindow& window) {
    std::vector<std::string> warnings;
    for (const TracePtr& trace : tracesIn(window))
        for (const HealthNote& note : healthNotesOf(*trace))
            if (note.severity != Severity::Info)
                warnings.push_back(fmt::format("{}: {}", trace->title, shownText(note)));
    return warnings;
}

Result<void> renderWindow(MainWindow& window, const ViewerOptions& options) {
    const RenderOptions render = options.render.value_or(RenderOptions{});
    if (const Result<void> free = checkNotTrace(render.path); !free) return free;
    Result<OutputFile> file = OutputFile::open(render.path);
    if (!file) return fail(file.error());
    window.setThemeChoice(render.isDark ? ThemeChoice::Dark : ThemeChoice::Light);
    window.resize(render.size);
    window.show();
    window.open(options);
    if (auto result = waitUntilIdle(window); !result) return result;
    if (auto result = firstLoadError(window); !result) return result;
    if (auto result = arrange(window, render); !result) return result;
    if (auto result = waitUntilIdle(window); !result) return result;
    if (auto result = checkAnswered(window, render); !result) return result;
    if (auto result = command(window, render); !result) return result;
    if (auto result = waitUntilIdle(window); !result) return result;
    const QPixmap whole = picture(window);
    // Only now all data of the picture has been read.
    for (const TracePtr& trace : tracesIn(window))
        if (auto result = checkIndex(*trace); !result) return result;
    return save(whole, *file);
}

}  // namespace lanescope::viewer
