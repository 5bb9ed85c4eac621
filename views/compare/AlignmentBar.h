// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>
#include <optional>
#include <string>
#include <vector>

#include "model/analysis/StepSelection.h"

class QComboBox;
class QHBoxLayout;
class QLabel;
class QLineEdit;
class QPushButton;
class QSpinBox;

namespace lanescope::views {

/// What two runs are compared by, and where they are laid on top of each other: which stretches are
/// the steps, which of them count, and the point that both timelines share. Also which candidate
/// and which workers are shown.
class AlignmentBar : public QWidget {
    Q_OBJECT
  public:
    /// What stands at the same place in both timelines.
    enum class Anchor { Step, RunStart, SelectedSlice, SelectedRange };

    explicit AlignmentBar(QWidget* parent = nullptr);

    /// Goes back to the steps that are found, with no ranges to choose them from.
    void clearRangeNames();
    /// More ranges to choose the steps from.
    void addRangeNames(const std::vector<std::string>& names);
    /// What the found steps are called: "step #".
    void setFoundPattern(const QString& pattern);
    /// Empty for the steps that are found.
    QString rangeName() const;
    bool isWholeRun() const;
    std::optional<StepRange> numbers() const { return numbers_; }

    /// The numbers of the steps that may be aligned at.
    void setSteps(std::vector<int64_t> numbers);
    Anchor anchor() const;
    /// Place among the compared steps.
    int step() const;
    /// Changes to the anchor `Step` without a signal.
    void showStep(int step);
    /// Steps are the ranges called `rangeName` (empty: as found), and step `step` of them the
    /// anchor. False, and nothing changes, if there is no such name to choose (yet).
    bool setAlignment(const QString& rangeName, int step);

    void setCandidates(const QStringList& titles, int shown);
    /// Of several runs a side, those to choose from, with the first of each chosen; empty for none.
    void setRuns(const QStringList& baseline, const QStringList& candidate);
    void setRunsShown(int baseline, int candidate);
    void setWorkers(const QStringList& labels, int shown);
    void setGhostVisible(bool isVisible);
    /// A sentence under the controls, for what could not be done; empty clears.
    void setMessage(const QString& text);
    QString message() const;

  signals:
    void selectionChanged();
    void alignmentChanged();
    void candidateChosen(int index);
    void runsChosen(int baseline, int candidate);
    void workerChosen(int index);
    void swapRequested();
    void ghostToggled(bool isOn);

  private:
    void build();
    QHBoxLayout* buildStepRow();
    QHBoxLayout* buildAlignRow();
    void connectControls();
    void readNumbers();
    void updateVisibility();

    QComboBox* names_;
    QLineEdit* numberEdit_;
    QComboBox* anchor_;
    QSpinBox* step_;
    QComboBox* candidates_;
    QComboBox* baselineRuns_;
    QComboBox* candidateRuns_;
    QComboBox* workers_;
    QPushButton* swap_;
    QPushButton* ghost_;
    QLabel* message_;
    std::optional<StepRange> numbers_;
    std::vector<int64_t> steps_;
};

}  // namespace lanescope::views
