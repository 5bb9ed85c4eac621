// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <vector>

#include "app/viewer/DocumentPage.h"
#include "model/fleet/FleetReport.h"
#include "model/merge/TraceCut.h"

class QAction;

namespace lanescope::views {
class FleetView;
class LatestJob;
}  // namespace lanescope::views

namespace lanescope::viewer {

class OfferBar;

/// A report of many ranks, as a document of the window. What is marked in it is opened as one
/// trace; nothing that the report names is looked at before the user asks for that, and no folder
/// but its own and those below before he says so.
class FleetPage : public DocumentPage {
    Q_OBJECT
  public:
    explicit FleetPage(fleet::FleetReportPtr report, QWidget* parent = nullptr);

    const fleet::FleetReport& report() const { return *report_; }
    views::FleetView& view() const { return *view_; }
    OfferBar& offer() const { return *offer_; }
    /// Asks the user for the folder of the traces, empty if he does not say; a dialog by default.
    void setFolderChooser(std::function<std::filesystem::path()> chooser);

    QString title() const override;
    QList<QAction*> commands() const override;
    void setTheme(const views::Theme& theme) override;
    bool isBusy() const override;
    void restoreLayout(const AppSettings& settings) override;
    void storeLayout(AppSettings& settings) const override;

    /// So many ranks are opened as one trace at most.
    static constexpr size_t mostRanks = 32;

  signals:
    /// Of these files these ranks and steps.
    void openWanted(const std::vector<std::filesystem::path>& files,
                    const lanescope::TraceCut& cut);

  private:
    void open(const std::vector<size_t>& rows, const std::optional<StepRange>& steps);
    void openFound(const Result<std::vector<std::filesystem::path>>& files);
    void readThere();
    void chooseFolder();

    fleet::FleetReportPtr report_;
    views::FleetView* view_;
    OfferBar* offer_;
    QAction* openTelling_;
    std::function<std::filesystem::path()> chooser_;
    views::LatestJob* job_;         ///< Looks for the traces.
    std::filesystem::path folder_;  ///< That the user chose.
    std::vector<size_t> rows_;      ///< What was to be opened last.
    std::optional<StepRange> steps_;
};

}  // namespace lanescope::viewer
