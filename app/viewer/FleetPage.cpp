// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/viewer/FleetPage.h"

#include <QFileDialog>
#include <algorithm>
#include <memory>
#include <utility>

#include "app/viewer/AppSettings.h"
#include "views/fleet/FleetMap.h"
#include "views/jobs/LazyTab.h"
#include "views/text/shownText.h"
#include "views/theme/layouts.h"

namespace lanescope::viewer {

using namespace views;

FleetPage::FleetPage(fleet::FleetReportPtr report, QWidget* parent) : DocumentPage(parent), report_(std::move(report)) {
    auto* layout = columnIn(this);
    layout->addWidget(offer_);
    layout->addWidget(new PageArea(view_, this), 1);
    setFocusProxy(&view_->map());
    view_->setReport(report_);
    openFindings_->setEnabled(fleet::tellingPart(*report_).has_value());
    setFolderChooser([this] {
        return std::filesystem::path(QFileDialog::getExistingDirectory(
                                         this, tr("The folder that the traces lie in"),
                                         toQString(std::filesystem::absolute(report_->path).parent_path().string()))
                                         .toStdString());
    });
    connect(openFindings_, &QAction::triggered, view_, &FleetView::openFindings);
    connect(view_, &FleetView::openRequested, this, &FleetPage::open);
    connect(offer_, &OfferBar::accepted, this, [this] { readFrom(chooser_()); });
    connect(offer_, &OfferBar::otherAccepted, this,
            [this] { readFrom(fleet::folderElsewhere(*report_).value_or(std::filesystem::path())); });
    connect(job_, &LatestJob::ranOutOfMemory, this,
            [this] { offer_->offer(tr("There is not enough memory to search for these traces."), {}); });
}

void FleetPage::open(const std::vector<size_t>& rows, const std::optional<StepRange>& steps) {
    rows_ = rows;
    steps_ = steps;
    job_->cancel();
    if (rows.size() > maxRanks)
        return offer_->offer(
            tr("%1 ranks are marked, and %2 at most open as one trace: mark fewer.").arg(rows.size()).arg(maxRanks),
            {});
    offer_->hide();
    job_->start([this, report = report_, rows, folder = folder_]() -> LatestJob::Publish {
        auto files =
            std::make_shared<const Result<std::vector<std::filesystem::path>>>(fleet::tracesOf(*report, rows, folder));
        // Published only while the job exists, which belongs to this page.
        return [this, files] { openFound(*files); };
    });
}

void FleetPage::openFound(const Result<std::vector<std::filesystem::path>>& files) {
    if (!files) {
        const auto elsewhere = fleet::folderElsewhere(*report_);
        if (folder_.empty() && elsewhere)
            return offer_->offer(tr("%1 It says that they lie in %2, which is not below its own folder.")
                                     .arg(toQString(files.error().sentence), toQString(elsewhere->string())),
                                 tr("Choose folder…"), tr("Read them there"));
        return offer_->offer(toQString(files.error().sentence), tr("Choose folder…"));
    }
    TraceExcerpt cut;
    for (const size_t row : rows_) cut.ranks.push_back(static_cast<int>(report_->ranks[row].rank));
    std::sort(cut.ranks.begin(), cut.ranks.end());
    cut.steps = steps_;
    emit openRequested(*files, cut);
}

void FleetPage::readFrom(const std::filesystem::path& folder) {
    if (folder.empty()) return;
    folder_ = folder;
    open(std::vector(rows_), steps_);
}

QString FleetPage::title() const { return toQString(report_->path.filename().string()); }

void FleetPage::restoreLayout(const AppSettings& settings) { view_->restoreState(settings.splitterState("fleet")); }

void FleetPage::storeLayout(AppSettings& settings) const { settings.setSplitterState("fleet", view_->saveState()); }

}  // namespace lanescope::viewer
