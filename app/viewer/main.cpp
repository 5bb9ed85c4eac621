// SPDX-License-Identifier: GPL-3.0-or-later
#include <QApplication>
#include <QLoggingCategory>
#include <QTemporaryDir>
#include <cstdio>

#include "app/viewer/MainWindow.h"
#include "app/viewer/ViewerOptions.h"
#include "app/viewer/displayProblem.h"
#include "app/viewer/icons.h"
#include "app/viewer/renderWindow.h"
#include "model/format/version.h"
#include "model/query/QueryProcess.h"

namespace lanescope::viewer {
namespace {

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
        std::fprintf(stderr, "lanescope-viewer: %s\n", result.error().sentence.c_str());
        return 1;
    }
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
        std::fprintf(stderr, "lanescope-viewer: %s\n", problem.c_str());
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
