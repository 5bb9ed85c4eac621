// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/topology/TopologyPanel.h"

#include <QEvent>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QObject>
#include <QPainter>
#include <QScrollArea>
#include <QScrollBar>
#include <QSplitter>
#include <algorithm>
#include <cmath>
#include <map>

#include "model/reports/reports.h"
#include "model/text/formatValue.h"
#include "views/text/shownText.h"
#include "views/theme/layouts.h"
#include "views/theme/texts.h"

namespace lanescope::views {

std::shared_ptr<const TopologyAnswer> answerTopology(TracePtr trace, std::optional<TimeRange> range) {
    auto answer = std::make_shared<TopologyAnswer>();
    static_cast<TopologyDescription&>(*answer) = describeTopology(*trace, range);
    answer->range = range;
    if (auto links = makeReport(*trace, "nvlink_by_range", range)) answer->links = std::move(*links);
    answer->trace = std::move(trace);
    return answer;
}

QString useText(const LinkUse& use) {
    if (use.copyCount == 0) return QObject::tr("no copies");
    QString text = toQString(formatBytes(use.copyBytes));
    const std::optional<double> mean = use.meanGBps();
    if (!mean) return text;
    text += QObject::tr(" at %1 GB/s").arg(shortRate(*mean));
    if (const std::optional<double> percent = use.peakPercent())
        text +=
            QObject::tr(", %1 % of %2").arg(QString::number(*percent, 'f', 0), shortRate(use.peak->gigabytesPerSecond));
    return text;
}

namespace {

constexpr double thinnest = 1.5, thickest = 12;
constexpr double reach = 9;  // distance of the pointer beyond the half width of an edge
constexpr size_t maxLabels = 3;
constexpr double inset = 10;
constexpr double pi = 3.14159265358979323846;

double distanceToLine(QPointF point, QPointF from, QPointF to) {
    const QPointF along = to - from;
    const double length2 = QPointF::dotProduct(along, along);
    const double share = length2 > 0 ? std::clamp(QPointF::dotProduct(point - from, along) / length2, 0.0, 1.0) : 0;
    const QPointF off = point - (from + share * along);
    return std::hypot(off.x(), off.y());
}

QLabel* plainLabel(QWidget* parent) {
    auto* label = new WrappedLabel(parent);
    label->setTextInteractionFlags(Qt::TextSelectableByMouse);
    return label;
}

QToolButton* describedButton(QWidget* parent, const QString& text, const QString& toolTip) {
    auto* button = textButton(parent, text, toolTip);
    button->setAccessibleDescription(toolTip);
    return button;
}

}  // namespace

const LinkUse& TopologyGraph::Edge::busier() const {
    const bool isBackGreater = back && (!there || back->copyBytes > there->copyBytes);
    return isBackGreater ? *back : either();
}

const LinkUse* TopologyGraph::selectedUse() const {
    return selected_ ? &edges_[static_cast<size_t>(*selected_)].busier() : nullptr;
}

std::optional<double> TopologyGraph::Edge::peakPercent() const {
    std::optional<double> maxPercent;
    for (const LinkUse* use : {there, back})
        if (const auto percent = use ? use->peakPercent() : std::nullopt)
            maxPercent = std::max(maxPercent.value_or(0), *percent);
    return maxPercent;
}

TopologyGraph::TopologyGraph(QWidget* parent) : PaintedWidget(parent) {
    setFocusPolicy(Qt::StrongFocus);
    setMouseTracking(true);
    setAccessibleName(tr("Links between the GPUs"));
}

void TopologyGraph::setAnswer(std::shared_ptr<const TopologyAnswer> answer) {
    std::optional<std::pair<size_t, size_t>> chosen;
    if (selected_) chosen = {edges_[static_cast<size_t>(*selected_)].from, edges_[static_cast<size_t>(*selected_)].to};
    const bool isSameGraph = answer_ && answer && answer_->gpus == answer->gpus;
    answer_ = std::move(answer);
    edges_.clear();
    selected_.reset();
    hovered_.reset();
    maxBytes_ = 0;
    std::map<std::pair<size_t, size_t>, Edge> found;
    if (answer_) {
        const std::vector<int64_t>& gpus = answer_->gpus;
        const auto place = [&gpus](int64_t gpu) {
            return static_cast<size_t>(std::lower_bound(gpus.begin(), gpus.end(), gpu) - gpus.begin());
        };
        for (const LinkUse& use : answer_->uses) {
            const size_t from = place(use.gpu), to = place(use.peer);
            if (from >= gpus.size() || to >= gpus.size() || from == to) continue;
            Edge& edge = found[std::minmax(from, to)];
            edge.from = std::min(from, to);
            edge.to = std::max(from, to);
            (from < to ? edge.there : edge.back) = &use;
        }
    }
    for (const auto& [key, edge] : found) {
        if (isSameGraph && chosen == key) selected_ = static_cast<int>(edges_.size());
        edges_.push_back(edge);
        maxBytes_ = std::max(maxBytes_, edge.bytes());
    }
    update();
}

QSizeF TopologyGraph::nodeSize() const {
    const QFontMetricsF metrics(font());
    return {metrics.horizontalAdvance(QStringLiteral("NUMA 00")) + 20, 2 * metrics.height() + 8};
}

std::vector<QPointF> TopologyGraph::nodeCenters() const {
    const size_t count = answer_ ? answer_->gpus.size() : 0;
    const QSizeF node = nodeSize();
    const QRectF area =
        QRectF(rect()).adjusted(node.width() / 2 + inset, node.height() / 2 + inset, -node.width() / 2 - inset,
                                -node.height() / 2 - inset - 2 * QFontMetricsF(font()).height());
    std::vector<QPointF> centers;
    if (count == 1) return {area.center()};
    if (count == 2) {
        const double half = std::min(area.width() / 2, 260.0);
        return {area.center() - QPointF(half, 0), area.center() + QPointF(half, 0)};
    }
    for (size_t index = 0; index < count; ++index) {
        // Clockwise from the top left, as one reads.
        const double angle = -pi / 2 + 2 * pi * (static_cast<double>(index) - 0.5) / static_cast<double>(count);
        centers.push_back(area.center() +
                          QPointF(std::cos(angle) * area.width() / 2, std::sin(angle) * area.height() / 2));
    }
    return centers;
}

void TopologyGraph::selectEdge(std::optional<int> edge) {
    if (edge && (*edge < 0 || *edge >= static_cast<int>(edges_.size()))) edge.reset();
    if (edge == selected_) return;
    selected_ = edge;
    setAccessibleDescription(edge ? edgeText(*edge) : QString());
    update();
    emit edgeSelected(edge);
}

QPoint TopologyGraph::edgePosition(int edge) const {
    const Edge& at = edges_[static_cast<size_t>(edge)];
    const std::vector<QPointF> centers = nodeCenters();
    // Off the middle, where the edges of a circle cross.
    return (centers[at.from] * 0.68 + centers[at.to] * 0.32).toPoint();
}

QStringList TopologyGraph::directionsOf(const Edge& edge) const {
    QStringList lines;
    const int64_t from = answer_->gpus[edge.from], to = answer_->gpus[edge.to];
    if (edge.there) lines << QStringLiteral("%1 \u2192 %2: %3").arg(from).arg(to).arg(useText(*edge.there));
    if (edge.back) lines << QStringLiteral("%1 \u2192 %2: %3").arg(to).arg(from).arg(useText(*edge.back));
    return lines;
}

QString TopologyGraph::edgeText(int edge) const {
    const Edge& at = edges_[static_cast<size_t>(edge)];
    const int64_t from = answer_->gpus[at.from], to = answer_->gpus[at.to];
    const QString whole = tr("GPU %1 and GPU %2: %3").arg(from).arg(to).arg(toQString(wordFor(at.either().connection)));
    return (QStringList{whole} + directionsOf(at)).join(QStringLiteral("; "));
}

std::optional<int> TopologyGraph::edgeAt(QPointF position) const {
    const std::vector<QPointF> centers = nodeCenters();
    const QSizeF node = nodeSize();
    for (const QPointF& center : centers)
        if (QRectF(center - QPointF(node.width(), node.height()) / 2, node).contains(position)) return std::nullopt;
    std::optional<int> nearest;
    double minDistance = reach + thickest / 2;
    for (int index = 0; index < static_cast<int>(edges_.size()); ++index) {
        const Edge& edge = edges_[static_cast<size_t>(index)];
        const double distance = distanceToLine(position, centers[edge.from], centers[edge.to]);
        if (distance >= minDistance) continue;
        minDistance = distance;
        nearest = index;
    }
    return nearest;
}

void TopologyGraph::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.fillRect(rect(), theme_.canvas);
    if (hasFocus()) painter.fillRect(rect(), Theme::mix(theme_.canvas, theme_.accent, 0.05));
    if (!answer_) return;
    painter.setRenderHint(QPainter::Antialiasing);
    const std::vector<QPointF> centers = nodeCenters();
    const int count = static_cast<int>(edges_.size());
    for (int edge = 0; edge < count; ++edge)
        if (edge != selected_) paintEdge(painter, edge, centers);
    if (selected_) paintEdge(painter, *selected_, centers);
    for (size_t node = 0; node < centers.size(); ++node) paintNode(painter, node, centers[node]);
    for (int edge = 0; edges_.size() <= maxLabels && edge < count; ++edge)
        if (edge != selected_ && edge != hovered_) paintEdgeLabel(painter, edge, centers);
    for (const auto& edge : {selected_, hovered_})
        if (edge) paintEdgeLabel(painter, *edge, centers);
    painter.setPen(theme_.mutedText);
    const QString copies = maxBytes_ > 0 ? tr("memcpy only; the table has NCCL's traffic, too")
                                         : tr("no memcpy between GPUs; the table has NCCL's traffic");
    const QString key = tr("thicker: more bytes \u00b7 stronger colour: nearer to the peak");
    const QFontMetrics metrics = painter.fontMetrics();
    const int room = width() - 16;
    painter.drawText(rect().adjusted(8, 0, -8, -3), Qt::AlignHCenter | Qt::AlignBottom,
                     metrics.elidedText(copies, Qt::ElideRight, room) + QLatin1Char('\n') +
                         metrics.elidedText(key, Qt::ElideRight, room));
}

