#include "views/topology/TopologyPanel.h"

#include <QEvent>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QScrollArea>
#include <QSplitter>
#include <QTableView>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>

#include "model/export/formatValue.h"
#include "views/summary/LatestJob.h"
#include "views/summary/ReportView.h"
#include "views/text/WrappedLabel.h"
#include "views/text/toQString.h"
#include "views/timeline/timeTicks.h"
#include "views/topology/TopologyGraph.h"
#include "views/topology/TopologyMatrix.h"

namespace lanescope {
namespace {

QLabel* plainLabel(QWidget* parent) {
    auto* label = new WrappedLabel(parent);
    label->setTextInteractionFlags(Qt::TextSelectableByMouse);
    return label;
}

}  // namespace

TopologyPanel::TopologyPanel(QWidget* parent)
    : QWidget(parent),
      job_(new LatestJob(this)),
      matrix_(new TopologyMatrix(this)),
      links_(new ReportView(this)) {
    auto* splitter = new QSplitter(this);
    splitter->addWidget(makeFacts());
    splitter->addWidget(makeGraph());
    splitter->addWidget(links_);
    splitter->setSizes({520, 520, 560});
    splitter->setChildrenCollapsible(false);
    links_->hide();
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(splitter);
}

QWidget* TopologyPanel::makeFacts() {
    auto* area = new QScrollArea(this);
    area->setAccessibleName(tr("Whether NVLink was used, and how GPUs are joined"));
    area->setWidgetResizable(true);
    area->setFrameShape(QFrame::NoFrame);
    area->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    auto* page = new QWidget(area);
    auto* layout = new QVBoxLayout(page);
    layout->setContentsMargins(10, 6, 10, 6);
    layout->setSpacing(5);
    verdict_ = plainLabel(page);
    sentences_ = plainLabel(page);
    legend_ = plainLabel(page);
    legend_->setForegroundRole(QPalette::PlaceholderText);
    matrixView_ = new QTableView(page);
    matrixView_->setModel(matrix_);
    matrixView_->setAccessibleName(tr("How each GPU is joined to each other"));
    matrixView_->setFrameShape(QFrame::NoFrame);
    matrixView_->setSelectionMode(QAbstractItemView::SingleSelection);
    matrixView_->setEditTriggers(QAbstractItemView::NoEditTriggers);
    matrixView_->setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    matrixView_->verticalHeader()->setSectionResizeMode(QHeaderView::Fixed);
    matrixView_->horizontalHeader()->setHighlightSections(false);
    matrixView_->verticalHeader()->setHighlightSections(false);
    connect(matrixView_->selectionModel(), &QItemSelectionModel::currentChanged, this,
            &TopologyPanel::selectPair);
    connect(matrixView_, &QTableView::activated, this, [this](const QModelIndex& index) {
        if (const auto pair = matrix_->pairAt(index)) activatePair(pair->first, pair->second);
    });
    layout->addWidget(verdict_);
    layout->addWidget(sentences_);
    layout->addWidget(matrixView_);
    layout->addWidget(legend_);
    layout->addStretch(1);
    area->setWidget(page);
    return area;
}

QWidget* TopologyPanel::makeGraph() {
    auto* page = new QWidget(this);
    auto* layout = new QVBoxLayout(page);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    graph_ = new TopologyGraph(page);
    edge_ = plainLabel(page);
    copiesButton_ = new QToolButton(page);
    copiesButton_->setText(tr("Show its copies"));
    copiesButton_->setToolTip(tr("Filters the bandwidth table to these two GPUs"));
    copiesButton_->setFocusPolicy(Qt::StrongFocus);
    copiesButton_->setEnabled(false);
    auto* bottom = new QHBoxLayout;
    bottom->setContentsMargins(8, 3, 8, 3);
    bottom->addWidget(edge_, 1);
    bottom->addWidget(copiesButton_);
    layout->addWidget(graph_, 1);
    layout->addLayout(bottom);
    const QString help = tr("Click a link, or choose one with the arrow keys");
    edge_->setText(help);
    connect(graph_, &TopologyGraph::edgeSelected, this, [this, help](std::optional<int> edge) {
        edge_->setText(edge ? graph_->edgeText(*edge) : help);
        copiesButton_->setEnabled(edge.has_value());
    });
    connect(graph_, &TopologyGraph::pairActivated, this, &TopologyPanel::activatePair);
    connect(copiesButton_, &QToolButton::clicked, this, [this] {
        const auto edge = graph_->selectedEdge();
        if (!edge) return;
        const LinkUse& use = graph_->edges()[static_cast<size_t>(*edge)].either();
        activatePair(use.gpu, use.peer);
    });
    return page;
}

void TopologyPanel::setTrace(TracePtr trace) {
    trace_ = std::move(trace);
    range_.reset();
    invalidate();
}

void TopologyPanel::setRange(std::optional<TimeRange> range) {
    if (range == range_) return;
    range_ = range;
    invalidate();
}

void TopologyPanel::setTheme(const Theme& theme) {
    theme_ = theme;
    graph_->setTheme(theme);
    matrix_->setTheme(theme);
    if (answer_) sayVerdict(*answer_);
}

QString TopologyPanel::verdictText() const {
    return verdict_->text() + QLatin1Char('\n') + sentences_->text();
}

void TopologyPanel::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    if (isStale_) refresh();
}

