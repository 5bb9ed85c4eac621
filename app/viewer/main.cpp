// SPDX-License-Identifier: GPL-3.0-or-later
#include <QApplication>
#include <QLoggingCategory>
#include <QTemporaryDir>
#include <cstdio>
#include <string>

#include "app/viewer/MainWindow.h"
#include "app/viewer/ViewerOptions.h"
#include "app/viewer/displayProblem.h"
#include "app/viewer/icons.h"
#include "app/viewer/renderWindow.h"
#include "model/format/version.h"
#include "model/query/QueryProcess.h"
#include "model/values/formatValue.h"

namespace lanescope::viewer {
namespace {

/// Prints a sentence on stderr, on one line: names of files may be any bytes.
void say(const std::string& sentence) {
    std::fprintf(stderr, "lanescope-viewer: %s\n", printable(sentence).c_str());
}

/// Must be called before QApplication exists.
void prepareForNoDisplay() {
    if (qEnvironmentVariableIsEmpty("QT_QPA_PLATFORM")) qputenv("QT_QPA_PLATFORM", "offscreen");
    // Qt remarks on the missing desktop and on windows that it cannot place; that is no news here.
    if (!qEnvironmentVariableIsSet("QT_LOGGING_RULES")) {
        QLoggingCategory::setFilterRules(QStringLiteral("default.warning=false"));
    }
}

int render(const ViewerOptions& options) {
    QTemporaryDir folder;  // a picture must not depend on what the user has set
    AppSettings settings(folder.filePath("settings.ini"));
    MainWindow window(settings);
    if (const auto result = renderWindow(window, options); !result) {
        say(result.error().sentence);
        return 1;
    }
    for (const std::string& warning : warningsOf(window)) say("warning: " + warning);
    return 0;
}

int show(const ViewerOptions& options) {
    AppSettings settings;
    MainWindow window(settings);
    window.show();
    window.open(options);
    return QApplication::exec();
}

}  // namespace
}  // namespace lanescope::viewer

int main(int argc, char** argv) {
    if (lanescope::isQueryProcess(argc, argv)) return lanescope::answerQueries();
    const auto options = lanescope::viewer::parseViewerOptions(argc, argv);
    if (!options) return options.error();
    if (options->render) {
        lanescope::viewer::prepareForNoDisplay();
    } else if (const std::string problem = lanescope::viewer::displayProblem(); !problem.empty()) {
        lanescope::viewer::say(problem);
        return 1;
    }
    QApplication application(argc, argv);
    QApplication::setApplicationName(QStringLiteral("lanescope-viewer"));
    QApplication::setApplicationDisplayName(QStringLiteral("Lanescope"));
    QApplication::setApplicationVersion(QString::fromLatin1(lanescope::productVersion()));
    QApplication::setDesktopFileName(QStringLiteral("lanescope"));
    lanescope::viewer::registerIcons();
    return options->render ? lanescope::viewer::render(*options)
                           : lanescope::viewer::show(*options);
}
