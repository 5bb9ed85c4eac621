// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QAbstractTableModel>
#include <QLabel>
#include <QWidget>
#include <memory>
#include <optional>

#include "views/tables/Panel.h"
#include "views/tables/ReportPanel.h"
#include "views/theme/Theme.h"
#include "views/topology/TopologyGraph.h"

class QTableView;
class QToolButton;

namespace lanescope::views {

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
    const GpuAffinity* affinityOf(int row) const;
    QString text(const QModelIndex& index) const;
    QString toolTip(const QModelIndex& index) const;

    std::shared_ptr<const TopologyAnswer> answer_;
    Theme theme_ = Theme::light();
};

/// Returns the meaning of one of nvidia-smi's terms: "NV18" is "18 NVLinks connected". Empty if unknown.
QString meaningOf(const QString& word);

class ReportView;

/// The connections of the machine's GPUs, the presence and use of NVLink, and the traffic of each link: in sentences,
/// as a matrix, as a graph, and by range of the program. Counts off the GUI thread and only while visible.
class TopologyPanel : public ComputedPanel {
    Q_OBJECT
  public:
    explicit TopologyPanel(QWidget* parent = nullptr);

    void setTrace(TracePtr trace) override;
    void setRange(std::optional<TimeRange> range) override { scopeChoice_->setSelectedRange(range); }
    /// The range is counted if the user chose this scope.
    void setVisibleRange(TimeRange range) override { scopeChoice_->setVisibleRange(range); }
    void setTheme(const Theme& theme) override;

    QString verdictText() const { return verdict_->text() + QLatin1Char('\n') + sentences_->text(); }
    /// Returns the links; null without any.
    ReportView* table() const override;

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
    QToolButton* addButton(QWidget* parent, const QString& text, const QString& toolTip);

    TracePtr trace_;
    std::shared_ptr<const TopologyAnswer> answer_;
    Theme theme_ = Theme::light();
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
