// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/bandwidth/BandwidthPanel.h"

#include <QCompleter>
#include <QEvent>
#include <QLineEdit>
#include <QSignalBlocker>
#include <QSplitter>
#include <algorithm>

#include "views/bandwidth/CopyChart.h"
#include "views/text/shownText.h"

namespace lanescope::views {
namespace {

constexpr size_t maxLines = 2;

bool isSame(const std::vector<BandwidthAdvice>& a, const std::vector<BandwidthAdvice>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](const auto& x, const auto& y) { return x.sentence == y.sentence && x.example == y.example; });
}

constexpr int shownCharacters = 14;

}  // namespace

AdvicePanel::AdvicePanel(QWidget* parent) : QFrame(parent), lines_(columnIn(this, {8, 4, 8, 4}, -1)) {
    setObjectName(QStringLiteral("advice"));
    setAccessibleName(tr("Advice about the copies"));
    style();
    hide();
}

void AdvicePanel::setAdvice(const std::vector<BandwidthAdvice>& advice) {
    // A dragged selection yields the same sentences repeatedly; a new button would lose the focus.
    if (isSame(advice, advice_)) return;
    advice_ = advice;
    rebuild();
}

void AdvicePanel::setTheme(const Theme& theme) {
    theme_ = theme;
    style();
}

void AdvicePanel::style() {
    const QColor back = Theme::mix(theme_.canvas, theme_.warning, 0.10);
    setStyleSheet(
        QStringLiteral("#advice { background: %1; border: none; border-left: 3px solid %2; } #advice QLabel { color: "
                       "%3; background: transparent; } #advice QToolButton { color: %4; border: 1px solid transparent; "
                       "background: transparent; padding: 1px 4px; } #advice QToolButton:hover, #advice "
                       "QToolButton:focus { border-color: %4; border-radius: 3px; }")
            .arg(back.name(), theme_.warning.name(), theme_.text.name(), theme_.accent.name()));
}

void AdvicePanel::rebuild() {
    // Deferred: the request may come from one of the card's own buttons.
    if (page_) {
        page_->hide();
        page_->deleteLater();
    }
    page_ = new QWidget(this);
    auto* layout = columnIn(page_, {}, 1);
    lines_->addWidget(page_);
    const size_t shown = showsAll_ ? advice_.size() : std::min(advice_.size(), maxLines);
    for (size_t index = 0; index < shown; ++index) addLine(advice_[index]);
    if (advice_.size() > maxLines) {
        auto* more = new QToolButton(page_);
        more->setText(showsAll_ ? tr("Show fewer") : tr("%n more", nullptr, static_cast<int>(advice_.size() - shown)));
        connect(more, &QToolButton::clicked, this, [this] {
            showsAll_ = !showsAll_;
            rebuild();
        });
        layout->addWidget(more, 0, Qt::AlignLeft);
    }
    setVisible(!advice_.empty());
}

void AdvicePanel::addLine(const BandwidthAdvice& advice) {
    auto* row = rowIn(nullptr, {}, 8);
    const QString sentence = toQString(advice.sentence);
    auto* text = new WrappedLabel(page_);
    text->setText(sentence);
    text->setTextInteractionFlags(Qt::TextSelectableByMouse);
    auto* button = textButton(page_, tr("Show"), tr("Shows the best example of this on the timeline"));
    button->setAccessibleName(tr("Show the copy: %1").arg(sentence));
    button->setEnabled(advice.example.isValid());
    connect(button, &QToolButton::clicked, this, [this, example = advice.example] { emit exampleActivated(example); });
    row->addWidget(text, 1);
    row->addWidget(button, 0, Qt::AlignTop);
    static_cast<QVBoxLayout*>(page_->layout())->addLayout(row);
}

void AdvicePanel::changeEvent(QEvent* event) {
    QFrame::changeEvent(event);
    if (event->type() == QEvent::FontChange && page_) rebuild();
}

