// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/bandwidth/BandwidthPanel.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QSplitter>
#include <QTabWidget>
#include <QToolButton>
#include <QVBoxLayout>

#include "views/bandwidth/AdviceCard.h"
#include "views/bandwidth/CopyChart.h"
#include "views/bandwidth/RangeNameChoice.h"
#include "views/bandwidth/bandwidthTable.h"
#include "views/bandwidth/copyTexts.h"
#include "views/jobs/freedElsewhere.h"
#include "views/tables/ReportFilter.h"
#include "views/tables/ReportView.h"
#include "views/tables/ScopeChoice.h"
#include "views/text/WrappedLabel.h"
#include "views/text/toQString.h"

namespace lanescope::views {

BandwidthPanel::BandwidthPanel(QWidget* parent)
    : QWidget(parent),
      job_(new LatestJob(this)),
      advice_(new AdviceCard(this)),
      model_(new BandwidthModel),
      view_(new ReportView(model_, this)) {
    connect(job_, &LatestJob::ranOutOfMemory, this, [this] {
        isStale_ = job_->isOutdated();
        view_->setTable({});
        view_->setEmptyText(tr("There is not enough memory to compare these copies."));
        emit updated();
    });
    auto* left = new QWidget(this);
    auto* column = new QVBoxLayout(left);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(advice_);
    column->addWidget(view_, 1);
    view_->addControl(makeControls());
    auto* splitter = new QSplitter(this);
    splitter->addWidget(left);
    splitter->addWidget(makeCharts());
    splitter->setSizes({960, 640});
    splitter->setStretchFactor(0, 3);
    splitter->setStretchFactor(1, 2);
    splitter->setChildrenCollapsible(false);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(splitter);
    connect(advice_, &AdviceCard::exampleActivated, this, &BandwidthPanel::eventActivated);
    connect(view_, &ReportView::rowActivated, this, &BandwidthPanel::activateRow);
    connect(view_, &ReportView::nameActivated, this, &BandwidthPanel::nameActivated);
}

QWidget* BandwidthPanel::makeControls() {
    auto* controls = new QWidget(this);
    auto* row = new QHBoxLayout(controls);
    row->setContentsMargins(0, 0, 0, 0);
    rowsChoice_ = new QComboBox(controls);
    rowsChoice_->setAccessibleName(tr("Rows of the table"));
    rowsChoice_->addItems({tr("By memory"), tr("By size"), tr("By GPU"), tr("By step or range"),
                           tr("Each step or range")});
    rangeNameChoice_ = new RangeNameChoice(controls);
    rangeNameChoice_->hide();
    scopeChoice_ = new ScopeChoice(controls);
    pairButton_ = new QToolButton(controls);
    pairButton_->setFocusPolicy(Qt::StrongFocus);
    pairButton_->setToolTip(tr("Shows all copies again"));
    pairButton_->hide();
    for (QWidget* control :
         {static_cast<QWidget*>(rowsChoice_), static_cast<QWidget*>(rangeNameChoice_),
          static_cast<QWidget*>(scopeChoice_), static_cast<QWidget*>(pairButton_)})
        row->addWidget(control);
    connect(rowsChoice_, &QComboBox::currentIndexChanged, this, [this] {
        pairButton_->hide();
        rangeNameChoice_->setVisible(rowsChoice_->currentIndex() >=
                                     static_cast<int>(BandwidthRows::Range));
        view_->filter().setGroups({});
        invalidate();
    });
    connect(rangeNameChoice_, &RangeNameChoice::rangeNameChanged, this,
            &BandwidthPanel::invalidate);
    connect(scopeChoice_, &ScopeChoice::countedChanged, this, &BandwidthPanel::follow);
    connect(pairButton_, &QToolButton::clicked, this, [this] { setRows(BandwidthRows::Memory); });
    return controls;
}

QWidget* BandwidthPanel::makeCharts() {
    auto* page = new QWidget(this);
    auto* layout = new QVBoxLayout(page);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    chartTabs_ = new QTabWidget(page);
    chartTabs_->setDocumentMode(true);
    hint_ = new WrappedLabel(page);
    hint_->setForegroundRole(QPalette::PlaceholderText);
    hint_->setMinimumHeight(fontMetrics().height() + 4);
    hint_->setContentsMargins(8, 1, 8, 3);
    layout->addWidget(chartTabs_, 1);
    layout->addWidget(hint_);
    const QString titles[] = {tr("Over time"), tr("By size"), tr("Histogram")};
    for (size_t index = 0; index < charts_.size(); ++index) {
        auto* chart = new CopyChart(static_cast<BandwidthChart>(index), chartTabs_);
        charts_[index] = chart;
        chartTabs_->addTab(chart, titles[index]);
        connect(chart, &CopyChart::copyActivated, this, &BandwidthPanel::eventActivated);
        connect(chart, &CopyChart::rangeSelected, this, &BandwidthPanel::rangeActivated);
        connect(chart, &CopyChart::described, this, [this](const QString& text) {
            hint_->setText(text);
            charts_[size_t(chartTabs_->currentIndex())]->setToolTip({});
        });
        connect(chart, &CopyChart::gridChanged, this, [this, chart] {
            if (chart == chartTabs_->currentWidget()) invalidate();
        });
    }
    connect(chartTabs_, &QTabWidget::currentChanged, this, [this] {
        hint_->clear();
        invalidate();
    });
    return page;
}

void BandwidthPanel::setTrace(TracePtr trace) {
    trace_ = std::move(trace);
    copies_ = trace_ ? freedElsewhere(std::make_shared<SharedCopyIndex>(trace_)) : nullptr;
    scopeChoice_->reset();
    invalidate();
}

void BandwidthPanel::setRange(std::optional<TimeRange> range) {
    scopeChoice_->setSelectedRange(range);
}

void BandwidthPanel::setVisibleRange(TimeRange range) {
    scopeChoice_->setVisibleRange(range);
}

void BandwidthPanel::setTheme(const Theme& theme) {
    advice_->setTheme(theme);
    for (CopyChart* chart : charts_) chart->setTheme(theme);
}

void BandwidthPanel::setRows(BandwidthRows rows) {
    rowsChoice_->setCurrentIndex(static_cast<int>(rows));
}

void BandwidthPanel::setChart(BandwidthChart chart) {
    chartTabs_->setCurrentIndex(static_cast<int>(chart));
}

void BandwidthPanel::showPair(uint32_t gpu, uint32_t peer) {
    if (!trace_) return;
    setRows(BandwidthRows::Device);
    CopyGroup group;
    group.gpu = gpu;
    group.peer = peer;
    const QString pair = gpuText(*trace_, group);
    view_->filter().setGroups({pair});
    pairButton_->setText(tr("Only %1  \u2715").arg(pair));
    pairButton_->setAccessibleName(tr("Only %1; shows all copies again").arg(pair));
    pairButton_->show();
}

QString BandwidthPanel::hint() const {
    return hint_->text();
}

void BandwidthPanel::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    if (isStale_) refresh();
}

