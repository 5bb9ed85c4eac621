// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/values/ReportTable.h"
#include "views/bandwidth/BandwidthAnswer.h"
#include "views/tables/ReportModel.h"

namespace lanescope::views {

/// The rows of an answer as a table: what, count, bytes, busy time, rates, share of the peak,
/// overlap. Cells of what is not known are empty.
ReportTable bandwidthTable(const BandwidthAnswer& answer);

/// The statistics behind row `row` of that table, or null.
const CopyStatistics* statisticsOfRow(const BandwidthAnswer& answer, int row);
/// The instance of a range that the row is about, or null.
const RangeInstance* rangeOfRow(const BandwidthAnswer& answer, int row);

/// Shows that table: says where a peak comes from, and sorts sizes by size.
class BandwidthModel : public ReportModel {
    Q_OBJECT
  public:
    explicit BandwidthModel(QObject* parent = nullptr) : ReportModel(parent) {}
    void setAnswer(std::shared_ptr<const BandwidthAnswer> answer) { answer_ = std::move(answer); }
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation,
                        int role = Qt::DisplayRole) const override;

  private:
    std::shared_ptr<const BandwidthAnswer> answer_;
};

}  // namespace lanescope::views
