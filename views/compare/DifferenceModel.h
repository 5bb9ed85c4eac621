#pragma once

#include <vector>

#include "views/tables/ReportModel.h"
#include "views/theme/Theme.h"

namespace lanescope {

/// Rows of a comparison. Every column whose name begins with "Lost" is tinted by who lost time, and
/// has a bar of the time at stake.
class DifferenceModel : public ReportModel {
    Q_OBJECT
  public:
    explicit DifferenceModel(QObject* parent = nullptr);

    void setTable(ReportTable table) override;
    void setTheme(const Theme& theme);
    /// The first column of time lost, or -1.
    int lostColumn() const;
    /// What the candidate lost in this row; negative if it gained, 0 if the row does not say.
    int64_t lostNsAt(int row) const { return lostNsAt(row, lostColumn()); }

    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;

  private:
    bool isLostColumn(int column) const;
    int64_t lostNsAt(int row, int column) const;

    std::vector<int64_t> greatestLossNs_;  // by column; 0 for others than lost time
    Theme theme_ = Theme::light();
};

}  // namespace lanescope
