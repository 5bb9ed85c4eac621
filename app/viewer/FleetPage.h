// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QAction>
#include <filesystem>
#include <functional>
#include <optional>
#include <vector>

#include "app/viewer/DocumentTabs.h"
#include "model/fleet/FleetReport.h"
#include "model/merge/mergeTraces.h"
#include "views/fleet/FleetView.h"
#include "views/jobs/LatestJob.h"

namespace lanescope::viewer {

/// A report of many ranks, as a document of the window. Opens the marked ranks as one trace. Reads no file named by the
/// report before the user requests it, and searches only its own folder and those below without asking.
class FleetPage : public DocumentPage {
    Q_OBJECT
  public:
    explicit FleetPage(fleet::FleetReportPtr report, QWidget* parent = nullptr);

    const fleet::FleetReport& report() const { return *report_; }
    views::FleetView& view() const { return *view_; }
    /// Sets the function that asks the user for the folder of the traces (empty if cancelled); a dialog by default.
    void setFolderChooser(std::function<std::filesystem::path()> chooser) { chooser_ = std::move(chooser); }

    QString title() const override;
    QList<QAction*> commands() const override { return {openFindings_}; }
    void setTheme(const views::Theme& theme) override { view_->setTheme(theme); }
    bool isBusy() const override { return job_->isRunning(); }
    void restoreLayout(const AppSettings& settings) override;
    void storeLayout(AppSettings& settings) const override;

    /// Max number of ranks opened as one trace.
    static constexpr size_t maxRanks = 32;

  signals:
    /// Opens these ranks and steps of the files.
    void openRequested(const std::vector<std::filesystem::path>& files, const lanescope::TraceExcerpt& cut);

  private:
    void open(const std::vector<size_t>& rows, const std::optional<StepRange>& steps);
    void openFound(const Result<std::vector<std::filesystem::path>>& files);
    /// Opens the marked ranks from this folder; does nothing for an empty one.
    void readFrom(const std::filesystem::path& folder);

    fleet::FleetReportPtr report_;
    views::FleetView* view_ = new views::FleetView(this);
    OfferBar* offer_ = new OfferBar(this);
    QAction* openFindings_ = new QAction(tr("Open the most &telling ranks"), this);
    std::function<std::filesystem::path()> chooser_;
    views::LatestJob* job_ = new views::LatestJob(this);  ///< Searches for the traces.
    std::filesystem::path folder_;                        ///< Chosen by the user.
    std::vector<size_t> rows_;                            ///< The last request to open.
    std::optional<StepRange> steps_;
};

}  // namespace lanescope::viewer
