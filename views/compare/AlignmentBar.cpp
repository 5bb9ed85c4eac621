// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/compare/AlignmentBar.h"

#include <QSignalBlocker>
#include <algorithm>

#include "views/theme/layouts.h"

namespace lanescope::views {
namespace {

// The value of the list item that stands for the detected steps.
const QString foundSteps = QStringLiteral("\x01");
const QString wholeRun = QStringLiteral("\x02");

QComboBox* narrowBox(QWidget* parent, int characters) {
    auto* box = new DropDown(parent);
    box->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    box->setMinimumContentsLength(characters);
    box->setMaxVisibleItems(20);
    return box;
}

void describe(QWidget* control, const QString& toolTip, const QString& accessibleName) {
    control->setToolTip(toolTip);
    control->setAccessibleName(accessibleName);
}

/// Sets the choices, without a signal. A box with only one is invisible.
void fill(QComboBox* box, const QStringList& texts, int shown) {
    const QSignalBlocker blocker(box);
    box->clear();
    box->addItems(texts);
    box->setCurrentIndex(shown);
    box->setVisible(texts.size() > 1);
}

}  // namespace

AlignmentBar::AlignmentBar(QWidget* parent)
    : QWidget(parent),
      names_(narrowBox(this, 18)),
      anchor_(narrowBox(this, 12)),
      candidates_(narrowBox(this, 16)),
      baselineRuns_(narrowBox(this, 12)),
      candidateRuns_(narrowBox(this, 12)),
      workers_(narrowBox(this, 12)) {
    build();
    connectControls();
    clearRangeNames();
    setCandidates({}, 0);
    setRuns({}, {});
    setWorkers({}, 0);
}

void AlignmentBar::build() {
    describe(names_, tr("Which intervals of the runs are compared as steps"), tr("Steps"));
    numberEdit_->setObjectName("numbers");
    numberEdit_->setPlaceholderText(tr("all"));
    numberEdit_->setMaximumWidth(12 * fontMetrics().averageCharWidth());
    describe(numberEdit_, tr("Only these steps, counted from 0: 5-20 or 7. Empty for all but the warm-up."),
             tr("Numbers of steps"));
    anchor_->addItem(tr("step"), int(Anchor::Step));
    anchor_->addItem(tr("start of the run"), int(Anchor::RunStart));
    anchor_->addItem(tr("selected slices"), int(Anchor::SelectedSlice));
    anchor_->addItem(tr("selected range"), int(Anchor::SelectedRange));
    describe(anchor_, tr("Aligned place in both timelines"), tr("Align at"));
    step_->setRange(0, 0);
    describe(step_, tr("The step that both timelines share"), tr("Number of the step to align at"));
    describe(candidates_, tr("The candidate that the timeline shows"), tr("Candidate"));
    describe(baselineRuns_, tr("The run of the baseline that the timelines show"), tr("Run of the baseline"));
    describe(candidateRuns_, tr("The run of the candidate that the timelines show"), tr("Run of the candidate"));
    describe(workers_, tr("The process and GPU that the charts and tables are about"), tr("Worker"));
    describe(swap_, tr("Swap baseline and candidate"), tr("Swap sides"));
    baselineOverlay_->setCheckable(true);
    describe(baselineOverlay_, tr("Outline the baseline in the candidate's lanes (G)"), tr("Baseline overlay"));
    message_->setForegroundRole(QPalette::BrightText);
    message_->hide();

    auto* layout = columnIn(this, {0, 6, 0, 6}, 4);
    layout->addLayout(buildStepRow());
    addTo(layout, buildAlignRow(), message_);
}

QHBoxLayout* AlignmentBar::buildStepRow() {
    auto* row = new QHBoxLayout;
    row->addStretch();
    auto* steps = new QLabel(tr("Steps"), this);
    addTo(row, candidates_, baselineRuns_, candidateRuns_, workers_, steps, names_, numberEdit_);
    return row;
}

QHBoxLayout* AlignmentBar::buildAlignRow() {
    auto* row = new QHBoxLayout;
    row->addStretch();
    addTo(row, baselineOverlay_, swap_, new QLabel(tr("Align at"), this), anchor_, step_);
    return row;
}

void AlignmentBar::connectControls() {
    connect(names_, &QComboBox::currentIndexChanged, this, &AlignmentBar::selectionChanged);
    connect(numberEdit_, &QLineEdit::editingFinished, this, &AlignmentBar::readNumbers);
    connect(anchor_, &QComboBox::currentIndexChanged, this, [this] {
        updateVisibility();
        emit alignmentChanged();
    });
    connect(step_, &QSpinBox::valueChanged, this, &AlignmentBar::alignmentChanged);
    connect(candidates_, &QComboBox::currentIndexChanged, this, &AlignmentBar::candidateChosen);
    for (QComboBox* box : {baselineRuns_, candidateRuns_})
        connect(box, &QComboBox::currentIndexChanged, this,
                [this] { emit runsChosen(baselineRuns_->currentIndex(), candidateRuns_->currentIndex()); });
    connect(workers_, &QComboBox::currentIndexChanged, this, &AlignmentBar::workerChosen);
    connect(swap_, &QPushButton::clicked, this, &AlignmentBar::swapRequested);
    connect(baselineOverlay_, &QPushButton::toggled, this, &AlignmentBar::baselineOverlayToggled);
}

void AlignmentBar::clearRangeNames() {
    const QSignalBlocker blocker(names_);
    names_->clear();
    names_->addItem(tr("found automatically"), foundSteps);
    names_->addItem(tr("the whole run"), wholeRun);
    numberEdit_->clear();
    numbers_.reset();
}

void AlignmentBar::addRangeNames(const std::vector<std::string>& names) {
    const QSignalBlocker blocker(names_);
    for (const std::string& name : names) names_->addItem(toQString(name), toQString(name));
}

void AlignmentBar::setFoundPattern(const QString& pattern) {
    names_->setItemText(0, pattern.isEmpty() ? tr("found automatically") : tr("%1 (found)").arg(pattern));
}

QString AlignmentBar::rangeName() const {
    const QString name = names_->currentData().toString();
    return name == foundSteps || name == wholeRun ? QString() : name;
}

bool AlignmentBar::isWholeRun() const { return names_->currentData().toString() == wholeRun; }

void AlignmentBar::readNumbers() {
    const std::string text = numberEdit_->text().simplified().toStdString();
    std::optional<StepRange> next;
    if (!text.empty()) {
        const Result<StepRange> parsed = parseStepNumbers(text);
        if (!parsed) return setMessage(toQString(parsed.error().sentence));
        next = *parsed;
    }
    setMessage({});
    if (next == numbers_) return;
    numbers_ = next;
    emit selectionChanged();
}

void AlignmentBar::setSteps(std::vector<int64_t> numbers) {
    const int before = step();
    steps_ = std::move(numbers);
    const QSignalBlocker blocker(step_);
    if (steps_.empty()) {
        step_->setRange(0, 0);
    } else {
        const auto clamped = [](int64_t number) { return int(std::clamp<int64_t>(number, 0, 1'000'000'000)); };
        step_->setRange(clamped(steps_.front()), clamped(steps_.back()));
    }
    showStep(before);
}

int AlignmentBar::step() const {
    const auto at = std::lower_bound(steps_.begin(), steps_.end(), int64_t{step_->value()});
    return at == steps_.end() ? 0 : int(at - steps_.begin());
}

void AlignmentBar::showStep(int step) {
    const QSignalBlocker blockAnchor(anchor_);
    const QSignalBlocker blockStep(step_);
    anchor_->setCurrentIndex(anchor_->findData(int(Anchor::Step)));
    if (step >= 0 && size_t(step) < steps_.size()) step_->setValue(int(steps_[size_t(step)]));
    updateVisibility();
}

bool AlignmentBar::setAlignment(const QString& rangeName, int step) {
    const int index = rangeName.isEmpty() ? 0 : names_->findData(rangeName);
    if (index < 0) return false;
    showStep(step);
    if (index != names_->currentIndex())
        names_->setCurrentIndex(index);
    else
        emit alignmentChanged();
    return true;
}

void AlignmentBar::setCandidates(const QStringList& titles, int shown) { fill(candidates_, titles, shown); }

void AlignmentBar::setRuns(const QStringList& baseline, const QStringList& candidate) {
    fill(baselineRuns_, baseline, 0);
    fill(candidateRuns_, candidate, 0);
}

void AlignmentBar::setRunsShown(int baseline, int candidate) {
    for (const auto& [box, index] : {std::pair(baselineRuns_, baseline), std::pair(candidateRuns_, candidate)}) {
        const QSignalBlocker blocker(box);
        box->setCurrentIndex(index);
    }
}

void AlignmentBar::setWorkers(const QStringList& labels, int shown) { fill(workers_, labels, shown); }

QStringList AlignmentBar::workers() const {
    QStringList labels;
    for (int index = 0; index < workers_->count(); ++index) labels << workers_->itemText(index);
    return labels;
}

void AlignmentBar::setMessage(const QString& text) {
    message_->setText(text);
    message_->setVisible(!text.isEmpty());
}

}  // namespace lanescope::views
