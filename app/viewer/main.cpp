// SPDX-License-Identifier: GPL-3.0-or-later
#include <sys/stat.h>
#include <QApplication>
#include <QByteArray>
#include <QLibrary>
#include <QLoggingCategory>
#include <QTemporaryDir>
#include <QTimer>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "app/viewer/DocumentPage.h"
#include "app/viewer/DocumentTabs.h"
#include "app/viewer/MainWindow.h"
#include "app/viewer/ViewerOptions.h"
#include "app/viewer/renderWindow.h"
#include "app/viewer/viewState.h"
#include "app/viewer/windowStyle.h"
#include "model/format/version.h"
#include "model/system/system.h"
#include "model/text/formatValue.h"

namespace lanescope::viewer {

/// Returns why no window can be opened here, with a remedy; empty if there is no problem or it
/// cannot be detected. Qt itself would end the process with a core dump. Call before QApplication
/// exists; connects to the display and disconnects again.
std::string displayProblem();

namespace {

constexpr auto advice =
    "use --render FILE.png to make a picture, or run the viewer on a workstation with the trace "
    "copied there.";

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

}  // namespace

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

namespace {

/// Prints a sentence on stderr, on one line: names of files may contain any bytes.
void printMessage(const std::string& sentence) {
    std::fprintf(stderr, "lanescope-viewer: %s\n", printable(sentence).c_str());
}

/// Must be called before QApplication exists.
void prepareForNoDisplay() {
    if (qEnvironmentVariableIsEmpty("QT_QPA_PLATFORM")) qputenv("QT_QPA_PLATFORM", "offscreen");
    // Suppresses Qt's warnings about the missing desktop and window positions.
    if (!qEnvironmentVariableIsSet("QT_LOGGING_RULES")) {
        QLoggingCategory::setFilterRules(QStringLiteral("default.warning=false"));
    }
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