void BandwidthPanel::invalidate() {
    isStale_ = true;
    job_->cancel();
    if (isVisible()) refresh();
}

BandwidthQuestion BandwidthPanel::question() const {
    BandwidthQuestion question;
    question.range = scopeChoice_->counted();
    question.rows = static_cast<BandwidthRows>(rowsChoice_->currentIndex());
    question.rangeName = rangeNameChoice_->rangeName().toStdString();
    question.chart = static_cast<BandwidthChart>(chartTabs_->currentIndex());
    const CopyChart& shown = chart(question.chart);
    question.grid = shown.grid();
    question.binCount = shown.binCount();
    return question;
}

/// While a range is being dragged, what was counted a moment ago is better than nothing.
void BandwidthPanel::follow() {
    isStale_ = true;
    if (isVisible())
        refresh(LatestJob::Older::Published);
    else
        job_->cancel();
}

void BandwidthPanel::refresh(LatestJob::Older older) {
    if (!trace_) {
        isStale_ = false;
        answer_.reset();
        advice_->setAdvice({});
        view_->setTable({});
        for (CopyChart* chart : charts_) chart->setAnswer(nullptr);
        emit updated();
        return;
    }
    job_->start(
        [this, copies = copies_, question = question(),
         remark = scopeChoice_->remark()]() -> LatestJob::Publish {
            auto answer = answerBandwidth(*copies, question);
            // `this` is only used on the GUI thread, where the job has made sure that it is alive.
            return [this, answer, remark] { showAnswer(answer, remark); };
        },
        older);
}

void BandwidthPanel::showAnswer(const std::shared_ptr<const BandwidthAnswer>& answer,
                                const QString& remark) {
    isStale_ = job_->isOutdated();
    answer_ = answer;
    advice_->setAdvice(answer->advice);
    if (answer->question.rows >= BandwidthRows::Range)
        rangeNameChoice_->setNames(answer->rangeNames);
    sayWhyEmpty(*answer);
    model_->setAnswer(answer);
    view_->setTable(bandwidthTable(*answer));
    view_->setRemark(remark);
    chart(answer->question.chart).setAnswer(answer);
    if (!isStale_) emit updated();
}

void BandwidthPanel::sayWhyEmpty(const BandwidthAnswer& answer) {
    const bool isByRange = answer.question.rows >= BandwidthRows::Range;
    const QString name = toQString(answer.question.rangeName);
    if (trace_->memcpys.size() + trace_->memsets.size() == 0)
        view_->setEmptyText(tr("No memcpy was recorded."));
    else if (isByRange && name.isEmpty())
        view_->setEmptyText(tr("No memcpy lies in a step here."));
    else if (isByRange)
        view_->setEmptyText(tr("No memcpy lies in an NVTX range called “%1” here.").arg(name));
    else
        view_->setEmptyText(tr("No memcpy lies in this range."));
}

void BandwidthPanel::activateRow(int row) {
    if (!answer_) return;
    if (const RangeInstance* instance = rangeOfRow(*answer_, row))
        emit rangeActivated(instance->range);
}

}  // namespace lanescope::views
