// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/flame/FlameTrail.h"

#include <QHelpEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QStringList>
#include <QToolTip>
#include <algorithm>

#include "views/text/plainToolTip.h"
#include "views/text/toQString.h"

namespace lanescope::views {
namespace {

constexpr int left = 8;
constexpr int longestCrumb = 260;  // pixels

QString divider() {
    return QStringLiteral(" › ");
}

}  // namespace

FlameTrail::FlameTrail(QWidget* parent) : QWidget(parent) {
    setMouseTracking(true);
    setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
    setAccessibleName(tr("Frames around what is shown"));
}

void FlameTrail::setPlace(FlameTreePtr tree, uint32_t node) {
    tree_ = std::move(tree);
    node_ = node;
    layOut();
    setAccessibleDescription(text());
}

void FlameTrail::setTheme(const Theme& theme) {
    theme_ = theme;
    update();
}

/// The outermost and as many of the innermost as there is room for.
void FlameTrail::layOut() {
    crumbs_.clear();
    update();
    if (!tree_) return;
    const std::vector<uint32_t> path = tree_->pathTo(node_);
    const QFontMetrics metrics = fontMetrics();
    const auto crumbOf = [&](uint32_t node) {
        return Crumb{
            node,
            metrics.elidedText(toQString(tree_->nameOf(node)), Qt::ElideRight, longestCrumb),
            {}};
    };
    const int between = metrics.horizontalAdvance(divider());
    const auto widthOf = [&](const Crumb& crumb) {
        return metrics.horizontalAdvance(crumb.text) + between;
    };
    const Crumb leftOut{noIndex, QStringLiteral("…"), {}};
    int room = width() - left - widthOf(crumbOf(0)) - widthOf(leftOut);
    std::vector<Crumb> inner;
    for (size_t place = path.size(); place-- > 1;) {
        Crumb crumb = crumbOf(path[place]);
        // The innermost says where one is, however narrow the window.
        if (inner.empty() && widthOf(crumb) > room)
            crumb.text = metrics.elidedText(crumb.text, Qt::ElideRight, std::max(40, room));
        else if (widthOf(crumb) > room)
            break;
        room -= widthOf(crumb);
        inner.push_back(std::move(crumb));
    }
    crumbs_.push_back(crumbOf(0));
    if (inner.size() + 1 < path.size()) crumbs_.push_back(leftOut);
    crumbs_.insert(crumbs_.end(), inner.rbegin(), inner.rend());
    int x = left;
    for (Crumb& crumb : crumbs_) {
        crumb.area = QRect(x, 0, metrics.horizontalAdvance(crumb.text), height());
        x += crumb.area.width() + between;
    }
}

QString FlameTrail::text() const {
    QStringList texts;
    for (const Crumb& crumb : crumbs_) texts << crumb.text;
    return texts.join(divider());
}

QRect FlameTrail::rectOf(uint32_t node) const {
    for (const Crumb& crumb : crumbs_)
        if (crumb.node == node) return crumb.area;
    return {};
}

const FlameTrail::Crumb* FlameTrail::crumbAt(QPoint position) const {
    for (const Crumb& crumb : crumbs_)
        if (crumb.node != noIndex && crumb.area.contains(position)) return &crumb;
    return nullptr;
}

void FlameTrail::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    for (size_t index = 0; index < crumbs_.size(); ++index) {
        const Crumb& crumb = crumbs_[index];
        const bool isHere = crumb.node == node_;
        painter.setPen(crumb.node == noIndex ? theme_.mutedText
                       : isHere              ? theme_.text
                                             : theme_.accent);
        painter.drawText(crumb.area, Qt::AlignLeft | Qt::AlignVCenter | Qt::TextSingleLine,
                         crumb.text);
        if (index + 1 == crumbs_.size()) continue;
        painter.setPen(theme_.mutedText);
        painter.drawText(QRect(crumb.area.right() + 1, 0, longestCrumb, height()),
                         Qt::AlignLeft | Qt::AlignVCenter | Qt::TextSingleLine, divider());
    }
}

void FlameTrail::resizeEvent(QResizeEvent*) {
    layOut();
}

void FlameTrail::mouseMoveEvent(QMouseEvent* event) {
    const Crumb* crumb = crumbAt(event->pos());
    setCursor(crumb && crumb->node != node_ ? Qt::PointingHandCursor : Qt::ArrowCursor);
}

void FlameTrail::mousePressEvent(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton) return;
    if (const Crumb* crumb = crumbAt(event->pos())) emit frameChosen(crumb->node);
}

void FlameTrail::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() == QEvent::FontChange) layOut();
}

bool FlameTrail::event(QEvent* event) {
    if (event->type() != QEvent::ToolTip) return QWidget::event(event);
    const auto* help = static_cast<QHelpEvent*>(event);
    const Crumb* crumb = crumbAt(help->pos());
    QToolTip::showText(help->globalPos(),
                       crumb ? plainToolTip(toQString(tree_->nameOf(crumb->node))) : QString(),
                       this);
    return true;
}

}  // namespace lanescope::views
