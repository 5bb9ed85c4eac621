#pragma once

#include <array>
#include <string>

#include <vector>

#include "model/compare/Comparison.h"
#include "views/summary/ReportModel.h"
#include "views/theme/Theme.h"

namespace lanescope {

/// The differences of a comparison as rows, tinted by who lost time.
class DifferenceModel : public ReportModel {
    Q_OBJECT
  public:
    explicit DifferenceModel(QObject* parent = nullptr);

    void setComparison(const Comparison& comparison);
    void setTable(ReportTable table) override;
    void setTheme(const Theme& theme);
    /// The column of time lost, or -1.
    int lostColumn() const { return lostColumn_; }
    /// What the candidate lost in this row; negative if it gained, 0 if the row does not say.
    int64_t lostNsAt(int row) const;

    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;

  private:
    /// GPU work, NVTX ranges and API calls hold the same time again, so each has bars of its own
    /// scale. Which one a row has, as an index.
    size_t scaleOf(int row) const;

    int lostColumn_ = -1;
    std::array<int64_t, 3> greatestLossNs_{};
    Theme theme_ = Theme::light();
};

}  // namespace lanescope
