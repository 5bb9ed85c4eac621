// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/viewer/DocumentTabs.h"
#include "model/trace/Trace.h"
#include "views/compare/CompareView.h"

namespace lanescope::compare {
struct StoredComparison;
}

namespace lanescope::viewer {

/// A baseline against one or more candidates, as a document of the window.
class ComparePage : public DocumentPage {
    Q_OBJECT
  public:
    ComparePage(TracePtr baseline, std::vector<TracePtr> candidates, QWidget* parent = nullptr);
    /// Compares two programs by several runs per side.
    ComparePage(std::vector<TracePtr> baseline, std::vector<TracePtr> candidate, QWidget* parent = nullptr);

    /// Shows a stored answer until the first comparison is computed.
    void showStored(const compare::StoredComparison& stored) { view_->showStored(stored); }
    views::CompareView& view() const { return *view_; }

    QString title() const override;
    std::vector<views::TimelineView*> timelines() const override;
    HitNavigator& hits() const { return *hits_; }
    HitNavigator* navigator() const override { return hits_; }
    views::ReportView* currentTable() const override;
    QList<QAction*> commands() const override { return view_->actions(); }
    void setTheme(const views::Theme& theme) override { view_->setTheme(theme); }
    void setDetailsVisible(bool isVisible) override { view_->setDetailsVisible(isVisible); }
    void setTablesVisible(bool isVisible) override { view_->setTablesVisible(isVisible); }
    bool isBusy() const override;
    void restoreLayout(const AppSettings& settings) override;
    void storeLayout(AppSettings& settings) const override;

  private:
    QString arrangementName() const;

    explicit ComparePage(QWidget* parent);

    views::CompareView* view_ = new views::CompareView(this);
    HitNavigator* hits_;
};

}  // namespace lanescope::viewer
