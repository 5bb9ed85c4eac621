// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

#include "model/compare/ComparisonTable.h"
#include "views/tables/ReportModel.h"
#include "views/theme/Theme.h"

namespace lanescope::views {

/// Rows of a comparison, with its numbers as it writes them. Every column of lost time is tinted by
/// who lost it, and has a bar of the time at stake.
class DifferenceModel : public ReportModel {
    Q_OBJECT
  public:
    explicit DifferenceModel(QObject* parent = nullptr);

    /// The table of which the next `setTable` has the plain numbers.
    void setComparison(compare::ComparisonTable table);
    void setTheme(const Theme& theme);
    /// The first column of time lost, or -1.
    int lostColumn() const;
    /// What the candidate lost in this row; negative if it gained, 0 if the row does not say.
    int64_t lostNsAt(int row) const { return lostNsAt(row, lostColumn()); }

    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;

  private:
    bool isLostColumn(int column) const;
    int64_t lostNsAt(int row, int column) const;

    compare::ComparisonTable comparison_;
    std::vector<int64_t> greatestLossNs_;  // by column; 0 for others than lost time
    Theme theme_ = Theme::light();
};

}  // namespace lanescope::views