void TopologyGraph::paintEdge(QPainter& painter, int index, const std::vector<QPointF>& centers) const {
    const Edge& edge = edges_[static_cast<size_t>(index)];
    const int64_t bytes = edge.bytes();
    const double share = maxBytes_ > 0 ? static_cast<double>(bytes) / static_cast<double>(maxBytes_) : 0;
    QPen pen(theme_.separator, thinnest + (thickest - thinnest) * std::sqrt(share));
    pen.setCapStyle(Qt::FlatCap);
    const std::optional<double> percent = edge.peakPercent();
    if (bytes > 0)
        pen.setColor(percent
                         ? Theme::mix(theme_.canvas, theme_.accent, 0.25 + 0.75 * std::clamp(*percent / 100, 0.0, 1.0))
                         : theme_.mutedText);
    // Pairs without a direct link are dashed, so that they are distinguishable without colours.
    const GpuConnection* connection = edge.either().connection;
    if (!connection || connection->nvlinks == 0) pen.setStyle(Qt::DashLine);
    if (bytes == 0) pen.setColor(Theme::mix(theme_.canvas, theme_.mutedText, 0.55));
    if (index == selected_ || index == hovered_) {
        painter.setPen(QPen(index == selected_ ? theme_.text : theme_.mutedText,
                            pen.widthF() + (index == selected_ ? 4 : 2), Qt::SolidLine, Qt::FlatCap));
        painter.drawLine(centers[edge.from], centers[edge.to]);
        if (pen.style() == Qt::DashLine) {
            painter.setPen(QPen(theme_.canvas, pen.widthF()));
            painter.drawLine(centers[edge.from], centers[edge.to]);
        }
    }
    painter.setPen(pen);
    painter.drawLine(centers[edge.from], centers[edge.to]);
}

