// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QAbstractTableModel>
#include <QLabel>
#include <QString>
#include <QTableView>
#include <QToolButton>
#include <QWidget>
#include <memory>
#include <optional>
#include <vector>

#include "model/bandwidth/LinkUse.h"
#include "model/reports/describeTrace.h"
#include "model/text/ReportTable.h"
#include "views/tables/ReportPanel.h"
#include "views/tables/ReportView.h"
#include "views/theme/PaintedWidget.h"
#include "views/theme/Theme.h"

namespace lanescope::views {

/// The connections of a trace's GPUs, and the traffic of their links in a range.
struct TopologyAnswer : TopologyDescription {
    TracePtr trace;
    std::optional<TimeRange> range;  ///< Unset = the whole trace.
    ReportTable links;               ///< NVLink by range and link; without rows if there are no counters.
    bool hasConnections() const { return !trace->interconnect.connections.empty(); }
};

/// Computes the answer. Any thread. O(n log n) in copies, NCCL's calls and NVTX ranges.
std::shared_ptr<const TopologyAnswer> answerTopology(TracePtr trace, std::optional<TimeRange> range);

/// Returns, for example, "12.3 GiB at 391 GB/s, 82 % of 478" or "no copies".
QString useText(const LinkUse& use);
/// The GPUs as nodes, their connections as edges: the thicker the more bytes, the stronger the colour the closer to the
/// peak. A click or the cursor keys select an edge, a double click or Enter requests its copies.
class TopologyGraph : public PaintedWidget {
    Q_OBJECT
  public:
    explicit TopologyGraph(QWidget* parent = nullptr);

    /// Null for none.
    void setAnswer(std::shared_ptr<const TopologyAnswer> answer);

    /// Both directions between two GPUs.
    struct Edge {
        size_t from = 0, to = 0;  ///< Into `TopologyAnswer::gpus`.
        const LinkUse* there = nullptr;
        const LinkUse* back = nullptr;
        int64_t bytes() const { return (there ? there->copyBytes : 0) + (back ? back->copyBytes : 0); }
        /// Returns the greater one of both directions.
        std::optional<double> peakPercent() const;
        const LinkUse& either() const { return there ? *there : *back; }
        /// Returns the direction with more bytes.
        const LinkUse& busier() const;
    };
    const std::vector<Edge>& edges() const { return edges_; }
    std::optional<int> selectedEdge() const { return selected_; }
    void selectEdge(std::optional<int> edge);
    /// Returns the busier direction of the selected edge, or null.
    const LinkUse* selectedUse() const;
    /// Returns the middle of an edge, as the place to click.
    QPoint edgePosition(int edge) const;
    /// Describes the connection and the figures of each direction.
    QString edgeText(int edge) const;

    QSize sizeHint() const override { return {460, 240}; }
    QSize minimumSizeHint() const override { return {240, 140}; }

  signals:
    void edgeSelected(std::optional<int> edge);
    /// Emitted when the user asks to see the copies from one GPU (by its number) to the other.
    void pairActivated(qint64 gpu, qint64 peer);

  protected:
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override { setHovered(edgeAt(event->position())); }
    void leaveEvent(QEvent*) override { setHovered(std::nullopt); }
    void keyPressEvent(QKeyEvent* event) override;

  private:
    /// Returns a line for each direction with a use.
    QStringList directionsOf(const Edge& edge) const;
    std::vector<QPointF> nodeCenters() const;
    QSizeF nodeSize() const;
    std::optional<int> edgeAt(QPointF position) const;
    void paintEdge(QPainter& painter, int edge, const std::vector<QPointF>& centers) const;
    void paintEdgeLabel(QPainter& painter, int edge, const std::vector<QPointF>& centers) const;
    void paintNode(QPainter& painter, size_t node, QPointF center) const;
    void activate(int edge);
    void setHovered(std::optional<int> edge);

    std::shared_ptr<const TopologyAnswer> answer_;
    std::vector<Edge> edges_;
    int64_t maxBytes_ = 0;
    std::optional<int> selected_, hovered_;
};

/// The connection of each GPU pair, in the terms of `nvidia-smi topo -m`, and the near CPUs and
/// NUMA node of each GPU. GUI thread.
class TopologyMatrix : public QAbstractTableModel {
    Q_OBJECT
  public:
    explicit TopologyMatrix(QObject* parent = nullptr) : QAbstractTableModel(parent) {}

    /// Null for none.
    void setAnswer(std::shared_ptr<const TopologyAnswer> answer);
    void setTheme(const Theme& theme);
    /// Returns the meanings of the occurring terms, one per line.
    QStringList legend() const;
    /// Returns the two GPUs of a cell; nullopt for other cells.
    std::optional<std::pair<int64_t, int64_t>> pairAt(const QModelIndex& index) const;

    int rowCount(const QModelIndex& parent = {}) const override { return parent.isValid() ? 0 : gpuCount(); }
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

  private:
    int gpuCount() const { return answer_ ? static_cast<int>(answer_->gpus.size()) : 0; }
    const GpuConnection* connectionAt(const QModelIndex& index) const;
    QString text(const QModelIndex& index) const;
    QString toolTip(const QModelIndex& index) const;

    std::shared_ptr<const TopologyAnswer> answer_;
    Theme theme_ = Theme::light();
};

/// Returns the meaning of one of nvidia-smi's terms: "NV18" is "18 NVLinks connected". Empty if unknown.
QString meaningOf(const QString& word);

/// The connections of the machine's GPUs, the presence and use of NVLink, and the traffic of each link: in sentences,
/// as a matrix, as a graph, and by range of the program. Counts off the GUI thread and only while visible.
class TopologyPanel : public ScopedPanel {
    Q_OBJECT
  public:
    explicit TopologyPanel(QWidget* parent = nullptr);

    void setTheme(const Theme& theme) override;

    QString verdictText() const { return verdict_->text() + QLatin1Char('\n') + sentences_->text(); }
    /// Returns the links; null without any.
    ReportView* table() const override { return links_->isHidden() ? nullptr : links_; }

  signals:
    /// Emitted when the user asks to see the copies from one GPU (index into `Trace::gpus`) to another.
    void pairActivated(quint32 gpu, quint32 peer);

  protected:
    void changeEvent(QEvent* event) override;

  private:
    QWidget* makeFacts();
    QWidget* makeGraph();
    void refresh(LatestJob::Older older) override;
    void showAnswer(const std::shared_ptr<const TopologyAnswer>& answer, const QString& remark);
    void showVerdict(const TopologyAnswer& answer);
    void fitMatrix();
    void fitMatrixHeight();
    void activatePair(qint64 gpu, qint64 peer);
    void selectPair(const QModelIndex& index);
    void showEdge();

    std::shared_ptr<const TopologyAnswer> answer_;
    Theme theme_ = Theme::light();
    QLabel* verdict_ = nullptr;
    QLabel* sentences_ = nullptr;
    QLabel* legend_ = nullptr;
    TopologyMatrix* matrix_ = new TopologyMatrix(this);
    QTableView* matrixView_ = nullptr;
    TopologyGraph* graph_ = nullptr;
    QLabel* edge_ = nullptr;
    QToolButton* copiesButton_ = nullptr;
    QToolButton* largestButton_ = nullptr;
    QToolButton* slowestButton_ = nullptr;
    ReportView* links_ = new ReportView(this);
};

}  // namespace lanescope::views
