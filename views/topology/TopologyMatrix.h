// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QAbstractTableModel>
#include <memory>

#include "views/theme/Theme.h"
#include "views/topology/TopologyAnswer.h"

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
