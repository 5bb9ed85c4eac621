// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>
#include <memory>
#include <optional>

#include "views/jobs/LatestJob.h"
#include "views/theme/Theme.h"
#include "views/topology/TopologyAnswer.h"

class QLabel;
class QTableView;
class QToolButton;

namespace lanescope::views {

class ReportView;
class ScopeChoice;
class TopologyGraph;
class TopologyMatrix;

/// How the GPUs of the machine are joined, whether NVLink is there and used, and what each link
/// carried: in sentences, as a matrix, as a graph, and by range of the program. Counts off the GUI
/// thread, and only while on the screen.
class TopologyPanel : public QWidget {
    Q_OBJECT
  public:
    explicit TopologyPanel(QWidget* parent = nullptr);

    void setTrace(TracePtr trace);
    /// The selected range; none counts the whole trace.
    void setRange(std::optional<TimeRange> range);
    /// What the timeline shows, in the trace's own time; counted if the user wants that.
    void setVisibleRange(TimeRange range);
    void setTheme(const Theme& theme);

    TopologyGraph& graph() const { return *graph_; }
    TopologyMatrix& matrix() const { return *matrix_; }
    QTableView& matrixView() const { return *matrixView_; }
    ReportView& links() const { return *links_; }
    QToolButton& copiesButton() const { return *copiesButton_; }
    QToolButton& largestButton() const { return *largestButton_; }
    QToolButton& slowestButton() const { return *slowestButton_; }
    ScopeChoice& scopeChoice() const { return *scopeChoice_; }
    QString verdictText() const;
    bool isStale() const { return isStale_; }

  signals:
    void updated();
    /// The user wants to see the copies from one GPU (index into `Trace::gpus`) to another.
    void pairActivated(quint32 gpu, quint32 peer);
    /// The user wants to see this copy on the timeline.
    void copyActivated(lanescope::EventRef event);

  protected:
    void showEvent(QShowEvent* event) override;
    void changeEvent(QEvent* event) override;

  private:
    QWidget* makeFacts();
    QWidget* makeGraph();
    void invalidate();
    /// Another time counts.
    void follow();
    void refresh(LatestJob::Older older = LatestJob::Older::Void);
    void showAnswer(const std::shared_ptr<const TopologyAnswer>& answer, const QString& remark);
    void sayVerdict(const TopologyAnswer& answer);
    void fitMatrix();
    void fitMatrixHeight();
    void activatePair(qint64 gpu, qint64 peer);
    void selectPair(const QModelIndex& index);
    void showEdge();
    QToolButton* addButton(QWidget* parent, const QString& text, const QString& toolTip);

    TracePtr trace_;
    std::shared_ptr<const TopologyAnswer> answer_;
    bool isStale_ = false;
    Theme theme_ = Theme::light();
    LatestJob* job_;
    QLabel* verdict_ = nullptr;
    QLabel* sentences_ = nullptr;
    QLabel* legend_ = nullptr;
    TopologyMatrix* matrix_;
    QTableView* matrixView_ = nullptr;
    TopologyGraph* graph_ = nullptr;
    QLabel* edge_ = nullptr;
    QToolButton* copiesButton_ = nullptr;
    QToolButton* largestButton_ = nullptr;
    QToolButton* slowestButton_ = nullptr;
    ScopeChoice* scopeChoice_ = nullptr;
    ReportView* links_;
};

}  // namespace lanescope::views
