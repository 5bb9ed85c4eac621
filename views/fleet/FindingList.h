// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QListView>
#include <optional>

#include "model/fleet/FleetReport.h"
#include "views/theme/Theme.h"

namespace lanescope::views {

/// The findings of a report, worst first: what each says, what it cost, which ranks and steps show
/// it. Enter or a double click asks to open these; Ctrl+C copies the command.
class FindingList : public QListView {
    Q_OBJECT
  public:
    explicit FindingList(QWidget* parent = nullptr);

    void setReport(fleet::FleetReportPtr report);
    void setTheme(const Theme& theme);
    /// The one that is chosen; nothing if none is.
    const fleet::ReportFinding* current() const;
    void copyCommand() const;

  signals:
    void chosen();
    void openWanted();

  protected:
    void currentChanged(const QModelIndex& current, const QModelIndex& previous) override;
    void mousePressEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

  private:
    fleet::FleetReportPtr report_;
    Theme theme_ = Theme::light();
};

}  // namespace lanescope::views
