// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QComboBox>
#include <QFrame>
#include <QLabel>
#include <QTabWidget>
#include <QToolButton>
#include <QWidget>
#include <array>
#include <memory>
#include <string>
#include <vector>

#include "model/bandwidth/CopyIndex.h"
#include "views/bandwidth/BandwidthAnswer.h"
#include "views/tables/ReportPanel.h"
#include "views/tables/ReportView.h"
#include "views/theme/Theme.h"
#include "views/theme/layouts.h"

class QVBoxLayout;

namespace lanescope::views {

/// Suggestions for faster copies, the greatest gain first. Each has a button that shows an example
/// copy. Hidden if there are no suggestions.
class AdvicePanel : public QFrame {
    Q_OBJECT
  public:
    explicit AdvicePanel(QWidget* parent = nullptr);

    void setAdvice(const std::vector<BandwidthAdvice>& advice);
    void setTheme(const Theme& theme);

  signals:
    void exampleActivated(lanescope::EventRef event);

  protected:
    void changeEvent(QEvent* event) override;

  private:
    void rebuild();
    void addLine(const BandwidthAdvice& advice);
    void style();

    std::vector<BandwidthAdvice> advice_;
    bool showsAll_ = false;
    Theme theme_ = Theme::light();
    QVBoxLayout* lines_;
    QWidget* page_ = nullptr;
};

/// A choice of the NVTX ranges to sum copies by: the detected steps, a name of the trace, or typed
/// text ('#' matches any number).
class RangeNameChoice : public DropDown {
    Q_OBJECT
  public:
    explicit RangeNameChoice(QWidget* parent = nullptr);

    /// Sets the names to choose from, most frequent first. Keeps the current choice.
    void setNames(const std::vector<std::string>& names);
    /// Returns the name or pattern; empty for the steps.
    QString rangeName() const { return name_; }

  signals:
    void rangeNameChanged();

  private:
    void takeText();

    QString name_;
    std::vector<std::string> names_;
};

class CopyChart;

/// The rates of memory copies compared with the peaks of the links: suggestions, a table and charts. Counts off the GUI
/// thread and only while visible. The newest answer wins while a range is dragged.
class BandwidthPanel : public ScopedPanel {
    Q_OBJECT
  public:
    explicit BandwidthPanel(QWidget* parent = nullptr);

    void setTrace(TracePtr trace) override;
    void setTheme(const Theme& theme) override;
    void setRows(BandwidthRows rows) { rowsChoice_->setCurrentIndex(static_cast<int>(rows)); }
    /// Shows only the copies from one GPU to another (indices into `Trace::gpus`) until the user resets the filter.
    void showPair(uint32_t gpu, uint32_t peer);

    /// Returns the description of the mark under the pointer or chosen in a chart.
    QString hint() const { return hint_->text(); }
    ReportView* table() const override { return view_; }

  private:
    QWidget* makeControls();
    QWidget* makeCharts();
    void refresh(LatestJob::Older older) override;
    void showAnswer(const std::shared_ptr<const BandwidthAnswer>& answer, const QString& remark);
    void showWhyEmpty(const BandwidthAnswer& answer);
    void activateRow(int row);
    CopyChart& chart(BandwidthChart chart) const { return *charts_[static_cast<size_t>(chart)]; }
    BandwidthQuestion question() const;

    std::shared_ptr<SharedCopyIndex> copies_;
    std::shared_ptr<const BandwidthAnswer> answer_;
    AdvicePanel* advice_ = new AdvicePanel(this);
    BandwidthModel* model_ = new BandwidthModel;
    ReportView* view_ = new ReportView(model_, this);
    QComboBox* rowsChoice_ = nullptr;
    RangeNameChoice* rangeNameChoice_ = nullptr;
    QToolButton* pairButton_ = nullptr;
    QTabWidget* chartTabs_ = nullptr;
    std::array<CopyChart*, 3> charts_{};
    QLabel* hint_ = nullptr;
};

}  // namespace lanescope::views
