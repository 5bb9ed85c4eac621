// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QComboBox>
#include <string>
#include <vector>

namespace lanescope::views {

/// Which NVTX ranges copies are summed up by: the steps that were found, one of the names in the
/// trace, or whatever the user types ('#' stands for any number).
class RangeNameChoice : public QComboBox {
    Q_OBJECT
  public:
    explicit RangeNameChoice(QWidget* parent = nullptr);

    /// The names to choose from, most frequent first. Keeps what was chosen.
    void setNames(const std::vector<std::string>& names);
    /// The name or pattern; empty for the steps.
    QString rangeName() const { return name_; }
    void setRangeName(const QString& name);

  signals:
    void rangeNameChanged();

  private:
    void takeText();

    QString name_;
    std::vector<std::string> names_;
};

}  // namespace lanescope::views
