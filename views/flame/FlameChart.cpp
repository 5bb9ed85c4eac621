// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/flame/FlameChart.h"

#include <QContextMenuEvent>
#include <QFontMetrics>
#include <QKeyEvent>
#include <QLocale>
#include <QPainter>
#include <QScrollBar>
#include <QStringList>
#include <algorithm>
#include <cmath>

#include "model/format/checksums.h"
#include "model/text/knownRangeName.h"
#include "model/trace/stacks.h"
#include "views/text/shownText.h"

namespace lanescope::views {
namespace {

QString percent(int64_t part, int64_t whole) {
    const double share = whole > 0 ? 100 * double(part) / double(whole) : 0;
    return QStringLiteral("%1 %").arg(share, 0, 'f', share < 1 && share > 0 ? 2 : 1);
}

QString kindOf(FrameKind kind) {
    switch (kind) {
        case FrameKind::All: return FlameChart::tr("All GPU work");
        case FrameKind::Function: return FlameChart::tr("Python function");
        case FrameKind::LibraryFunction: return FlameChart::tr("Python function of a package");
        case FrameKind::Thread: return FlameChart::tr("Thread that launched for the stack above");
        case FrameKind::Step: return FlameChart::tr("Step");
        case FrameKind::Range: return FlameChart::tr("NVTX range");
        case FrameKind::Operator: return FlameChart::tr("Operator");
        case FrameKind::Work: return FlameChart::tr("Ran on a GPU");
        case FrameKind::Unknown: break;
    }
    return FlameChart::tr("Unknown launch");
}

constexpr int minLabelWidth = 26;  // pixels: narrower labels have no room for a word
constexpr int inset = 4;
constexpr double faintShare = 0.3;
constexpr double libraryShare = 0.5;
constexpr int shades = 4;
constexpr double shadeStep = 0.07;

/// Varies the colour slightly by name, so that neighbours differ and equal names match.
QColor shadeOf(const QColor& color, std::string_view name, const Theme& theme) {
    Fnv1a sum;
    sum.add(name);
    const auto shade = static_cast<int>(sum.value() % shades);
    return Theme::mix(color, theme.canvas, shadeStep * shade);
}

void paintLabel(QPainter& painter, const QRect& frame, const QString& text, const QColor& color) {
    if (frame.width() < minLabelWidth) return;
    const QRect room = frame.adjusted(inset, 0, -inset, 0);
    painter.setPen(color);
    painter.drawText(room, Qt::AlignLeft | Qt::AlignVCenter | Qt::TextSingleLine,
                     painter.fontMetrics().elidedText(text, Qt::ElideRight, room.width()));
}

/// Returns the colour of a frame: GPU work as on the timeline, the program's own functions stronger
/// than those of packages.
QColor flameColor(const FlameTree& tree, uint32_t node, const Theme& theme) {
    const FlameTree::Frame& frame = tree.nodes()[node].frame;
    const std::string_view name = tree.nameOf(node);
    switch (frame.kind) {
        case FrameKind::All: return theme.band;
        case FrameKind::Function: return shadeOf(theme.colorOf(SliceCategory::CpuFrame), name, theme);
        case FrameKind::LibraryFunction:
            return shadeOf(Theme::mix(theme.canvas, theme.colorOf(SliceCategory::CpuFrame), libraryShare), name, theme);
        case FrameKind::Thread: return theme.colorOf(SliceCategory::CpuLock);
        case FrameKind::Unknown: return theme.colorOf(SliceCategory::ApiOther);
        case FrameKind::Step:
        case FrameKind::Range:
        case FrameKind::Operator:
        case FrameKind::Work: break;
    }
    return theme.colorOf(frame.category, name);
}

/// Paints the rows from `firstDepth` that fit into `area`, from its top. With matches, all other
/// frames are faint.
void paintFlame(QPainter& painter, QRect area, const FlamePlaces& places, uint32_t firstDepth,
                const FlameMatches& matches, const Theme& theme) {
    const FlameTree& tree = *places.tree;
    const bool isSearched = !matches.isMatch.empty();
    for (int y = area.top(); y <= area.bottom(); y += places.rowHeight, ++firstDepth) {
        const std::vector<DrawnFrame> row = drawnFrames(places, firstDepth);
        if (row.empty()) return;
        for (const DrawnFrame& each : row) {
            QColor fill = flameColor(tree, each.node, theme);
            const bool isMatch = isSearched && matches.isMatch[each.node];
            if (isSearched && !isMatch) fill = Theme::mix(theme.canvas, fill, faintShare);
            const int gap = each.width > 3 ? 1 : 0;
            const QRect frame(area.left() + each.x, y, each.width - gap, places.rowHeight - 1);
            painter.fillRect(frame, fill);
            if (isMatch) painter.fillRect(QRect(frame.left(), frame.bottom() - 2, frame.width(), 3), theme.searchHit);
            if (!each.isSeveral) paintLabel(painter, frame, toQString(tree.nameOf(each.node)), theme.textOn(fill));
        }
    }
}

/// Returns the frame of `to` at the path of `node` in `from`, or at the longest existing part of that path.
uint32_t samePlace(const FlameTree& from, uint32_t node, const FlameTree& to) {
    uint32_t place = 0;
    for (const uint32_t each : from.pathTo(node)) {
        if (each == 0) continue;
        const auto children = to.childrenOf(place);
        const auto found = std::find_if(children.begin(), children.end(),
                                        [&](uint32_t child) { return to.nameOf(child) == from.nameOf(each); });
        if (found == children.end()) break;
        place = *found;
    }
    return place;
}

}  // namespace

QString timeOf(const FlameTree& tree, uint32_t node) {
    const int64_t ns = tree.nodes()[node].totalNs;
    return QStringLiteral("%1, %2").arg(shortDuration(ns), percent(ns, tree.totalNs()));
}

QString detailOf(const FlameTree& tree, uint32_t node, uint32_t root) {
    const FlameTree::Node& frame = tree.nodes()[node];
    QStringList lines{kindOf(frame.frame.kind)};
    lines << FlameChart::tr("GPU time: %1, %2 of all")
                 .arg(shortDuration(frame.totalNs), percent(frame.totalNs, tree.totalNs()));
    if (root != 0 && node != root)
        lines << FlameChart::tr("%1 of what is shown").arg(percent(frame.totalNs, tree.nodes()[root].totalNs));
    if (frame.frame.kind != FrameKind::Work && frame.selfNs > 0)
        lines << FlameChart::tr("in no frame below: %1").arg(shortDuration(frame.selfNs));
    if (frame.childCount > 0) lines << FlameChart::tr("%n frame(s) below", nullptr, static_cast<int>(frame.childCount));
    return lines.join(QLatin1Char('\n'));
}

QString stackOf(const FlameTree& tree, uint32_t node) {
    QString text = FlameChart::tr("GPU time\t%1\tns\t%2\n")
                       .arg(tree.nodes()[node].totalNs)
                       .arg(percent(tree.nodes()[node].totalNs, tree.totalNs()));
    for (uint32_t at = node; at != noIndex && at != 0; at = tree.nodes()[at].parent)
        text += toQString(tree.nameOf(at)) + QLatin1Char('\n');
    return text;
}

QString textOf(const FlameTree& tree, const FlameMatches& matches) {
    return FlameChart::tr("%1, %2, %3 of GPU time")
        .arg(matches.frames == 1 ? FlameChart::tr("1 frame")
                                 : FlameChart::tr("%1 frames").arg(QLocale(QLocale::English).toString(matches.frames)),
             shortDuration(matches.ns), percent(matches.ns, tree.totalNs()));
}

QString searchFor(const Trace& trace, const FlameTree& tree, uint32_t node, bool isByLine) {
    const FlameTree::Frame& frame = tree.nodes()[node].frame;
    const QString name = toQString(tree.nameOf(node));
    switch (frame.kind) {
        case FrameKind::Work: return name;
        case FrameKind::Step:
        case FrameKind::Range:
        case FrameKind::Operator: {
            const std::string whole = name.toStdString();
            return toQString(searchedPart(whole)).trimmed();
        }
        case FrameKind::Function:
        case FrameKind::LibraryFunction: {
            if (frame.stack >= trace.stacks.size()) return {};
            if (isByLine && trace.stacks.file[frame.stack] != 0)
                return QStringLiteral("line:") + toQString(placeText(trace, frame.stack));
            return QStringLiteral("function:") + toQString(trace.strings.at(trace.stacks.function[frame.stack]));
        }
        default: return {};
    }
}

std::span<const uint32_t> FlamePlaces::row(uint32_t depth) const {
    const std::span<const uint32_t> all = tree->row(depth);
    const FlameTree::Node& top = tree->nodes()[root];
    const auto startsBefore = [this](int64_t ns) {
        return [this, ns](uint32_t node) { return tree->nodes()[node].startNs < ns; };
    };
    const auto begin = std::partition_point(all.begin(), all.end(), startsBefore(top.startNs));
    const auto end = std::partition_point(begin, all.end(), startsBefore(top.endNs()));
    return {begin, end};
}

int FlamePlaces::xOf(int64_t ns) const {
    const FlameTree::Node& top = tree->nodes()[root];
    if (top.totalNs <= 0) return ns > top.startNs ? width : 0;
    return static_cast<int>(std::floor(double(ns - top.startNs) * width / double(top.totalNs)));
}

QRect FlamePlaces::rectOf(uint32_t node) const {
    const FlameTree::Node& frame = tree->nodes()[node];
    const int left = xOf(frame.startNs);
    const int y = rowHeight * static_cast<int>(frame.depth - tree->nodes()[root].depth);
    return {left, y, std::max(1, xOf(frame.endNs()) - left), rowHeight};
}

uint32_t FlamePlaces::frameAt(QPoint position) const {
    if (position.x() < 0 || position.x() >= width || position.y() < 0) return noIndex;
    const uint32_t depth = tree->nodes()[root].depth + static_cast<uint32_t>(position.y() / rowHeight);
    const std::span<const uint32_t> frames = row(depth);
    auto found = std::partition_point(frames.begin(), frames.end(),
                                      [&](uint32_t node) { return rectOf(node).right() < position.x(); });
    uint32_t best = noIndex;
    for (; found != frames.end() && rectOf(*found).left() <= position.x(); ++found)
        if (best == noIndex || tree->nodes()[*found].totalNs > tree->nodes()[best].totalNs) best = *found;
    return best;
}

std::vector<DrawnFrame> drawnFrames(const FlamePlaces& places, uint32_t depth) {
    std::vector<DrawnFrame> drawn;
    const std::span<const uint32_t> frames = places.row(depth);
    const auto& nodes = places.tree->nodes();
    int nextX = 0;  // the first pixel that is still free
    for (auto frame = frames.begin(); frame != frames.end();) {
        const FlameTree::Node& node = nodes[*frame];
        const int left = std::max(nextX, places.xOf(node.startNs));
        const int right = places.xOf(node.endNs());
        if (right > left) {
            drawn.push_back({*frame, left, right - left, false});
            nextX = right;
            ++frame;
            continue;
        }
        // Includes all frames that end within this pixel.
        const auto end = std::partition_point(frame, frames.end(),
                                              [&](uint32_t each) { return places.xOf(nodes[each].endNs()) <= left; });
        if (left < places.width) drawn.push_back({*frame, left, 1, end - frame > 1});
        nextX = left + 1;
        frame = end;
    }
    return drawn;
}

FlameChart::FlameChart(QWidget* parent) : QAbstractScrollArea(parent) {
    setFocusPolicy(Qt::StrongFocus);
    setFrameShape(QFrame::NoFrame);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setAccessibleName(tr("Flame graph"));
    viewport()->setMouseTracking(true);
}

uint32_t FlameChart::deepest() const {
    // The depth is at most that of the tree; rows end where they have no frames.
    uint32_t low = tree_->nodes()[root_].depth, high = tree_->depth();
    const FlamePlaces here = places();
    while (low < high) {
        const uint32_t middle = low + (high - low + 1) / 2;
        here.row(middle).empty() ? high = middle - 1 : low = middle;
    }
    return low;
}

void FlameChart::setTree(FlameTreePtr tree) {
    if (tree_ && tree) {
        root_ = samePlace(*tree_, root_, *tree);
        if (current_ != noIndex) current_ = samePlace(*tree_, current_, *tree);
    } else {
        root_ = tree ? tree->firstSplit() : 0;
        current_ = noIndex;
    }
    tree_ = std::move(tree);
    matches_ = {};
    hovered_ = noIndex;
    card_.hide();
    updateScrollBar();
    redraw();
    emit zoomed();
}

void FlameChart::setTheme(const Theme& theme) {
    theme_ = theme;
    redraw();
}

void FlameChart::setMatches(FlameMatches matches) {
    matches_ = std::move(matches);
    redraw();
}

void FlameChart::zoomTo(uint32_t node) {
    if (!tree_ || node >= tree_->nodes().size() || node == root_) return;
    root_ = node;
    current_ = node;
    hovered_ = noIndex;
    card_.hide();
    updateScrollBar();
    verticalScrollBar()->setValue(0);
    redraw();
    emit zoomed();
}

bool FlameChart::goUp() {
    if (!tree_ || root_ == 0) return false;
    const uint32_t left = root_;
    zoomTo(tree_->nodes()[root_].parent);
    // So that Enter goes back.
    setCurrent(left);
    return true;
}

void FlameChart::setCurrent(uint32_t node) {
    current_ = node;
    if (tree_ && node != noIndex) {
        setAccessibleDescription(toQString(tree_->nameOf(node)) + QStringLiteral(", ") + timeOf(*tree_, node));
        const QRect frame = rectOf(node);
        if (frame.top() < 0 || frame.bottom() >= viewport()->height())
            verticalScrollBar()->setValue(verticalScrollBar()->value() + frame.center().y() - viewport()->height() / 2);
    }
    viewport()->update();
}

QRect FlameChart::rectOf(uint32_t node) const {
    return places().rectOf(node).translated(0, -verticalScrollBar()->value());
}

uint32_t FlameChart::frameAt(QPoint position) const {
    if (!tree_ || tree_->isEmpty()) return noIndex;
    return places().frameAt(position + QPoint(0, verticalScrollBar()->value()));
}

void FlameChart::redraw() {
    picture_ = {};
    viewport()->update();
}

void FlameChart::updateScrollBar() {
    if (!tree_) return verticalScrollBar()->setRange(0, 0);
    const int rows = static_cast<int>(deepest() - tree_->nodes()[root_].depth) + 1;
    verticalScrollBar()->setPageStep(viewport()->height());
    verticalScrollBar()->setSingleStep(rowHeight());
    verticalScrollBar()->setRange(0, std::max(0, rows * rowHeight() - viewport()->height()));
}

void FlameChart::paintEvent(QPaintEvent*) {
    QPainter painter(viewport());
    if (!tree_ || tree_->isEmpty()) {
        painter.fillRect(viewport()->rect(), theme_.canvas);
        return;
    }
    if (picture_.isNull()) {
        const qreal ratio = devicePixelRatioF();
        picture_ = QPixmap(viewport()->size() * ratio);
        picture_.setDevicePixelRatio(ratio);
        picture_.fill(theme_.canvas);
        QPainter inner(&picture_);
        inner.setFont(font());
        const int scrolled = verticalScrollBar()->value();
        const int firstRow = scrolled / rowHeight();
        const QRect area(0, firstRow * rowHeight() - scrolled, viewport()->width(), viewport()->height() + rowHeight());
        paintFlame(inner, area, places(), tree_->nodes()[root_].depth + uint32_t(firstRow), matches_, theme_);
    }
    painter.drawPixmap(0, 0, picture_);
    if (hovered_ != noIndex) painter.fillRect(rectOf(hovered_).adjusted(0, 0, 0, -1), theme_.hover);
    if (current_ != noIndex && hasFocus()) {
        painter.setPen(QPen(theme_.text, 2));
        painter.drawRect(rectOf(current_).adjusted(1, 1, -2, -2));
    }
    if (hasFocus()) paintFocusFrame(painter, viewport()->rect(), theme_);
    card_.paint(painter, font(), theme_);
}

void FlameChart::resizeEvent(QResizeEvent*) {
    card_.hide();
    hovered_ = noIndex;
    updateScrollBar();
    redraw();
}

void FlameChart::scrollContentsBy(int, int) {
    card_.hide();
    hovered_ = noIndex;
    redraw();
}

void FlameChart::showTip(uint32_t node, QPoint anchor) {
    if (!tree_ || node == noIndex) {
        card_.hide();
    } else {
        card_.setContent(toQString(tree_->nameOf(node)), detailOf(*tree_, node, root_),
                         flameColor(*tree_, node, theme_));
        card_.place(anchor, viewport()->rect(), font());
    }
    viewport()->update();
}

void FlameChart::mouseMoveEvent(QMouseEvent* event) {
    const uint32_t node = frameAt(event->pos());
    if (node == noIndex && hovered_ == noIndex) return;
    hovered_ = node;
    showTip(node, event->pos());
}

void FlameChart::mouseReleaseEvent(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton) return;
    const uint32_t node = frameAt(event->pos());
    if (node == noIndex) return;
    if (node == root_)
        setCurrent(node);
    else
        zoomTo(node);
}

