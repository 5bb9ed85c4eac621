// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/topology/TopologyMatrix.h"

#include <algorithm>

#include "views/text/plainToolTip.h"
#include "views/text/toQString.h"
#include "views/topology/linkTexts.h"

namespace lanescope::views {

QString meaningOf(const QString& word) {
    return toQString(meaningOfWord(word.toStdString()));
}

void TopologyMatrix::setAnswer(std::shared_ptr<const TopologyAnswer> answer) {
    if (answer_ && answer && answer_->trace == answer->trace) {
        // Only what was carried differs: what is chosen stays chosen while a range is dragged.
        answer_ = std::move(answer);
        if (gpuCount() > 0) emit dataChanged(index(0, 0), index(rowCount() - 1, columnCount() - 1));
        return;
    }
    beginResetModel();
    answer_ = std::move(answer);
    endResetModel();
}

void TopologyMatrix::setTheme(const Theme& theme) {
    theme_ = theme;
    if (gpuCount() > 0) emit dataChanged(index(0, 0), index(rowCount() - 1, columnCount() - 1));
}

int TopologyMatrix::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : gpuCount();
}

int TopologyMatrix::columnCount(const QModelIndex& parent) const {
    return parent.isValid() || gpuCount() == 0 ? 0 : gpuCount() + 2;
}

std::optional<std::pair<int64_t, int64_t>> TopologyMatrix::pairAt(const QModelIndex& index) const {
    if (!index.isValid() || index.row() >= gpuCount() || index.column() >= gpuCount() ||
        index.row() == index.column())
        return std::nullopt;
    return std::pair(answer_->gpus[static_cast<size_t>(index.row())],
                     answer_->gpus[static_cast<size_t>(index.column())]);
}

const GpuConnection* TopologyMatrix::connectionAt(const QModelIndex& index) const {
    const auto pair = pairAt(index);
    return pair ? connectionOf(*answer_->trace, pair->first, pair->second) : nullptr;
}

const GpuAffinity* TopologyMatrix::affinityOf(int row) const {
    return lanescope::affinityOf(*answer_->trace, answer_->gpus[static_cast<size_t>(row)]);
}

QString TopologyMatrix::text(const QModelIndex& index) const {
    const QString unknown = QStringLiteral("?");
    if (index.column() >= gpuCount()) {
        const GpuAffinity* affinity = affinityOf(index.row());
        if (index.column() == gpuCount())
            return affinity && !affinity->cpus.empty() ? toQString(affinity->cpus) : unknown;
        return affinity && affinity->numaNode >= 0 ? QString::number(affinity->numaNode) : unknown;
    }
    if (index.row() == index.column()) return QStringLiteral("X");
    const GpuConnection* connection = connectionAt(index);
    if (!connection) return unknown;
    return toQString(wordFor(connection));
}

QString TopologyMatrix::toolTip(const QModelIndex& index) const {
    if (index.column() >= gpuCount()) return {};
    const auto pair = pairAt(index);
    if (!pair) return {};
    const QString meaning = meaningOf(text(index));
    const QString title = QStringLiteral("GPU %1 \u2192 GPU %2").arg(pair->first).arg(pair->second);
    const auto use = std::find_if(answer_->uses.begin(), answer_->uses.end(), [&](const auto& u) {
        return u.gpu == pair->first && u.peer == pair->second;
    });
    QStringList parts{meaning.isEmpty() ? title : title + QStringLiteral(": ") + meaning};
    if (use != answer_->uses.end()) parts << useText(*use);
    return parts.join(QStringLiteral(". "));
}

QVariant TopologyMatrix::data(const QModelIndex& index, int role) const {
    if (!index.isValid() || index.row() >= rowCount() || index.column() >= columnCount()) return {};
    const bool isPair = index.column() < gpuCount();
    switch (role) {
        case Qt::DisplayRole:
            return text(index);
        case Qt::ToolTipRole:
            return plainToolTip(toolTip(index));
        case Qt::AccessibleTextRole: {
            const auto pair = pairAt(index);
            if (!pair) return text(index);
            return tr("GPU %1 to GPU %2: %3, %4")
                .arg(pair->first)
                .arg(pair->second)
                .arg(text(index), meaningOf(text(index)));
        }
        case Qt::TextAlignmentRole:
            return int(Qt::AlignCenter);
        case Qt::BackgroundRole: {
            const GpuConnection* connection = connectionAt(index);
            if (isPair && index.row() == index.column()) return theme_.band;
            if (connection && connection->nvlinks > 0)
                return Theme::mix(theme_.canvas, theme_.accent, 0.22);
            return {};
        }
        case Qt::ForegroundRole:
            if (isPair && index.row() == index.column()) return theme_.mutedText;
            return {};
        default:
            return {};
    }
}

QVariant TopologyMatrix::headerData(int section, Qt::Orientation orientation, int role) const {
    const int count = orientation == Qt::Horizontal ? columnCount() : rowCount();
    if (role != Qt::DisplayRole || section < 0 || section >= count) return {};
    if (section < gpuCount())
        return QStringLiteral("GPU%1").arg(answer_->gpus[static_cast<size_t>(section)]);
    return section == gpuCount() ? tr("CPU Affinity") : tr("NUMA");
}

QStringList TopologyMatrix::legend() const {
    QStringList words;
    for (int row = 0; row < gpuCount(); ++row)
        for (int column = 0; column < gpuCount(); ++column)
            if (const GpuConnection* connection = connectionAt(index(row, column)))
                words << toQString(connection->abbreviation);
    words.removeDuplicates();
    QStringList lines;
    for (const QString& word : words)
        if (const QString meaning = meaningOf(word); !meaning.isEmpty())
            lines << QStringLiteral("%1: %2").arg(word, meaning);
    return lines;
}

}  // namespace lanescope::views
