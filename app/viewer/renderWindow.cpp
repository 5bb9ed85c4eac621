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
#include "app/viewer/viewState.h"
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

Result<void> firstLoadError(const MainWindow& window) {
    for (int index = 0; index < window.tabs().count(); ++index) {
        const auto* page = qobject_cast<const LoadPage*>(window.tabs().widget(index));
        if (page && !page->errorText().isEmpty()) return fail("{}", page->errorText().toStdString());
    }
    return {};
}

/// The requested content must be in the picture: a hit of the search, an answer to the query.
Result<void> checkAnswered(MainWindow& window, const ViewOptions& view) {
    DocumentPage* page = window.tabs().currentDocument();
    if (!page) return {};
    const HitNavigator* hits = page->navigator();
    if (!hits) return {};
    if (!hits->error().isEmpty()) return fail("--find: {}", hits->error().toStdString());
    if (!view.find.empty() && hits->count() == 0)
        return fail("--find: nothing has \"{}\" in its name.", printable(view.find));
    const auto* trace = qobject_cast<const TracePage*>(page);
    if (view.query.empty() || !trace) return {};
    const auto& sql = trace->tables().demand<SqlPanel>("sql");
    if (!sql.hasFailed()) return {};
    return fail("--query: {}", sql.status().toStdString());
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

}  // namespace

std::vector<std::string> warningsOf(const MainWindow& window) {
    std::vector<std::string> warnings;
    for (const TracePtr& trace : window.tabs().traces())
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
    if (auto result = applyView(window, options.view); !result) return result;
    if (auto result = waitUntilIdle(window); !result) return result;
    if (auto result = checkAnswered(window, options.view); !result) return result;
    if (auto result = command(window, render); !result) return result;
    if (auto result = waitUntilIdle(window); !result) return result;
    const QPixmap whole = picture(window);
    // Only now all data of the picture has been read.
    for (const TracePtr& trace : window.tabs().traces())
        if (auto result = checkIndex(*trace); !result) return result;
    return save(whole, *file);
}

}  // namespace lanescope::viewer