void TopologyGraph::paintEdgeLabel(QPainter& painter, int index, const std::vector<QPointF>& centers) const {
    const Edge& edge = edges_[static_cast<size_t>(index)];
    const QStringList lines = QStringList{toQString(wordFor(edge.either().connection))} + directionsOf(edge);
    const QFontMetricsF metrics(font());
    double textWidth = 0;
    for (const QString& line : lines) textWidth = std::max(textWidth, metrics.horizontalAdvance(line));
    const QSizeF size(textWidth + 12, metrics.height() * static_cast<double>(lines.size()) + 6);
    QRectF plate(QPointF(), size);
    plate.moveCenter((centers[edge.from] + centers[edge.to]) / 2);
    plate.moveLeft(std::clamp(plate.left(), 2.0, std::max(2.0, width() - size.width() - 2)));
    plate.moveTop(std::clamp(plate.top(), 2.0, std::max(2.0, height() - size.height() - 2)));
    painter.setPen(QPen(index == selected_ ? theme_.accent : theme_.separator, 1));
    painter.setBrush(translucent(theme_.card, 235));
    painter.drawRoundedRect(plate, 4, 4);
    painter.setPen(theme_.text);
    QRectF line = plate.adjusted(6, 3, -6, 0);
    line.setHeight(metrics.height());
    for (const QString& text : lines) {
        painter.drawText(line, Qt::AlignHCenter | Qt::AlignVCenter, text);
        line.translate(0, metrics.height());
    }
}