void TopologyPanel::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() == QEvent::FontChange && matrixView_) fitMatrix();
}

void TopologyPanel::invalidate() {
    isStale_ = true;
    job_->cancel();
    if (isVisible()) refresh();
}

void TopologyPanel::refresh() {
    if (!trace_) {
        isStale_ = false;
        answer_.reset();
        graph_->setAnswer(nullptr);
        matrix_->setAnswer(nullptr);
        verdict_->clear();
        sentences_->clear();
        legend_->clear();
        links_->hide();
        emit updated();
        return;
    }
    job_->start([this, trace = trace_, range = range_]() -> LatestJob::Publish {
        auto answer = answerTopology(trace, range);
        // `this` is only used on the GUI thread, where the job has made sure that it is alive.
        return [this, answer] { showAnswer(answer); };
    });
}

void TopologyPanel::showAnswer(const std::shared_ptr<const TopologyAnswer>& answer) {
    isStale_ = false;
    answer_ = answer;
    sayVerdict(*answer);
    matrix_->setAnswer(answer);
    graph_->setAnswer(answer);
    if (const auto edge = graph_->selectedEdge()) edge_->setText(graph_->edgeText(*edge));
    fitMatrix();
    const bool isAlone = answer->gpus.size() < 2;
    matrixView_->setVisible(!isAlone && answer->knowsConnections());
    legend_->setText(matrix_->legend().join(QLatin1Char('\n')));
    legend_->setVisible(matrixView_->isVisibleTo(this) && !legend_->text().isEmpty());
    graph_->parentWidget()->setVisible(!isAlone && !graph_->edges().empty());
    links_->setTable(answer->links);
    links_->setRemark(remark());
    links_->setVisible(!answer->links.rows.empty());
    emit updated();
}

void TopologyPanel::sayVerdict(const TopologyAnswer& answer) {
    verdict_->setText(tr("NVLink: %1").arg(toQString(name(answer.verdict.use))));
    QFont bold = font();
    bold.setWeight(QFont::DemiBold);
    bold.setPointSizeF(bold.pointSizeF() * 1.1);
    verdict_->setFont(bold);
    QStringList lines;
    for (const std::string& sentence : answer.verdict.sentences) lines << toQString(sentence);
    if (answer.gpus.size() == 1)
        lines << tr("The trace is of one GPU, so there is no link between GPUs to draw.");
    else if (answer.gpus.empty())
        lines << tr("The trace knows of no GPU.");
    else if (!answer.knowsConnections())
        lines << tr(
            "The trace does not tell how its GPUs are joined. lanescope record notes that; "
            "files of other tools lack it.");
    if (answer.range) lines << remark();
    sentences_->setText(lines.join(QLatin1Char('\n')));
}

void TopologyPanel::fitMatrix() {
    matrixView_->resizeColumnsToContents();
    const int rowHeight = fontMetrics().height() + 8;
    matrixView_->verticalHeader()->setDefaultSectionSize(rowHeight);
    const int header = matrixView_->horizontalHeader()->sizeHint().height();
    int width = matrixView_->verticalHeader()->sizeHint().width() + 4;
    for (int column = 0; column < matrix_->columnCount(); ++column)
        width += matrixView_->columnWidth(column);
    const int scrollBar = width > matrixView_->width() ? fontMetrics().height() : 0;
    matrixView_->setFixedHeight(header + rowHeight * matrix_->rowCount() + scrollBar + 4);
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
        if (std::minmax(from, to) == std::minmax(pair->first, pair->second))
            graph_->selectEdge(static_cast<int>(edge));
    }
}

QString TopologyPanel::remark() const {
    if (!range_) return tr("Whole trace");
    return tr("Selected range, %1 from %2")
        .arg(toQString(formatDuration(range_->durationNs())), formatTime(range_->startNs));
}

}  // namespace lanescope
