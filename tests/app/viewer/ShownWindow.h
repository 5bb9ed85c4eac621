// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QApplication>
#include <QDragEnterEvent>
#include <QMimeData>
#include <QTemporaryDir>
#include <QTest>
#include <QUrl>
#include <filesystem>
#include <utility>

#include "app/viewer/AppSettings.h"
#include "app/viewer/DocumentTabs.h"
#include "app/viewer/MainWindow.h"
#include "app/viewer/TracePage.h"
#include "views/timeline/TimelineView.h"

namespace lanescope {

/// Shows a trace that is in memory already.
inline void showTrace(viewer::MainWindow& window, TracePtr trace) {
    auto* page = new viewer::TracePage(std::move(trace));
    window.tabs().setCurrentIndex(window.tabs().addTab(page, page->title()));
    emit window.tabs().documentAdded(page);
}

/// A shown main window with settings of its own.
struct ShownWindow {
    static constexpr QSize usualSize{1300, 850};

    explicit ShownWindow(QSize size = usualSize) : settings(folder.filePath("settings.ini")), window(settings) {
        window.resize(size);
        window.show();
    }
    explicit ShownWindow(TracePtr trace, QSize size = usualSize) : ShownWindow(size) {
        showTrace(window, std::move(trace));
    }

    /// Opens files. Ends the test program if their parts are not computed in time.
    explicit ShownWindow(const QStringList& files) : ShownWindow(usualSize) {
        if (!opened(files)) qFatal("%s: not shown in time", qPrintable(files.join(", ")));
    }

    void open(const std::filesystem::path& file) { window.openFiles({QString::fromStdString(file.string())}); }
    /// Waits until all visible parts are computed.
    bool wait() {
        return QTest::qWaitFor([this] { return !window.isBusy(); }, 60'000);
    }
    /// Opens files, or shows a trace. Returns true once all visible parts are computed.
    bool opened(const QStringList& files) {
        window.openFiles(files);
        return wait();
    }
    bool opened(TracePtr trace) {
        showTrace(window, std::move(trace));
        return wait();
    }
    /// Waits until the timeline has the focus.
    bool waitForFocus() {
        return QTest::qWaitForWindowActive(&window) && QTest::qWaitFor([this] { return timeline().hasFocus(); });
    }
    /// Drops files on the window. Returns true if they are accepted.
    bool drop(const QStringList& files) {
        QMimeData data;
        QList<QUrl> urls;
        for (const QString& file : files) urls << QUrl::fromLocalFile(file);
        data.setUrls(urls);
        QDragEnterEvent enter({50, 50}, Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
        QApplication::sendEvent(&window, &enter);
        const bool isAccepted = enter.isAccepted();
        QDropEvent event({50, 50}, Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
        QApplication::sendEvent(&window, &event);
        return isAccepted;
    }
    viewer::TracePage& page() { return *window.tabs().currentTrace(); }
    views::TimelineView& timeline() { return page().timeline(); }

    QTemporaryDir folder;
    viewer::AppSettings settings;
    viewer::MainWindow window;
};

}  // namespace lanescope
