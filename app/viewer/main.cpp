// SPDX-License-Identifier: GPL-3.0-or-later
#include <sys/stat.h>

#include <QAction>
#include <QApplication>
#include <QByteArray>
#include <QDialog>
#include <QLibrary>
#include <QLineEdit>
#include <QLoggingCategory>
#include <QMenu>
#include <QMenuBar>
#include <QPainter>
#include <QPixmap>
#include <QTemporaryDir>
#include <QTimer>
#include <cstdio>
#include <string>
#include <vector>

#include "app/viewer/DocumentTabs.h"
#include "app/viewer/Finder.h"
#include "app/viewer/HitNavigator.h"
#include "app/viewer/LoadPage.h"
#include "app/viewer/MainWindow.h"
#include "app/viewer/TracePage.h"
#include "app/viewer/ViewerActions.h"
#include "app/viewer/ViewerOptions.h"
#include "app/viewer/tracePanels.h"
#include "app/viewer/viewState.h"
#include "app/viewer/windowStyle.h"
#include "model/format/OutputFile.h"
#include "model/format/Result.h"
#include "model/format/version.h"
#include "model/importers/TraceSource.h"
#include "model/index/openTrace.h"
#include "model/remote/RemoteTrace.h"
#include "model/system/system.h"
#include "model/text/formatValue.h"
#include "model/trace/healthNotes.h"
#include "views/sql/SqlPanel.h"
#include "views/text/shownText.h"
#include "views/timeline/exportPicture.h"

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
    for (const QMenu* menu : actions.menus())
        for (QAction* action : menu->actions())
            if (commandName(action->text()).compare(name, Qt::CaseInsensitive) == 0) return action;
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
    const QByteArray png = views::pngOf(picture.toImage());
    if (png.isEmpty()) return fail("The picture cannot be made into a PNG.");
    file.write({png.constData(), static_cast<size_t>(png.size())});
    return file.close();
}

/// Returns the problems of the traces in the window, one sentence each, as printed by commands that show no health.
std::vector<std::string> warningsOf(const MainWindow& window) {
    std::vector<std::string> warnings;
    for (const TracePtr& trace : window.tabs().traces())
        for (const HealthNote& note : healthNotesOf(*trace))
            if (note.severity != Severity::Info)
                warnings.push_back(fmt::format("{}: {}", trace->title, shownText(note)));
    return warnings;
}

/// Opens the files of `options` in `window`, waits until everything is visible, and writes the
/// picture of `options.render`. Runs an event loop meanwhile. Errors: an unwritable path, which is
/// detected before anything is opened; a file that cannot be shown, a search without hits, a query
/// without an answer, an index that is corrupt where it was read, no content within minutes.
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
    for (const TracePtr& trace : window.tabs().traces()) {
        if (auto result = checkIndex(*trace); !result) return result;
        if (const auto remote = remoteOf(*trace); remote && !remote->problem().empty())
            return fail("{}", remote->problem());
    }
    return save(whole, *file);
}

constexpr auto advice =
    "use --render FILE.png to make a picture, or run the viewer on a workstation with the trace copied there.";

bool willUseX11() {
    const QByteArray platform = qgetenv("QT_QPA_PLATFORM");
    if (!platform.isEmpty()) return platform.startsWith("xcb");
    return qEnvironmentVariableIsEmpty("WAYLAND_DISPLAY");
}

/// Uses libxcb, which Qt is about to load anyway; returns true also without this library.
bool isX11Reachable() {
    QLibrary xcb(QStringLiteral("xcb"), 1);
    using Connect = void* (*)(const char*, int*);
    using HasError = int (*)(void*);
    using Disconnect = void (*)(void*);
    const auto connect = reinterpret_cast<Connect>(xcb.resolve("xcb_connect"));
    const auto hasError = reinterpret_cast<HasError>(xcb.resolve("xcb_connection_has_error"));
    const auto disconnect = reinterpret_cast<Disconnect>(xcb.resolve("xcb_disconnect"));
    if (!connect || !hasError || !disconnect) return true;
    void* connection = connect(nullptr, nullptr);
    const bool isReachable = hasError(connection) == 0;
    disconnect(connection);
    return isReachable;
}

/// Prints a sentence on stderr, on one line: names of files may contain any bytes.
void printMessage(const std::string& sentence) {
    std::fprintf(stderr, "lanescope-viewer: %s\n", printable(sentence).c_str());
}

/// Must be called before QApplication exists.
void prepareForNoDisplay() {
    if (qEnvironmentVariableIsEmpty("QT_QPA_PLATFORM")) qputenv("QT_QPA_PLATFORM", "offscreen");
    // Suppresses Qt's warnings about the missing desktop and window positions.
    if (!qEnvironmentVariableIsSet("QT_LOGGING_RULES"))
        QLoggingCategory::setFilterRules(QStringLiteral("default.warning=false"));
}

int render(const ViewerOptions& options) {
    QTemporaryDir folder;  // a picture must not depend on the user's settings
    AppSettings settings(folder.filePath("settings.ini"));
    MainWindow window(settings);
    if (const auto result = renderWindow(window, options); !result) {
        printMessage(result.error().sentence);
        return 1;
    }
    for (const std::string& warning : warningsOf(window)) printMessage("warning: " + warning);
    return 0;
}

int show(const ViewerOptions& options) {
    AppSettings settings;
    MainWindow window(settings);
    window.show();
    window.open(options);
    QTimer::singleShot(0, &window, [&window, &options] {
        const auto result = applyView(window, options.view);
        if (result) return;
        const QString sentence = QString::fromStdString(result.error().sentence);
        if (DocumentPage* page = window.tabs().currentDocument())
            page->showMessage(sentence);
        else
            window.showStatus(sentence);
    });
    return QApplication::exec();
}

}  // namespace

/// Returns why no window can be opened here, with a remedy; empty if there is no problem or it
/// cannot be detected. Qt itself would end the process with a core dump. Call before QApplication
/// exists; connects to the display and disconnects again.
std::string displayProblem() {
    const QByteArray display = qgetenv("DISPLAY");
    const bool hasPlatform = !qEnvironmentVariableIsEmpty("QT_QPA_PLATFORM");
    if (!willUseX11()) return {};
    if (display.isEmpty())
        return hasPlatform ? "The variable DISPLAY names no display; set it, or " + std::string(advice)
                           : "There is no display here: " + std::string(advice);
    if (isX11Reachable()) return {};
    return "The display \"" + display.toStdString() +
           "\" cannot be reached; check DISPLAY and that you may use it (ssh -X, xauth), or " + advice;
}

}  // namespace lanescope::viewer

int main(int argc, char** argv) {
    const auto options = lanescope::viewer::parseViewerOptions(argc, argv);
    if (!options) return options.error();
    if (options->render) {
        lanescope::viewer::prepareForNoDisplay();
    } else if (const std::string problem = lanescope::viewer::displayProblem(); !problem.empty()) {
        lanescope::viewer::printMessage(problem);
        return 1;
    }
    lanescope::system::separateLargeBlocks();
    // Qt writes the settings, which name files of the user.
    ::umask(0077);
    QApplication application(argc, argv);
    QApplication::setApplicationName(QStringLiteral("lanescope-viewer"));
    QApplication::setApplicationDisplayName(QStringLiteral("Lanescope"));
    QApplication::setApplicationVersion(QString::fromLatin1(lanescope::productVersion()));
    QApplication::setDesktopFileName(QStringLiteral("lanescope"));
    lanescope::viewer::registerIcons();
    return options->render ? lanescope::viewer::render(*options) : lanescope::viewer::show(*options);
}