void FlameChart::contextMenuEvent(QContextMenuEvent* event) {
    if (!tree_ || tree_->isEmpty()) return;
    const bool isByKey = event->reason() == QContextMenuEvent::Keyboard;
    uint32_t node = isByKey ? current_ : frameAt(event->pos());
    if (node == noIndex) node = root_;
    setCurrent(node);
    const QRect frame = rectOf(node);
    emit menuRequested(node, isByKey ? viewport()->mapToGlobal(frame.bottomLeft() + QPoint(8, 0)) : event->globalPos());
}

void FlameChart::stepTo(uint32_t node) {
    setCurrent(node);
    hovered_ = noIndex;
    const QRect frame = rectOf(node);
    showTip(node, {frame.left() + std::min(frame.width() / 2, 80), frame.bottom() - 8});
}

/// Goes to the next frame of the row that is drawn separately.
void FlameChart::stepInRow(int direction) {
    const std::vector<DrawnFrame> row = drawnFrames(places(), tree_->nodes()[current_].depth);
    const QRect here = rectOf(current_);
    if (direction > 0) {
        for (const DrawnFrame& each : row)
            if (each.x > here.left() && each.node != current_) return stepTo(each.node);
    } else {
        for (auto each = row.rbegin(); each != row.rend(); ++each)
            if (each->x < here.left() && each->node != current_) return stepTo(each->node);
    }
}

