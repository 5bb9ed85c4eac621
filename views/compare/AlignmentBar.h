#pragma once

#include <QWidget>
#include <string>
#include <vector>

class QComboBox;
class QLabel;
class QSpinBox;

namespace lanescope {

/// Where two runs are laid on top of each other: at their starts, or at an NVTX range that both
/// have.
class AlignmentBar : public QWidget {
    Q_OBJECT
  public:
    explicit AlignmentBar(QWidget* parent = nullptr);

    /// Names to choose from; goes back to "start of the run".
    void setRangeNames(const std::vector<std::string>& names);
    /// Empty for the start of the run.
    QString rangeName() const;
    /// 0 is the first.
    int occurrence() const;
    /// False, and nothing changes, if there is no such name to choose.
    bool setAlignment(const QString& rangeName, int occurrence);
    /// A sentence under the controls, for an alignment that could not be done; empty clears.
    void setMessage(const QString& text);
    QString message() const;

  signals:
    void alignmentChanged();

  private:
    void updateOccurrence();

    QComboBox* names_;
    QLabel* occurrenceLabel_;
    QSpinBox* occurrence_;
    QLabel* message_;
};

}  // namespace lanescope
