// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QLabel>
#include <QListView>
#include <QSplitter>
#include <QWidget>
#include <optional>
#include <vector>

#include "model/fleet/FleetReport.h"
#include "views/theme/Theme.h"

class QComboBox;
class QPushButton;

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

class FleetMap;

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
    QLabel* headline_;
    QLabel* shape_;
    QLabel* pointed_;
    QComboBox* measure_;
    QComboBox* order_;
    QPushButton* openMarked_;
    QPushButton* openFindings_;
    QPushButton* copy_;
    QLabel* heading_;
    QLabel* notes_;
    QSplitter* splitter_;
    FleetMap* map_;
    FindingList* findings_;
};

}  // namespace lanescope::views