RangeNameChoice::RangeNameChoice(QWidget* parent) : DropDown(parent) {
    setEditable(true);
    setInsertPolicy(QComboBox::NoInsert);
    setAccessibleName(tr("NVTX ranges that copies are summed up by"));
    setToolTip(tr("Name of the NVTX ranges; # stands for any number. Enter takes what is typed."));
    setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    setMinimumContentsLength(shownCharacters);
    addItem(tr("Steps"));
    completer()->setCompletionMode(QCompleter::PopupCompletion);
    completer()->setFilterMode(Qt::MatchContains);
    lineEdit()->setAccessibleName(accessibleName());
    connect(this, &QComboBox::activated, this, &RangeNameChoice::takeText);
    connect(lineEdit(), &QLineEdit::editingFinished, this, &RangeNameChoice::takeText);
}

void RangeNameChoice::setNames(const std::vector<std::string>& names) {
    if (names == names_) return;
    names_ = names;
    const QSignalBlocker quiet(this);
    const QString text = currentText();
    clear();
    addItem(tr("Steps"));
    for (const std::string& name : names) addItem(toQString(name));
    setCurrentIndex(std::max(0, findText(text, Qt::MatchExactly | Qt::MatchCaseSensitive)));
    setEditText(text);
}

void RangeNameChoice::takeText() {
    const QString text = currentText().trimmed();
    const QString name = text == itemText(0) ? QString() : text;
    if (name.isEmpty()) setEditText(itemText(0));
    if (name == name_) return;
    name_ = name;
    emit rangeNameChanged();
}

BandwidthPanel::BandwidthPanel(QWidget* parent) : ScopedPanel(parent) {
    connect(job(), &LatestJob::ranOutOfMemory, this, [this] {
        view_->setTable({});
        view_->setEmptyText(tr("There is not enough memory to compare these copies."));
        settle();
    });
    auto* left = new QWidget(this);
    addTo(columnIn(left), advice_, Filling{view_});
    view_->addControl(makeControls());
    auto* splitter = new QSplitter(this);
    split(splitter, {{left, 960, 3}, {makeCharts(), 640, 2}});
    columnIn(this)->addWidget(splitter);
    connect(advice_, &AdvicePanel::exampleActivated, this, &BandwidthPanel::eventActivated);
    connect(view_, &ReportView::rowActivated, this, &BandwidthPanel::activateRow);
    connect(view_, &ReportView::nameActivated, this, &BandwidthPanel::nameActivated);
}

QWidget* BandwidthPanel::makeControls() {
    auto* controls = new QWidget(this);
    auto* row = rowIn(controls, {}, -1);
    rowsChoice_ = new DropDown(controls);
    rowsChoice_->setObjectName("rows");
    rowsChoice_->setAccessibleName(tr("Rows of the table"));
    rowsChoice_->addItems(
        {tr("By memory"), tr("By size"), tr("By GPU"), tr("By step or range"), tr("Each step or range")});
    rangeNameChoice_ = new RangeNameChoice(controls);
    rangeNameChoice_->hide();
    makeScopeChoice(controls);
    pairButton_ = textButton(controls, {}, tr("Shows all copies again"));
    pairButton_->setObjectName("pair");
    pairButton_->hide();
    addTo(row, rowsChoice_, rangeNameChoice_, scopeChoice_, pairButton_);
    connect(rowsChoice_, &QComboBox::currentIndexChanged, this, [this] {
        pairButton_->hide();
        rangeNameChoice_->setVisible(rowsChoice_->currentIndex() >= static_cast<int>(BandwidthRows::Range));
        view_->filter().setGroups({});
        invalidate();
    });
    connect(rangeNameChoice_, &RangeNameChoice::rangeNameChanged, this, &BandwidthPanel::invalidate);
    connect(pairButton_, &QToolButton::clicked, this, [this] { setRows(BandwidthRows::Memory); });
    return controls;
}

