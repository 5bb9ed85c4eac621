// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/explain/StepsPanel.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QScrollArea>
#include <QStackedWidget>
#include <QVBoxLayout>
#include <algorithm>
#include <utility>

#include "model/explain/rankLens.h"
#include "model/explain/stepsTable.h"
#include "views/explain/RankLens.h"
#include "views/jobs/LatestJob.h"
#include "views/tables/ReportModel.h"
#include "views/tables/ReportPanel.h"
#include "views/tables/ReportView.h"
#include "views/text/toQString.h"

namespace lanescope::views {

using namespace explain;

namespace {

constexpr int tablePage = 0, lensPage = 1, firstLateness = 2;

}  // namespace

StepsPanel::StepsPanel(QWidget* parent)
    : QWidget(parent),
      job_(new LatestJob(this)),
      choice_(new QComboBox(this)),
      measure_(new QComboBox(this)),
      bars_(new QStackedWidget(this)),
      pages_(new QStackedWidget(this)),
      table_(new ReportView(this)),
      lens_(new RankLens) {
    build();
}

void StepsPanel::build() {
    choice_->setAccessibleName(tr("What of the steps is shown"));
    measure_->setAccessibleName(tr("What the map tells"));
    choice_->addItems({tr("Table of steps"), tr("Map of ranks and steps")});
    pages_->addWidget(table_);
    auto* area = new QScrollArea(this);
    area->setWidget(lens_);
    area->setWidgetResizable(true);
    area->setFrameShape(QFrame::NoFrame);
    area->setFocusPolicy(Qt::NoFocus);
    pages_->addWidget(area);
    lateness_ = {addLateness(tr("Late ranks"), QStringLiteral("nccl_lateness")),
                 addLateness(tr("Late collectives"), QStringLiteral("nccl_lateness:collective"))};
    table_->setEmptyText(tr("No steps were found in this trace."));

    auto* top = new QHBoxLayout;
    top->setContentsMargins(8, 0, 0, 0);
    top->setSpacing(8);
    top->addWidget(choice_);
    top->addWidget(measure_);
    top->addWidget(bars_, 1);
    // In the order of the pages; the map has nothing to filter.
    bars_->addWidget(&table_->bar());
    bars_->addWidget(new QWidget);
    for (ReportPanel* panel : lateness_) bars_->addWidget(&panel->view().bar());
    bars_->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addLayout(top);
    layout->addWidget(pages_, 1);
    connect(choice_, &QComboBox::currentIndexChanged, this, &StepsPanel::showPage);
    connect(measure_, &QComboBox::currentIndexChanged, this, [this](int index) {
        if (!run_ || index < 0) return;
        lens_->setMeasure(measuresOf(run_->summary)[static_cast<size_t>(index)]);
    });
    connect(table_, &ReportView::rowActivated, this, [this](int row) {
        if (row >= 0 && static_cast<size_t>(row) < places_.size())
            emit stepActivated(places_[static_cast<size_t>(row)]);
    });
    connect(lens_, &RankLens::stepActivated, this, &StepsPanel::stepActivated);
    showPage(tablePage);
}

ReportPanel* StepsPanel::addLateness(const QString& title, const QString& report) {
    auto* panel = new ReportPanel(report, this);
    choice_->addItem(title);
    pages_->addWidget(panel);
    connect(&panel->view(), &ReportView::rowActivated, this, [this, panel](int row) {
        const ReportTable& table = panel->view().model().table();
        if (row < 0 || static_cast<size_t>(row) >= table.rows.size()) return;
        for (size_t column = 0; column < table.columns.size(); ++column)
            if (table.columns[column].unit == Unit::Timestamp)
                if (const auto* timeNs =
                        std::get_if<int64_t>(&table.rows[static_cast<size_t>(row)][column]))
                    return emit momentActivated(*timeNs);
    });
    return panel;
}

void StepsPanel::showPage(int page) {
    pages_->setCurrentIndex(page);
    bars_->setCurrentIndex(page);
    measure_->setVisible(page == lensPage);
}

ReportView* StepsPanel::currentTable() const {
    const int page = choice_->currentIndex();
    if (page == tablePage) return table_;
    return page >= firstLateness ? &lateness_[static_cast<size_t>(page - firstLateness)]->view()
                                 : nullptr;
}

bool StepsPanel::isStale() const {
    const int page = choice_->currentIndex();
    return job_->isRunning() || (page >= firstLateness &&
                                 lateness_[static_cast<size_t>(page - firstLateness)]->isStale());
}

void StepsPanel::setTrace(TracePtr trace) {
    for (ReportPanel* panel : lateness_) panel->setTrace(trace);
}

void StepsPanel::setRange(std::optional<TimeRange> range) {
    for (ReportPanel* panel : lateness_) panel->setRange(range);
}

void StepsPanel::setTheme(const Theme& theme) {
    lens_->setTheme(theme);
}

void StepsPanel::fillMeasures() {
    const QSignalBlocker blocker(measure_);
    measure_->clear();
    if (!run_) return;
    for (const LensMeasure& each : measuresOf(run_->summary))
        measure_->addItem(toQString(name(each)));
}

void StepsPanel::setRun(ExplainedRunPtr run) {
    run_ = std::move(run);
    lens_->setRun(run_);
    lens_->setMeasure({});
    fillMeasures();
    places_.clear();
    table_->setTable({});
    if (!run_) return job_->cancel();
    job_->start([this, shown = run_]() -> LatestJob::Publish {
        auto made = std::make_shared<StepsTable>(stepsTable(shown->summary));
        return [this, made] {
            places_ = std::move(made->places);
            table_->setTable(std::move(made->table));
        };
    });
}

}  // namespace lanescope::views
