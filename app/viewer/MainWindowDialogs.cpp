// SPDX-License-Identifier: GPL-3.0-or-later
// The part of MainWindow that asks the user for files.
#include <QAction>
#include <QFileDialog>
#include <QMessageBox>
#include <QStandardPaths>
#include <QStatusBar>

#include "app/viewer/DocumentPage.h"
#include "app/viewer/DocumentTabs.h"
#include "app/viewer/MainWindow.h"
#include "app/viewer/ManualWindow.h"
#include "app/viewer/ShortcutSheet.h"
#include "app/viewer/TracePage.h"
#include "app/viewer/ViewerActions.h"
#include "app/viewer/exportDocument.h"
#include "app/viewer/sampleTrace.h"
#include "model/format/version.h"
#include "model/load/TraceFormat.h"
#include "views/tables/ReportModel.h"
#include "views/tables/ReportView.h"
#include "views/text/toQString.h"

namespace lanescope::viewer {
namespace {

QString traceFilter() {
    return MainWindow::tr("Traces (%1);;All files (*)").arg(views::toQString(formatPatterns()));
}

void say(QMainWindow* window, const Result<void>& result, const QString& path) {
    constexpr int shownMs = 8000;
    window->statusBar()->showMessage(result ? MainWindow::tr("Written: %1").arg(path)
                                            : views::toQString(result.error().sentence),
                                     shownMs);
}

}  // namespace

void MainWindow::connectFileActions() {
    connect(actions_->open, &QAction::triggered, this, &MainWindow::askForFiles);
    connect(actions_->compare, &QAction::triggered, this, &MainWindow::askForComparison);
    connect(actions_->exportPicture, &QAction::triggered, this, &MainWindow::askForPicture);
    connect(actions_->exportTable, &QAction::triggered, this, &MainWindow::askForTable);
    connect(actions_->closeTab, &QAction::triggered, this,
            [this] { tabs_->closeTab(tabs_->currentIndex()); });
    connect(actions_->quit, &QAction::triggered, this, &QWidget::close);
    connect(actions_->shortcuts, &QAction::triggered, this, [this] {
        auto* sheet = new ShortcutSheet(*actions_, this);
        sheet->setAttribute(Qt::WA_DeleteOnClose);
        sheet->open();
    });
    connect(actions_->manual, &QAction::triggered, this, &MainWindow::showManual);
    connect(actions_->about, &QAction::triggered, this, &MainWindow::showAbout);
}

void MainWindow::askForFiles() {
    openFiles(
        QFileDialog::getOpenFileNames(this, tr("Open traces"), settings_.folder(), traceFilter()));
}

void MainWindow::openSample() {
    const QString cache = QStandardPaths::writableLocation(QStandardPaths::CacheLocation);
    const Result<QString> path = sampleTrace(cache + QStringLiteral("/samples"));
    if (path)
        tabs_->openTrace(path->toStdString());
    else
        QMessageBox::warning(this, tr("Sample"), views::toQString(path.error().sentence));
}

void MainWindow::askForComparison() {
    QStringList baseline;
    QString folder = settings_.folder();
    if (const TracePage* page = tabs_->currentTrace()) {
        baseline << views::toQString(page->trace()->path.string());
        folder =
            QFileInfo(baseline.front()).absolutePath();  // runs to compare mostly lie side by side
    } else {
        baseline = QFileDialog::getOpenFileNames(
            this, tr("The run to compare against, or several of one program (baseline)"),
            settings_.folder(), traceFilter());
    }
    if (baseline.isEmpty()) return;
    const QStringList candidates = QFileDialog::getOpenFileNames(
        this,
        baseline.size() > 1 ? tr("The runs of the program in question (candidate)")
                            : tr("The runs in question (candidates)"),
        folder, traceFilter());
    if (candidates.isEmpty()) return;
    settings_.setFolder(QFileInfo(candidates.front()).absolutePath());
    std::vector<std::filesystem::path> files;
    for (const QStringList& paths : {baseline, candidates})
        for (const QString& path : paths) files.emplace_back(path.toStdString());
    // Of one baseline each candidate may be a program of its own.
    tabs_->openComparison(files, baseline.size() > 1 ? size_t(baseline.size()) : 0);
}

void MainWindow::askForPicture() {
    DocumentPage* page = tabs_->currentDocument();
    if (!page) return;
    const QString path = QFileDialog::getSaveFileName(this, tr("Export picture"),
                                                      settings_.folder() + "/timeline.png",
                                                      tr("Pictures (*.png *.svg)"));
    if (!path.isEmpty()) say(this, exportDocumentPicture(*page, path.toStdString()), path);
}

void MainWindow::askForTable() {
    DocumentPage* page = tabs_->currentDocument();
    views::ReportView* view = page ? page->currentTable() : nullptr;
    if (!view) {
        statusBar()->showMessage(tr("No table is on the screen; show one with F10."), 8000);
        return;
    }
    const ReportTable& table = view->model().table();
    const QString path = QFileDialog::getSaveFileName(
        this, tr("Export table"), settings_.folder() + "/" + views::toQString(table.name) + ".csv",
        tr("Tables (*.csv *.json)"));
    if (!path.isEmpty()) say(this, exportTableTo(table, path.toStdString()), path);
}

void MainWindow::showManual() {
    if (!manual_) {
        manual_ = new ManualWindow(this);
        manual_->setAttribute(Qt::WA_DeleteOnClose);
    }
    manual_->show();
    manual_->raise();
    manual_->activateWindow();
}

void MainWindow::showAbout() {
    QMessageBox::about(
        this, tr("About Lanescope"),
        tr("<h3>Lanescope %1</h3><p>Shows what a GPU training did, when, and how fast "
           "the bytes moved.</p><p>Free software under the GNU General Public License, "
           "version 3.</p>")
            .arg(QString::fromLatin1(productVersion())));
}

}  // namespace lanescope::viewer