void FlameChart::keyPressEvent(QKeyEvent* event) {
    if (!tree_ || tree_->isEmpty()) return QAbstractScrollArea::keyPressEvent(event);
    if (event->matches(QKeySequence::Copy)) return emit copyRequested();
    const auto begin = [this] {
        if (current_ != noIndex) return false;
        stepTo(root_);
        return true;
    };
    switch (event->key()) {
        case Qt::Key_Left:
        case Qt::Key_Right:
            if (!begin()) stepInRow(event->key() == Qt::Key_Left ? -1 : 1);
            return;
        case Qt::Key_Up:
            if (!begin() && current_ != root_) stepTo(tree_->nodes()[current_].parent);
            return;
        case Qt::Key_Down:
            if (!begin() && !tree_->childrenOf(current_).empty()) stepTo(tree_->childrenOf(current_).front());
            return;
        case Qt::Key_Return:
        case Qt::Key_Enter:
            if (current_ != noIndex) zoomTo(current_);
            return;
        case Qt::Key_Home: zoomTo(0); return;
        case Qt::Key_Escape:
        case Qt::Key_Backspace:
            if (goUp()) return;
            break;
        default: break;
    }
    QAbstractScrollArea::keyPressEvent(event);
}

void FlameChart::focusOutEvent(QFocusEvent*) {
    card_.hide();
    viewport()->update();
}

void FlameChart::changeEvent(QEvent* event) {
    QAbstractScrollArea::changeEvent(event);
    if (event->type() != QEvent::FontChange) return;
    updateScrollBar();
    redraw();
}

bool FlameChart::viewportEvent(QEvent* event) {
    if (event->type() == QEvent::Leave && hovered_ != noIndex) {
        hovered_ = noIndex;
        showTip(noIndex, {});
    }
    return QAbstractScrollArea::viewportEvent(event);
}

}  // namespace lanescope::views