QWidget* BandwidthPanel::makeCharts() {
    auto* page = new QWidget(this);
    auto* layout = columnIn(page);
    chartTabs_ = new QTabWidget(page);
    chartTabs_->setDocumentMode(true);
    hint_ = new WrappedLabel(page);
    hint_->setForegroundRole(QPalette::PlaceholderText);
    hint_->setMinimumHeight(fontMetrics().height() + 4);
    hint_->setContentsMargins(8, 1, 8, 3);
    addTo(layout, Filling{chartTabs_}, hint_);
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
    copies_ = trace ? freedInBackground(std::make_shared<SharedCopyIndex>(trace)) : nullptr;
    ScopedPanel::setTrace(std::move(trace));
}

void BandwidthPanel::setTheme(const Theme& theme) {
    advice_->setTheme(theme);
    for (CopyChart* chart : charts_) chart->setTheme(theme);
}

void BandwidthPanel::showPair(uint32_t gpu, uint32_t peer) {
    if (!trace_) return;
    setRows(BandwidthRows::Device);
    CopyGroup group{.gpu = gpu, .peer = peer};
    const QString pair = gpuText(*trace_, group);
    view_->filter().setGroups({pair});
    pairButton_->setText(tr("Only %1  \u2715").arg(pair));
    pairButton_->setAccessibleName(tr("Only %1; shows all copies again").arg(pair));
    pairButton_->show();
}

BandwidthQuestion BandwidthPanel::question() const {
    BandwidthQuestion question{.range = scopeChoice_->counted(),
                               .rows = static_cast<BandwidthRows>(rowsChoice_->currentIndex()),
                               .rangeName = rangeNameChoice_->rangeName().toStdString(),
                               .chart = static_cast<BandwidthChart>(chartTabs_->currentIndex())};
    const CopyChart& shown = chart(question.chart);
    question.grid = shown.grid();
    question.binCount = shown.binCount();
    return question;
}

void BandwidthPanel::refresh(LatestJob::Older older) {
    if (!trace_) {
        answer_.reset();
        advice_->setAdvice({});
        view_->setTable({});
        for (CopyChart* chart : charts_) chart->setAnswer(nullptr);
        return settle();
    }
    job()->start(
        [this, copies = copies_, question = question(), remark = scopeChoice_->remark()]() -> LatestJob::Publish {
            auto answer = answerBandwidth(*copies, question);
            // Only the GUI thread uses `this`; the job has checked there that it is alive.
            return [this, answer, remark] { showAnswer(answer, remark); };
        },
        older);
}

void BandwidthPanel::showAnswer(const std::shared_ptr<const BandwidthAnswer>& answer, const QString& remark) {
    answer_ = answer;
    advice_->setAdvice(answer->advice);
    if (answer->question.rows >= BandwidthRows::Range) rangeNameChoice_->setNames(answer->rangeNames);
    showWhyEmpty(*answer);
    model_->setAnswer(answer);
    view_->setTable(bandwidthTable(*answer));
    view_->setRemark(remark);
    chart(answer->question.chart).setAnswer(answer);
    settle();
}

void BandwidthPanel::showWhyEmpty(const BandwidthAnswer& answer) {
    const bool isByRange = answer.question.rows >= BandwidthRows::Range;
    const QString name = toQString(answer.question.rangeName);
    if (trace_->memcpys.size() + trace_->memsets.size() == 0)
        view_->setEmptyText(tr("No memcpy was recorded."));
    else if (isByRange && name.isEmpty())
        view_->setEmptyText(tr("No memcpy is in a step here."));
    else if (isByRange)
        view_->setEmptyText(tr("No memcpy lies in an NVTX range called “%1” here.").arg(name));
    else
        view_->setEmptyText(tr("No memcpy in this range. Select another range."));
}

void BandwidthPanel::activateRow(int row) {
    if (!answer_) return;
    if (const RangeInstance* instance = rangeOfRow(*answer_, row)) emit rangeActivated(instance->range);
}

}  // namespace lanescope::views