void TopologyGraph::paintNode(QPainter& painter, size_t node, QPointF center) const {
    const QSizeF size = nodeSize();
    const QRectF box(center - QPointF(size.width(), size.height()) / 2, size);
    painter.setPen(QPen(theme_.busyGpu, 1.5));
    painter.setBrush(Theme::mix(theme_.canvas, theme_.busyGpu, 0.25));
    painter.drawRoundedRect(box, 6, 6);
    const int64_t gpu = answer_->gpus[node];
    const GpuAffinity* const affinity = affinityOf(*answer_->trace, gpu);
    const bool hasNode = affinity && affinity->numaNode >= 0;
    const QRectF upper(box.left(), box.top(), box.width(), box.height() / (hasNode ? 2 : 1));
    drawText(painter, strong(font()), theme_.text, upper.adjusted(0, hasNode ? 3 : 0, 0, 0), Qt::AlignCenter,
             QStringLiteral("GPU %1").arg(gpu));
    painter.setFont(font());
    if (!hasNode) return;
    painter.setPen(Theme::mix(theme_.canvas, theme_.text, 0.75));
    painter.drawText(upper.translated(0, box.height() / 2).adjusted(0, 0, 0, -3), Qt::AlignCenter,
                     QStringLiteral("NUMA %1").arg(affinity->numaNode));
}

void TopologyGraph::activate(int edge) {
    const LinkUse& use = edges_[static_cast<size_t>(edge)].busier();
    emit pairActivated(use.gpu, use.peer);
}

void TopologyGraph::setHovered(std::optional<int> edge) {
    if (edge == hovered_) return;
    hovered_ = edge;
    setCursor(edge ? Qt::PointingHandCursor : Qt::ArrowCursor);
    update();
}

void TopologyGraph::mousePressEvent(QMouseEvent* event) {
    if (event->button() == Qt::LeftButton) selectEdge(edgeAt(event->position()));
}

void TopologyGraph::mouseDoubleClickEvent(QMouseEvent* event) {
    if (const auto edge = edgeAt(event->position())) activate(*edge);
}

void TopologyGraph::keyPressEvent(QKeyEvent* event) {
    const int count = static_cast<int>(edges_.size());
    if (count == 0) return QWidget::keyPressEvent(event);
    switch (event->key()) {
        case Qt::Key_Right:
        case Qt::Key_Down: return selectEdge(selected_ ? (*selected_ + 1) % count : 0);
        case Qt::Key_Left:
        case Qt::Key_Up: return selectEdge(selected_ ? (*selected_ + count - 1) % count : count - 1);
        case Qt::Key_Return:
        case Qt::Key_Enter:
            if (!selected_) break;
            return activate(*selected_);
        case Qt::Key_Escape:
            if (!selected_) break;
            return selectEdge(std::nullopt);
        default: break;
    }
    QWidget::keyPressEvent(event);
}

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

QString TopologyMatrix::text(const QModelIndex& index) const {
    const QString unknown = QStringLiteral("?");
    if (index.column() >= gpuCount()) {
        const GpuAffinity* affinity = affinityOf(*answer_->trace, answer_->gpus[static_cast<size_t>(index.row())]);
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

TopologyPanel::TopologyPanel(QWidget* parent) : ScopedPanel(parent) {
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
    makeScopeChoice(page);
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
    copiesButton_ = describedButton(page, tr("Its copies"), tr("Filters the bandwidth table to these two GPUs"));
    largestButton_ = describedButton(page, tr("Largest"), tr("Shows the largest copy of the two GPUs on the timeline"));
    slowestButton_ = describedButton(
        page, tr("Slowest"),
        tr("Shows the copy of the two GPUs with the least GB/s, of those of at least 1 MiB, on the timeline"));
    copiesButton_->setObjectName("copies");
    largestButton_->setObjectName("largest");
    slowestButton_->setObjectName("slowest");
    auto* bottom = rowIn(nullptr, {8, 3, 8, 3}, -1);
    bottom->addWidget(edge_, 1);
    addTo(bottom, copiesButton_, largestButton_, slowestButton_);
    addTo(layout, Filling{graph_}, bottom);
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

void TopologyPanel::showEdge() {
    const auto edge = graph_->selectedEdge();
    edge_->setText(edge ? graph_->edgeText(*edge) : tr("Click a link or use the cursor keys"));
    const LinkUse* use = graph_->selectedUse();
    copiesButton_->setEnabled(use != nullptr);
    largestButton_->setEnabled(use && use->largest.isValid());
    slowestButton_->setEnabled(use && use->slowest.isValid());
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
    verdict_->setFont(resized(strong(font()), 1.1));
    QStringList lines = toQStrings(answer.verdict.sentences);
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
    if (!trace_) return;
    const auto indexOf = [this](const Gpu* each) { return static_cast<quint32>(each - trace_->gpus.data()); };
    const Gpu* const from = gpuNumbered(*trace_, gpu);
    const Gpu* const to = gpuNumbered(*trace_, peer);
    // A GPU that the run did not use has no copies to show.
    if (from && to) emit pairActivated(indexOf(from), indexOf(to));
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
