// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/viewer/FleetPage.h"

#include <QAction>
#include <QFileDialog>
#include <QVBoxLayout>
#include <algorithm>
#include <limits>
#include <utility>

#include "app/viewer/AppSettings.h"
#include "app/viewer/OfferBar.h"
#include "views/fleet/FleetMap.h"
#include "views/fleet/FleetView.h"
#include "views/jobs/PageArea.h"
#include "views/text/toQString.h"

namespace lanescope::viewer {

using namespace views;

FleetPage::FleetPage(fleet::FleetReportPtr report, QWidget* parent)
    : DocumentPage(parent),
      report_(std::move(report)),
      view_(new FleetView(this)),
      offer_(new OfferBar(this)),
      openTelling_(new QAction(tr("Open the most &telling ranks"), this)) {
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addWidget(offer_);
    layout->addWidget(new PageArea(view_, this), 1);
    setFocusProxy(&view_->map());
    view_->setReport(report_);
    openTelling_->setEnabled(fleet::tellingPart(*report_).has_value());
    setFolderChooser([this] {
        return std::filesystem::path(
            QFileDialog::getExistingDirectory(
                this, tr("The folder that the traces lie in"),
                toQString(std::filesystem::absolute(report_->path).parent_path().string()))
                .toStdString());
    });
    connect(openTelling_, &QAction::triggered, view_, &FleetView::openTellingPart);
    connect(view_, &FleetView::openWanted, this, &FleetPage::open);
    connect(offer_, &OfferBar::accepted, this, &FleetPage::chooseFolder);
}

void FleetPage::setFolderChooser(std::function<std::filesystem::path()> chooser) {
    chooser_ = std::move(chooser);
}

void FleetPage::open(const std::vector<size_t>& rows, const std::optional<StepRange>& steps) {
    rows_ = rows;
    steps_ = steps;
    if (rows.size() > mostRanks)
        return offer_->offer(
            tr("%1 ranks are marked, and %2 at most open as one trace: mark fewer.")
                .arg(rows.size())
                .arg(mostRanks),
            {});
    const auto files = fleet::tracesOf(*report_, rows, folder_);
    if (!files) return offer_->offer(toQString(files.error().sentence), tr("Choose folder…"));
    offer_->hide();
    TraceCut cut;
    for (const size_t row : rows) {
        const int64_t rank = report_->ranks[row].rank;
        if (rank <= std::numeric_limits<int>::max()) cut.ranks.push_back(static_cast<int>(rank));
    }
    std::sort(cut.ranks.begin(), cut.ranks.end());
    cut.steps = steps;
    emit openWanted(*files, cut);
}

void FleetPage::chooseFolder() {
    const std::filesystem::path chosen = chooser_();
    if (chosen.empty()) return;
    folder_ = chosen;
    open(std::vector(rows_), steps_);
}

QString FleetPage::title() const {
    return toQString(report_->path.filename().string());
}

QList<QAction*> FleetPage::commands() const {
    return {openTelling_};
}

void FleetPage::setTheme(const Theme& theme) {
    view_->setTheme(theme);
}

void FleetPage::restoreLayout(const AppSettings& settings) {
    view_->restoreState(settings.splitterState("fleet"));
}

void FleetPage::storeLayout(AppSettings& settings) const {
    settings.setSplitterState("fleet", view_->saveState());
}

}  // namespace lanescope::viewer
