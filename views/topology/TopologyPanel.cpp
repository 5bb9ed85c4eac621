// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/topology/TopologyPanel.h"

#include <QEvent>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QScrollArea>
#include <QScrollBar>
#include <QSplitter>
#include <QTableView>
#include <QToolButton>
#include <algorithm>

#include "views/tables/ReportView.h"
#include "views/text/shownText.h"
#include "views/theme/layouts.h"
#include "views/theme/texts.h"

namespace lanescope::views {

QString meaningOf(const QString& word) { return toQString(meaningOfWord(word.toStdString())); }

void TopologyMatrix::setAnswer(std::shared_ptr<const TopologyAnswer> answer) {
    if (answer_ && answer && answer_->trace == answer->trace) {
        // Only the traffic differs: the choice is kept while a range is dragged.
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

int TopologyMatrix::columnCount(const QModelIndex& parent) const {
    return parent.isValid() || gpuCount() == 0 ? 0 : gpuCount() + 2;
}

std::optional<std::pair<int64_t, int64_t>> TopologyMatrix::pairAt(const QModelIndex& index) const {
    if (!index.isValid() || index.row() >= gpuCount() || index.column() >= gpuCount() || index.row() == index.column())
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
    const auto use = std::find_if(answer_->uses.begin(), answer_->uses.end(),
                                  [&](const auto& u) { return u.gpu == pair->first && u.peer == pair->second; });
    QStringList parts{meaning.isEmpty() ? title : title + QStringLiteral(": ") + meaning};
    if (use != answer_->uses.end()) parts << useText(*use);
    return parts.join(QStringLiteral(". "));
}

QVariant TopologyMatrix::data(const QModelIndex& index, int role) const {
    if (!index.isValid() || index.row() >= rowCount() || index.column() >= columnCount()) return {};
    const bool isPair = index.column() < gpuCount();
    switch (role) {
        case Qt::DisplayRole: return text(index);
        case Qt::ToolTipRole: return plainToolTip(toolTip(index));
        case Qt::AccessibleTextRole: {
            const auto pair = pairAt(index);
            if (!pair) return text(index);
            return tr("GPU %1 to GPU %2: %3, %4")
                .arg(pair->first)
                .arg(pair->second)
                .arg(text(index), meaningOf(text(index)));
        }
        case Qt::TextAlignmentRole: return int(Qt::AlignCenter);
        case Qt::BackgroundRole: {
            const GpuConnection* connection = connectionAt(index);
            if (isPair && index.row() == index.column()) return theme_.band;
            if (connection && connection->nvlinks > 0) return Theme::mix(theme_.canvas, theme_.accent, 0.22);
            return {};
        }
        case Qt::ForegroundRole:
            if (isPair && index.row() == index.column()) return theme_.mutedText;
            return {};
        default: return {};
    }
}

QVariant TopologyMatrix::headerData(int section, Qt::Orientation orientation, int role) const {
    const int count = orientation == Qt::Horizontal ? columnCount() : rowCount();
    if (role != Qt::DisplayRole || section < 0 || section >= count) return {};
    if (section < gpuCount()) return QStringLiteral("GPU%1").arg(answer_->gpus[static_cast<size_t>(section)]);
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

namespace {

QLabel* plainLabel(QWidget* parent) {
    auto* label = new WrappedLabel(parent);
    label->setTextInteractionFlags(Qt::TextSelectableByMouse);
    return label;
}

}  // namespace

TopologyPanel::TopologyPanel(QWidget* parent)
    : ComputedPanel(parent), matrix_(new TopologyMatrix(this)), links_(new ReportView(this)) {
    connect(job(), &LatestJob::ranOutOfMemory, this, [this] {
        verdict_->setText(tr("Not enough memory for the topology. Close other traces."));
        settle();
    });
    auto* splitter = new QSplitter(this);
    split(splitter, {{makeFacts(), 520}, {makeGraph(), 520}, {links_, 560}});
    links_->hide();
    columnIn(this)->addWidget(splitter);
}

QWidget* TopologyPanel::makeFacts() {
    auto* area = new QScrollArea(this);
    area->setAccessibleName(tr("Whether NVLink was used, and how GPUs are connected"));
    area->setWidgetResizable(true);
    area->setFrameShape(QFrame::NoFrame);
    area->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    auto* page = new QWidget(area);
    auto* layout = columnIn(page, {10, 6, 10, 6}, 5);
    verdict_ = plainLabel(page);
    sentences_ = plainLabel(page);
    legend_ = plainLabel(page);
    legend_->setForegroundRole(QPalette::PlaceholderText);
    matrixView_ = new QTableView(page);
    matrixView_->setObjectName("matrix");
    matrixView_->setTabKeyNavigation(false);
    matrixView_->setModel(matrix_);
    matrixView_->setAccessibleName(tr("Connection of each pair of GPUs"));
    matrixView_->setFrameShape(QFrame::NoFrame);
    matrixView_->setSelectionMode(QAbstractItemView::SingleSelection);
    matrixView_->setEditTriggers(QAbstractItemView::NoEditTriggers);
    matrixView_->setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    matrixView_->verticalHeader()->setSectionResizeMode(QHeaderView::Fixed);
    matrixView_->verticalHeader()->setDefaultAlignment(Qt::AlignCenter);
    matrixView_->horizontalHeader()->setHighlightSections(false);
    matrixView_->verticalHeader()->setHighlightSections(false);
    connect(matrixView_->horizontalScrollBar(), &QScrollBar::rangeChanged, this, &TopologyPanel::fitMatrixHeight);
    connect(matrixView_->selectionModel(), &QItemSelectionModel::currentChanged, this, &TopologyPanel::selectPair);
    connect(matrixView_, &QTableView::activated, this, [this](const QModelIndex& index) {
        if (const auto pair = matrix_->pairAt(index)) activatePair(pair->first, pair->second);
    });
    scopeChoice_ = new ScopeChoice(page);
    connect(scopeChoice_, &ScopeChoice::countedChanged, this, &TopologyPanel::follow);
    auto* top = new QHBoxLayout;
    top->addWidget(verdict_, 1);
    top->addWidget(scopeChoice_, 0, Qt::AlignTop);
    layout->addLayout(top);
    addTo(layout, sentences_, matrixView_, legend_);
    layout->addStretch(1);
    area->setWidget(page);
    return area;
}

QWidget* TopologyPanel::makeGraph() {
    auto* page = new QWidget(this);
    auto* layout = columnIn(page);
    graph_ = new TopologyGraph(page);
    edge_ = plainLabel(page);
    copiesButton_ = addButton(page, tr("Its copies"), tr("Filters the bandwidth table to these two GPUs"));
    largestButton_ = addButton(page, tr("Largest"), tr("Shows the largest copy of the two GPUs on the timeline"));
    slowestButton_ = addButton(
        page, tr("Slowest"),
        tr("Shows the copy of the two GPUs with the least GB/s, of those of at least 1 MiB, on the timeline"));
    copiesButton_->setObjectName("copies");
    largestButton_->setObjectName("largest");
    slowestButton_->setObjectName("slowest");
    auto* bottom = rowIn(nullptr, {8, 3, 8, 3}, -1);
    bottom->addWidget(edge_, 1);
    addTo(bottom, copiesButton_, largestButton_, slowestButton_);
    layout->addWidget(graph_, 1);
    layout->addLayout(bottom);
    showEdge();
    connect(graph_, &TopologyGraph::edgeSelected, this, &TopologyPanel::showEdge);
    connect(graph_, &TopologyGraph::pairActivated, this, &TopologyPanel::activatePair);
    connect(copiesButton_, &QToolButton::clicked, this, [this] {
        if (const LinkUse* use = graph_->selectedUse()) activatePair(use->gpu, use->peer);
    });
    connect(largestButton_, &QToolButton::clicked, this, [this] {
        if (const LinkUse* use = graph_->selectedUse()) emit eventActivated(use->largest);
    });
    connect(slowestButton_, &QToolButton::clicked, this, [this] {
        if (const LinkUse* use = graph_->selectedUse()) emit eventActivated(use->slowest);
    });
    return page;
}

QToolButton* TopologyPanel::addButton(QWidget* parent, const QString& text, const QString& toolTip) {
    auto* button = new QToolButton(parent);
    button->setText(text);
    button->setToolTip(toolTip);
    button->setAccessibleDescription(toolTip);
    button->setFocusPolicy(Qt::StrongFocus);
    return button;
}

void TopologyPanel::showEdge() {
    const auto edge = graph_->selectedEdge();
    edge_->setText(edge ? graph_->edgeText(*edge) : tr("Click a link or use the cursor keys"));
    const LinkUse* use = graph_->selectedUse();
    copiesButton_->setEnabled(use != nullptr);
    largestButton_->setEnabled(use && use->largest.isValid());
    slowestButton_->setEnabled(use && use->slowest.isValid());
}

ReportView* TopologyPanel::table() const { return links_->isHidden() ? nullptr : links_; }

void TopologyPanel::setTrace(TracePtr trace) {
    trace_ = std::move(trace);
    scopeChoice_->reset();
    invalidate();
}

void TopologyPanel::setTheme(const Theme& theme) {
    theme_ = theme;
    graph_->setTheme(theme);
    matrix_->setTheme(theme);
    if (answer_) showVerdict(*answer_);
}

void TopologyPanel::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() == QEvent::FontChange && matrixView_) fitMatrix();
}

void TopologyPanel::refresh(LatestJob::Older older) {
    if (!trace_) {
        answer_.reset();
        graph_->setAnswer(nullptr);
        matrix_->setAnswer(nullptr);
        verdict_->clear();
        sentences_->clear();
        legend_->clear();
        links_->hide();
        return settle();
    }
    job()->start(
        [this, trace = trace_, range = scopeChoice_->counted(),
         remark = scopeChoice_->remark()]() -> LatestJob::Publish {
            auto answer = answerTopology(trace, range);
            // Only the GUI thread uses `this`; the job has checked there that it is alive.
            return [this, answer, remark] { showAnswer(answer, remark); };
        },
        older);
}

void TopologyPanel::showAnswer(const std::shared_ptr<const TopologyAnswer>& answer, const QString& remark) {
    answer_ = answer;
    showVerdict(*answer);
    matrix_->setAnswer(answer);
    graph_->setAnswer(answer);
    showEdge();
    fitMatrix();
    const bool isAlone = answer->gpus.size() < 2;
    matrixView_->setVisible(!isAlone && answer->hasConnections());
    legend_->setText(matrix_->legend().join(QLatin1Char('\n')));
    legend_->setVisible(matrixView_->isVisibleTo(this) && !legend_->text().isEmpty());
    graph_->parentWidget()->setVisible(!isAlone && !graph_->edges().empty());
    links_->setTable(answer->links);
    links_->setRemark(remark);
    links_->setVisible(!answer->links.rows.empty());
    settle();
}

void TopologyPanel::showVerdict(const TopologyAnswer& answer) {
    verdict_->setText(tr("NVLink: %1").arg(toQString(name(answer.verdict.use))));
    QFont bold = strong(font());
    bold.setPointSizeF(bold.pointSizeF() * 1.1);
    verdict_->setFont(bold);
    QStringList lines;
    for (const std::string& sentence : answer.verdict.sentences) lines << toQString(sentence);
    if (answer.gpus.size() == 1)
        lines << tr("The trace has one GPU. Links between GPUs need a trace of several.");
    else if (answer.gpus.empty())
        lines << tr("The trace contains no GPU.");
    else if (!answer.hasConnections())
        lines << tr(
            "The trace does not contain how its GPUs are connected. lanescope record stores it; files of other tools "
            "lack it.");
    if (answer.range) lines << scopeChoice_->remark();
    sentences_->setText(lines.join(QLatin1Char('\n')));
}

void TopologyPanel::fitMatrix() {
    matrixView_->resizeColumnsToContents();
    const int spare = 2 * fontMetrics().averageCharWidth();
    int width = matrixView_->verticalHeader()->sizeHint().width() + spare;
    for (int column = 0; column < matrix_->columnCount(); ++column) {
        matrixView_->setColumnWidth(column, matrixView_->columnWidth(column) + spare);
        width += matrixView_->columnWidth(column);
    }
    const int rowHeight = fontMetrics().height() + 12;
    matrixView_->verticalHeader()->setDefaultSectionSize(rowHeight);
    matrixView_->setMaximumWidth(width);
    fitMatrixHeight();
}

void TopologyPanel::fitMatrixHeight() {
    const QScrollBar& across = *matrixView_->horizontalScrollBar();
    // The area of the facts may be too narrow for all columns; the scroll bar must not cover a row.
    const int bar = across.maximum() > 0 ? across.sizeHint().height() : 0;
    const int rows = matrixView_->verticalHeader()->defaultSectionSize() * matrix_->rowCount();
    matrixView_->setFixedHeight(matrixView_->horizontalHeader()->sizeHint().height() + rows + bar + 4);
}

void TopologyPanel::activatePair(qint64 gpu, qint64 peer) {
    const auto indexOf = [this](int64_t number) {
        const auto found = std::find_if(trace_->gpus.begin(), trace_->gpus.end(),
                                        [number](const Gpu& each) { return each.id == number; });
        return static_cast<quint32>(found - trace_->gpus.begin());
    };
    if (!trace_) return;
    const quint32 from = indexOf(gpu), to = indexOf(peer);
    // A GPU that the run did not use has no copies to show.
    if (from < trace_->gpus.size() && to < trace_->gpus.size()) emit pairActivated(from, to);
}

void TopologyPanel::selectPair(const QModelIndex& index) {
    const auto pair = matrix_->pairAt(index);
    if (!pair || !answer_) return;
    const auto& edges = graph_->edges();
    for (size_t edge = 0; edge < edges.size(); ++edge) {
        const int64_t from = answer_->gpus[edges[edge].from], to = answer_->gpus[edges[edge].to];
        if (std::minmax(from, to) == std::minmax(pair->first, pair->second)) graph_->selectEdge(static_cast<int>(edge));
    }
}

}  // namespace lanescope::views
