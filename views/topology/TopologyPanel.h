// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QAbstractTableModel>
#include <QWidget>
#include <memory>
#include <optional>

#include "views/jobs/LatestJob.h"
#include "views/theme/Theme.h"
#include "views/topology/TopologyGraph.h"

namespace lanescope::views {

/// How each GPU is joined to each other, in the words of `nvidia-smi topo -m`, and which CPUs and
/// NUMA node it is near to. Use on the GUI thread.
class TopologyMatrix : public QAbstractTableModel {
    Q_OBJECT
  public:
    explicit TopologyMatrix(QObject* parent = nullptr) : QAbstractTableModel(parent) {}

    /// Null for nothing.
    void setAnswer(std::shared_ptr<const TopologyAnswer> answer);
    void setTheme(const Theme& theme);
    /// The meaning of the words that occur, a line each.
    QStringList legend() const;
    /// The two GPUs of a cell; nothing for one that is not about two of them.
    std::optional<std::pair<int64_t, int64_t>> pairAt(const QModelIndex& index) const;

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation,
                        int role = Qt::DisplayRole) const override;

  private:
    int gpuCount() const { return answer_ ? static_cast<int>(answer_->gpus.size()) : 0; }
    const GpuConnection* connectionAt(const QModelIndex& index) const;
    const GpuAffinity* affinityOf(int row) const;
    QString text(const QModelIndex& index) const;
    QString toolTip(const QModelIndex& index) const;

    std::shared_ptr<const TopologyAnswer> answer_;
    Theme theme_ = Theme::light();
};

/// What one of nvidia-smi's words means: "NV18" is "18 NVLinks joined". Empty if it is none.
QString meaningOf(const QString& word);

}  // namespace lanescope::views

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
