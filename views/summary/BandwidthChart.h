#pragma once

#include <QWidget>
#include <vector>

#include "model/summary/Bandwidth.h"
#include "views/theme/Theme.h"

class QCustomPlot;

namespace lanescope {

/// Bars of the mean GB/s of each memcpy kind with whiskers from its slowest to its fastest copy;
/// the whole trace pale, the selected range strong beside it. The scale turns logarithmic when
/// rates differ by more than a factor of 30, as copies inside a GPU and over PCIe do.
class BandwidthChart : public QWidget {
    Q_OBJECT
  public:
    explicit BandwidthChart(QWidget* parent = nullptr);

    /// `selected` is empty without a selected range.
    void setRows(std::vector<BandwidthRow> whole, std::vector<BandwidthRow> selected);
    void setTheme(const Theme& theme);
    QCustomPlot& plot() const { return *plot_; }

    QSize sizeHint() const override { return {420, 220}; }

  private:
    void rebuild();
    void addBars(const std::vector<BandwidthRow>& rows, double offset, double width,
                 double opacity);
    /// Writes the mean over its bar and whisker.
    void addValue(double key, double mean, double top);
    void setUpAxes();
    double keyOf(const BandwidthRow& row) const;

    std::vector<BandwidthRow> whole_;
    std::vector<BandwidthRow> selected_;
    Theme theme_ = Theme::light();
    QCustomPlot* plot_;
};

}  // namespace lanescope
