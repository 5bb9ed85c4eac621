// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QPlainTextEdit>
#include <filesystem>
#include <vector>

#include "app/viewer/DocumentTabs.h"
#include "views/tables/ReportView.h"
#include "views/theme/PaintedWidget.h"

namespace lanescope::viewer {

/// Durations of watched steps over time: a point each, the slow ones marked, and a line of medians.
class WatchChart : public views::PlotWidget {
    Q_OBJECT
  public:
    struct Step {
        double timeSeconds = 0, milliseconds = 0;
        bool isSlow = false;
        QString text;
    };
    explicit WatchChart(QWidget* parent = nullptr);

    /// Adds steps. Of more than 20,000 the latest stay.
    void add(std::vector<Step> steps);
    const std::vector<Step>& steps() const { return steps_; }
    /// Returns the last point of the line; 0 without steps.
    double medianMilliseconds() const { return median_; }

  protected:
    void draw() override;
    bool plotEvent(QEvent* event) override;

  private:
    std::vector<Step> steps_;  // by time
    double median_ = 0;
};

/// Returns true for an output folder of `lanescope watch`.
bool isWatchFolder(const std::filesystem::path& path);

/// The output folder of a `lanescope watch`, as a document of the window that follows its files.
class WatchPage : public DocumentPage {
    Q_OBJECT
  public:
    explicit WatchPage(std::filesystem::path folder);

    const std::filesystem::path& folder() const { return folder_; }
    QString title() const override { return QString::fromStdString(folder_.filename().string()); }
    views::ReportView* currentTable() const override { return files_; }
    void setTheme(const views::Theme& theme) override { chart_->setTheme(theme); }
    bool isBusy() const override { return false; }
    /// Reads the files now, for a page that is shown; later each second.
    void refresh();
    void restoreLayout(const AppSettings&) override {}
    void storeLayout(AppSettings&) const override {}

  signals:
    void openRequested(const std::filesystem::path& trace);

  private:
    void readSteps();
    void listFiles();
    void openFile(int row);

    const std::filesystem::path folder_;
    views::WrappedLabel* state_ = new views::WrappedLabel(this);
    WatchChart* chart_ = new WatchChart(this);
    views::ReportView* files_ = new views::ReportView(this);
    QPlainTextEdit* report_ = new QPlainTextEdit(this);
    qint64 readBytes_ = -1;  // -1: The steps were not read yet.
};

}  // namespace lanescope::viewer
