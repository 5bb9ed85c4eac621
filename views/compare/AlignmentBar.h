// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSpinBox>
#include <QWidget>
#include <optional>
#include <string>
#include <vector>

#include "model/analysis/StepSelection.h"
#include "views/text/shownText.h"

namespace lanescope::views {

/// Controls of the comparison: the ranges that are the steps, the steps that count, and the point
/// at which both timelines are aligned. Also chooses the candidate and the ranks shown.
class AlignmentBar : public QWidget {
    Q_OBJECT
  public:
    /// The point at which both timelines are aligned.
    enum class Anchor { Step, RunStart, SelectedSlice, SelectedRange };

    explicit AlignmentBar(QWidget* parent = nullptr);

    /// Resets to the detected steps and removes all range names.
    void clearRangeNames();
    void addRangeNames(const std::vector<std::string>& names);
    /// Sets the name of the detected steps: "step #".
    void setFoundPattern(const QString& pattern);
    /// Returns the chosen range name; empty for the detected steps.
    QString rangeName() const;
    bool isWholeRun() const;
    std::optional<StepRange> numbers() const { return numbers_; }

    void setSteps(std::vector<int64_t> numbers);
    Anchor anchor() const { return static_cast<Anchor>(anchor_->currentData().toInt()); }
    /// Returns the index among the compared steps.
    int step() const;
    /// Changes to the anchor `Step` without a signal.
    void showStep(int step);
    /// Makes the ranges called `rangeName` (empty = detected) the steps and step `step` the anchor.
    /// Returns false and changes nothing if the name is not (yet) available.
    bool setAlignment(const QString& rangeName, int step);

    void setCandidates(const QStringList& titles, int shown);
    /// Sets the runs to choose from with several runs per side, and chooses the first of each; empty for none.
    void setRuns(const QStringList& baseline, const QStringList& candidate);
    void setRunsShown(int baseline, int candidate);
    void setWorkers(const QStringList& labels, int shown);
    QStringList workers() const;
    /// Returns the label of the chosen worker; empty if there is no choice.
    QString worker() const { return workers_->count() > 1 ? workers_->currentText() : QString(); }
    /// Chooses a worker like the user.
    void chooseWorker(int index) { workers_->setCurrentIndex(index); }
    void setBaselineOverlayVisible(bool isVisible) { baselineOverlay_->setChecked(isVisible); }
    /// Shows an error under the controls; empty clears it.
    void setMessage(const QString& text);
    QString message() const { return message_->text(); }

  signals:
    void selectionChanged();
    void alignmentChanged();
    void candidateChosen(int index);
    void runsChosen(int baseline, int candidate);
    void workerChosen(int index);
    void swapRequested();
    void baselineOverlayToggled(bool isOn);

  private:
    void build();
    QHBoxLayout* buildStepRow();
    QHBoxLayout* buildAlignRow();
    void connectControls();
    void readNumbers();
    void updateVisibility() { step_->setVisible(anchor() == Anchor::Step); }

    QComboBox* names_;
    QLineEdit* numberEdit_ = new QLineEdit(this);
    QComboBox* anchor_;
    QSpinBox* step_ = new QSpinBox(this);
    QComboBox* candidates_;
    QComboBox* baselineRuns_;
    QComboBox* candidateRuns_;
    QComboBox* workers_;
    QPushButton* swap_ = new QPushButton(tr("Swap"), this);
    QPushButton* baselineOverlay_ = new QPushButton(tr("Overlay"), this);
    QLabel* message_ = new PlainLabel(this);
    std::optional<StepRange> numbers_;
    std::vector<int64_t> steps_;
};

}  // namespace lanescope::views
