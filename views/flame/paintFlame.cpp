// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/flame/paintFlame.h"

#include <QFontMetrics>
#include <QPainter>
#include <algorithm>
#include <cmath>

#include "model/format/Fnv1a.h"
#include "views/text/toQString.h"

namespace lanescope::views {
namespace {

constexpr int leastLabel = 26;  // pixels: less has no room for a word
constexpr int inset = 4;
constexpr double faintShare = 0.3;
constexpr double libraryShare = 0.5;
constexpr int shades = 4;
constexpr double shadeStep = 0.07;

/// Neighbours differ a little, equal names do not.
QColor shadeOf(const QColor& color, std::string_view name, const Theme& theme) {
    Fnv1a sum;
    sum.add(name);
    const auto shade = static_cast<int>(sum.value() % shades);
    return Theme::mix(color, theme.canvas, shadeStep * shade);
}

void paintLabel(QPainter& painter, const QRect& frame, const QString& text, const QColor& color) {
    if (frame.width() < leastLabel) return;
    const QRect room = frame.adjusted(inset, 0, -inset, 0);
    painter.setPen(color);
    painter.drawText(room, Qt::AlignLeft | Qt::AlignVCenter | Qt::TextSingleLine,
                     painter.fontMetrics().elidedText(text, Qt::ElideRight, room.width()));
}

}  // namespace

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
    const uint32_t depth =
        tree->nodes()[root].depth + static_cast<uint32_t>(position.y() / rowHeight);
    const std::span<const uint32_t> frames = row(depth);
    auto found = std::partition_point(frames.begin(), frames.end(), [&](uint32_t node) {
        return rectOf(node).right() < position.x();
    });
    uint32_t best = noIndex;
    for (; found != frames.end() && rectOf(*found).left() <= position.x(); ++found)
        if (best == noIndex || tree->nodes()[*found].totalNs > tree->nodes()[best].totalNs)
            best = *found;
    return best;
}

std::vector<DrawnFrame> drawnFrames(const FlamePlaces& places, uint32_t depth) {
    std::vector<DrawnFrame> drawn;
    const std::span<const uint32_t> frames = places.row(depth);
    const auto& nodes = places.tree->nodes();
    int nextX = 0;  // the first pixel that nothing is drawn in
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
        // All that ends within this pixel too.
        const auto end = std::partition_point(frame, frames.end(), [&](uint32_t each) {
            return places.xOf(nodes[each].endNs()) <= left;
        });
        if (left < places.width) drawn.push_back({*frame, left, 1, end - frame > 1});
        nextX = left + 1;
        frame = end;
    }
    return drawn;
}

QColor flameColor(const FlameTree& tree, uint32_t node, const Theme& theme) {
    const FlameTree::Frame& frame = tree.nodes()[node].frame;
    const std::string_view name = tree.nameOf(node);
    switch (frame.kind) {
        case FrameKind::All:
            return theme.band;
        case FrameKind::Function:
            return shadeOf(theme.colorOf(SliceCategory::CpuFrame), name, theme);
        case FrameKind::LibraryFunction:
            return shadeOf(
                Theme::mix(theme.canvas, theme.colorOf(SliceCategory::CpuFrame), libraryShare),
                name, theme);
        case FrameKind::Thread:
            return theme.colorOf(SliceCategory::CpuLock);
        case FrameKind::Unknown:
            return theme.colorOf(SliceCategory::ApiOther);
        case FrameKind::Step:
        case FrameKind::Range:
        case FrameKind::Operator:
        case FrameKind::Work:
            break;
    }
    return theme.colorOf(frame.category, name);
}

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
            if (isMatch)
                painter.fillRect(QRect(frame.left(), frame.bottom() - 2, frame.width(), 3),
                                 theme.searchHit);
            if (!each.isSeveral)
                paintLabel(painter, frame, toQString(tree.nameOf(each.node)), theme.textOn(fill));
        }
    }
}

}  // namespace lanescope::views
