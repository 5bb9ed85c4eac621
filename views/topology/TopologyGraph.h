// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>
#include <QWidget>
#include <memory>
#include <optional>
#include <vector>

#include "model/bandwidth/LinkUse.h"
#include "model/reports/describeTopology.h"
#include "model/text/ReportTable.h"
#include "views/theme/Theme.h"

namespace lanescope::views {

/// How the GPUs of a trace are joined and what their links carried in some range.
struct TopologyAnswer : TopologyDescription {
    TracePtr trace;
    std::optional<TimeRange> range;  ///< The whole trace if not given.
    ReportTable links;  ///< NVLink by range and link; without rows if there are no counters.
    bool knowsConnections() const { return !trace->interconnect.connections.empty(); }
};

/// Any thread. O(n log n) in copies, NCCL's calls and NVTX ranges.
std::shared_ptr<const TopologyAnswer> answerTopology(TracePtr trace,
                                                     std::optional<TimeRange> range);

/// "12.3 GiB at 391 GB/s, 82 % of 478", "no copies".
QString useText(const LinkUse& use);
/// "NV18", "NVSwitch", "PIX"; "?" where the trace does not tell.
QString connectionText(const LinkUse& use);

/// The GPUs as nodes, what joins two of them as an edge: the thicker the more bytes it carried, the
/// stronger its colour the closer to its peak. A click or the arrow keys select an edge, a double
/// click or Enter asks for its copies.
class TopologyGraph : public QWidget {
    Q_OBJECT
  public:
    explicit TopologyGraph(QWidget* parent = nullptr);

    /// Null for nothing.
    void setAnswer(std::shared_ptr<const TopologyAnswer> answer);
    void setTheme(const Theme& theme);

    /// Both ways between two GPUs.
    struct Edge {
        size_t from = 0, to = 0;  ///< Into `TopologyAnswer::gpus`.
        const LinkUse* there = nullptr;
        const LinkUse* back = nullptr;
        int64_t bytes() const;
        /// The greater one of both ways.
        std::optional<double> peakPercent() const;
        const LinkUse& either() const { return there ? *there : *back; }
        /// The way that carried more.
        const LinkUse& busier() const;
    };
    const std::vector<Edge>& edges() const { return edges_; }
    std::optional<int> selectedEdge() const { return selected_; }
    void selectEdge(std::optional<int> edge);
    /// The busier way of the selected edge; null if none is.
    const LinkUse* selectedUse() const;
    /// The middle of an edge, to be clicked.
    QPoint edgePosition(int edge) const;
    /// Connection, and each way with its figures.
    QString edgeText(int edge) const;

    QSize sizeHint() const override { return {460, 240}; }
    QSize minimumSizeHint() const override { return {240, 140}; }

  signals:
    void edgeSelected(std::optional<int> edge);
    /// The user wants to see what went from one GPU (by its number) to the other.
    void pairActivated(qint64 gpu, qint64 peer);

  protected:
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void leaveEvent(QEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void focusInEvent(QFocusEvent* event) override;
    void focusOutEvent(QFocusEvent* event) override;

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
    int64_t mostBytes_ = 0;
    std::optional<int> selected_, hovered_;
    Theme theme_ = Theme::light();
};

}  // namespace lanescope::views
