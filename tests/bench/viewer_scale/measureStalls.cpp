// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/viewer_scale/measureStalls.h"

#include <QCoreApplication>
#include <QLineEdit>
#include <QTabWidget>
#include <QTemporaryDir>

#include "app/viewer/AppSettings.h"
#include "app/viewer/DocumentTabs.h"
#include "app/viewer/HitNavigator.h"
#include "app/viewer/MainWindow.h"
#include "app/viewer/TracePage.h"
#include "app/viewer/ViewerOptions.h"
#include "app/viewer/tracePanels.h"
#include "tests/bench/viewer_scale/StallWatch.h"
#include "views/timeline/TimelineView.h"

namespace lanescope {

using namespace viewer;

namespace {

/// Runs the event loop until `isDone`, or for ten minutes.
template <class Condition>
void runUntil(Condition isDone) {
    QElapsedTimer timer;
    timer.start();
    while (!isDone() && timer.elapsed() < 600'000) QCoreApplication::processEvents(QEventLoop::WaitForMoreEvents);
}

void runFor(int ms) {
    QElapsedTimer timer;
    timer.start();
    runUntil([&] { return timer.elapsed() >= ms; });
}

}  // namespace

Result<QJsonObject> measureStalls(const std::filesystem::path& path) {
    QJsonObject values;
    const QTemporaryDir folder;
    AppSettings settings(folder.filePath(QStringLiteral("settings.ini")));
    MainWindow window(settings);
    window.resize(1920, 1080);
    window.show();
    StallWatch watch;
    runFor(200);
    const auto note = [&](const QString& name) {
        values[name + QStringLiteral("Ms")] = watch.maxStallMs();
        values[name + QStringLiteral("CpuMs")] = watch.maxStallCpuMs();
        watch.restart();
    };

    watch.restart();
    ViewerOptions options;
    options.files = {path};
    window.open(options);
    runUntil([&] { return window.tabs().currentTrace() && !window.isBusy(); });
    TracePage* page = window.tabs().currentTrace();
    if (!page) return fail("{} cannot be opened.", path.string());
    runFor(50);
    note(QStringLiteral("stallLoad"));

    for (const char* text : {"gemm", "e", "no such name"}) {
        window.searchBar().edit().setText(QLatin1String(text));
        window.searchBar().next();
        runUntil([&] { return !page->hits().isSearching(); });
        runFor(50);
    }
    window.searchBar().edit().clear();
    runUntil([&] { return !page->hits().isSearching() && !window.isBusy(); });
    note(QStringLiteral("stallSearch"));

    const TimeRange whole = page->trace()->range;
    for (int step = 1; step <= 100; ++step) {
        const int64_t ns = whole.durationNs() / 120 * step;
        page->timeline().state().selection().setRange(TimeRange{whole.startNs, whole.startNs + ns});
        runFor(10);
    }
    runUntil([&] { return !window.isBusy(); });
    note(QStringLiteral("stallSelect"));

    for (int tab = 0; tab < page->tables().count(); ++tab) {
        page->tables().setCurrentIndex(tab);
        runUntil([&] { return !window.isBusy(); });
        runFor(20);
    }
    note(QStringLiteral("stallSummary"));

    page->tables().setCurrentIndex(0);
    runUntil([&] { return !window.isBusy(); });
    watch.restart();
    for (int round = 0; round < 5; ++round) {
        page->updateTrace(page->trace());
        runFor(20);
        runUntil([&] { return !window.isBusy(); });
    }
    note(QStringLiteral("stallFollow"));

    options.files = {path, path};
    options.isComparison = true;
    window.open(options);
    runUntil([&] { return !window.isBusy(); });
    runFor(50);
    note(QStringLiteral("stallCompare"));
    return values;
}

}  // namespace lanescope
