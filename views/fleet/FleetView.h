// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QLabel>
#include <QListView>
#include <QPushButton>
#include <QSplitter>
#include <QWidget>
#include <optional>
#include <vector>

#include "model/fleet/FleetReport.h"
#include "views/fleet/FleetMap.h"
#include "views/text/shownText.h"
#include "views/theme/Theme.h"
#include "views/theme/layouts.h"

namespace lanescope::views {

/// The findings of a report, worst first: sentence, cost, ranks and steps of each. Enter or a double click requests to
/// open the ranks and steps; Ctrl+C copies the command.
class FindingList : public QListView {
    Q_OBJECT
  public:
    explicit FindingList(QWidget* parent = nullptr);

    void setReport(fleet::FleetReportPtr report);
    void setTheme(const Theme& theme);
    /// Returns the chosen finding, or null.
    const fleet::ReportFinding* current() const;
    void copyCommand() const;

  signals:
    void chosen();
    void openRequested();

  protected:
    void currentChanged(const QModelIndex& current, const QModelIndex& previous) override;
    void mousePressEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

  private:
    fleet::FleetReportPtr report_;
    Theme theme_ = Theme::light();
};

/// A report of many ranks: its headline, the map of every rank in every step, and the findings next
/// to it. A finding marks its cells in the map; marked cells can be opened.
class FleetView : public QWidget {
    Q_OBJECT
  public:
    explicit FleetView(QWidget* parent = nullptr);

    void setReport(fleet::FleetReportPtr report);
    void setTheme(const Theme& theme);
    FleetMap& map() const { return *map_; }
    FindingList& findings() const { return *findings_; }
    QComboBox& order() const { return *order_; }
    QString headline() const { return headline_->text(); }
    QByteArray saveState() const { return splitter_->saveState(); }
    void restoreState(const QByteArray& state);

    /// Requests to open the ranks and steps of the findings; does nothing if there are none.
    void openFindings();

  signals:
    /// Ranks by row, at least one, and the numbers of the steps.
    void openRequested(const std::vector<size_t>& rows, const std::optional<lanescope::StepRange>&);

  private:
    void build();
    void showFinding();
    void openFinding();
    void openSelection();
    void showMarked();
    void open(const fleet::TellingPart& part);

    fleet::FleetReportPtr report_;
    QLabel* headline_ = new PlainLabel(this);
    QLabel* shape_ = new PlainLabel(this);
    QLabel* pointed_ = new PlainLabel(this);
    QComboBox* measure_ = new DropDown(this);
    QComboBox* order_ = new DropDown(this);
    QPushButton* openMarked_ = new QPushButton(this);
    QPushButton* openFindings_ = new QPushButton(tr("Open the most telling ranks"), this);
    QPushButton* copy_ = new QPushButton(tr("Copy command"), this);
    QLabel* heading_ = new PlainLabel(this);
    QLabel* notes_ = new PlainLabel(this);
    QSplitter* splitter_ = new QSplitter(this);
    FleetMap* map_ = new FleetMap(this);
    FindingList* findings_ = new FindingList(this);
};

}  // namespace lanescope::views
