// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>
#include <QWidget>
#include <memory>
#include <optional>
#include <vector>

#include "model/bandwidth/LinkUse.h"
#include "model/reports/describeTrace.h"
#include "model/text/ReportTable.h"
#include "views/theme/PaintedWidget.h"

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
/// Returns, for example, "NV18", "NVSwitch", "PIX"; "?" if the trace does not contain it.
QString connectionText(const LinkUse& use);

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
        int64_t bytes() const;
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
    void mouseMoveEvent(QMouseEvent* event) override;
    void leaveEvent(QEvent*) override { setHovered(std::nullopt); }
    void keyPressEvent(QKeyEvent* event) override;

  private:
    std::vector<QPointF> nodeCenters() const;
    QSizeF nodeSize() const;
    std::optional<int> edgeAt(QPointF position) const;
    void paintEdge(QPainter& painter, int edge, const std::vector<QPointF>& centers) const;
    void paintEdgeLabel(QPainter& painter, int edge, const std::vector<QPointF>& centers) const;
    void paintNode(QPainter& painter, size_t node, QPointF center) const;
    bool isLabelled(int edge) const;
    void activate(int edge);
    void setHovered(std::optional<int> edge);

    std::shared_ptr<const TopologyAnswer> answer_;
    std::vector<Edge> edges_;
    int64_t maxBytes_ = 0;
    std::optional<int> selected_, hovered_;
};

}  // namespace lanescope::views
