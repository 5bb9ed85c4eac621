#include "views/timeline/LabelColumn.h"

#include <QHelpEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>
#include <algorithm>

namespace lanescope {
namespace {

constexpr int firstIndent = 8;
constexpr int indentPerDepth = 16;
constexpr int chevronSpace = 20;
constexpr int rightInset = 12;
constexpr int edgeWidth = 6;
constexpr int pixelsPerNotch = 60;
constexpr int markWidth = 4;

QString titleOf(const Track& track) {
    return QString::fromStdString(track.title).simplified();
}
QString subtitleOf(const Track& track) {
    return QString::fromStdString(track.subtitle).simplified();
}

void paintChevron(QPainter& painter, QPointF center, bool isFolded, const QColor& color) {
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(QPen(color, 1.6, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
    const double reach = 3.5;
    const double depth = 1.75;
    const QPointF tip = isFolded ? QPointF(depth, 0) : QPointF(0, depth);
    const QPointF side = isFolded ? QPointF(-depth, reach) : QPointF(reach, -depth);
    const QPointF other = isFolded ? QPointF(-depth, -reach) : QPointF(-reach, -depth);
    const QPointF points[] = {center + other, center + tip, center + side};
    painter.drawPolyline(points, 3);
    painter.restore();
}

void paintTexts(QPainter& painter, const Track& track, const QRect& area, const QFont& font,
                const Theme& theme) {
    QFont titleFont = font;
    if (track.depth == 0) titleFont.setWeight(QFont::DemiBold);
    const QFontMetrics titleMetrics(titleFont);
    const QFontMetrics plainMetrics(font);
    const QString title = titleMetrics.elidedText(titleOf(track), Qt::ElideMiddle, area.width());
    const QString subtitle = subtitleOf(track);
    const bool isStacked =
        !subtitle.isEmpty() && area.height() >= titleMetrics.height() + plainMetrics.height() + 6;
    const int titleHeight = titleMetrics.height();
    // Titles of high rows stand beside their first lane, where the eye begins and the chevron is.
    const int top = std::min(5, (area.height() - titleHeight) / 2);

    painter.setFont(titleFont);
    painter.setPen(theme.text);
    painter.drawText(QPoint(area.left(), area.top() + top + titleMetrics.ascent()), title);
    if (subtitle.isEmpty()) return;
    painter.setFont(font);
    painter.setPen(theme.mutedText);
    if (isStacked) {
        const int baseline = area.top() + top + titleHeight + 2 + plainMetrics.ascent();
        painter.drawText(QPoint(area.left(), baseline),
                         plainMetrics.elidedText(subtitle, Qt::ElideRight, area.width()));
        return;
    }
    const int used = titleMetrics.horizontalAdvance(title) + 8;
    if (area.width() - used < 32) return;
    painter.drawText(QPoint(area.left() + used, area.top() + top + titleMetrics.ascent()),
                     plainMetrics.elidedText(subtitle, Qt::ElideRight, area.width() - used));
}

void paintRow(QPainter& painter, const TimelineState& state, const LayoutRow& row,
              const QRect& area, const QFont& font, const LayoutRow* hovered) {
    const Theme& theme = state.theme();
    const Track& track = state.trace()->tracks[row.track];
    if (row.isHeader) painter.fillRect(area, theme.bandAt(track.depth));
    if (hovered && hovered->track == row.track) painter.fillRect(area, theme.hover);
    if (state.mark().isValid())
        painter.fillRect(QRect(0, area.top(), markWidth, area.height()), state.mark());
    if (state.isUnmatched(row.track)) painter.setOpacity(0.5);
    const int indent = firstIndent + indentPerDepth * row.depth;
    if (row.canFold) {
        const double middle = area.top() + std::min(area.height(), 28) / 2.0;
        paintChevron(painter, {indent + 6.0, middle}, row.isFolded, theme.mutedText);
    }
    paintTexts(painter, track, area.adjusted(indent + chevronSpace, 0, -rightInset, 0), font,
               theme);
    painter.setOpacity(1);
    painter.fillRect(QRect(0, area.bottom() + 1, area.width(), 1), theme.separator);
}

}  // namespace

LabelColumn::LabelColumn(TimelineState& state, QWidget* parent) : QWidget(parent), state_(state) {
    setMouseTracking(true);
    setAttribute(Qt::WA_OpaquePaintEvent);
    setFocusPolicy(Qt::ClickFocus);
    watch(state_);
}

void LabelColumn::watch(const TimelineState& state) {
    const auto repaint = [this] { update(); };
    connect(&state, &TimelineState::traceChanged, this, [this] { hoveredTrack_ = -1; });
    connect(&state, &TimelineState::themeChanged, this, repaint);
    connect(&state, &TimelineState::layoutChanged, this, repaint);
    connect(&state, &TimelineState::scrolled, this, repaint);
}

void LabelColumn::setCompanion(TimelineState* companion) {
    if (companion == companion_) return;
    if (companion_) disconnect(companion_, nullptr, this, nullptr);
    companion_ = companion;
    hoveredTrack_ = -1;
    if (companion) watch(*companion);
    update();
}

void LabelColumn::paint(QPainter& painter, const TimelineState& state, QSize size,
                        const QFont& font, const LayoutRow* hovered) {
    painter.fillRect(QRect(QPoint(), size), state.theme().panel);
    paintRows(painter, state, size, font, hovered);
    painter.fillRect(QRect(size.width() - 1, 0, 1, size.height()), state.theme().separator);
}

void LabelColumn::paintRows(QPainter& painter, const TimelineState& state, QSize size,
                            const QFont& font, const LayoutRow* hovered) {
    if (!state.hasTracks()) return;
    const Theme& theme = state.theme();
    painter.save();
    for (const TimelineState::Band& band : state.bands(size.height())) {
        painter.setClipRect(QRect(0, band.top, size.width(), band.bottom - band.top));
        for (const LayoutRow& row : band.rows)
            paintRow(painter, state, row,
                     QRect(0, row.top - band.scrollY, size.width(), row.height - 1), font, hovered);
    }
    const int pinned = state.pinnedHeight();
    if (pinned > 0) {
        painter.setClipRect(QRect(QPoint(), size));
        painter.fillRect(QRect(0, pinned - 2, size.width(), 2), theme.mutedText);
    }
    painter.restore();
}

void LabelColumn::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    paint(painter, state_, size(), font(), hoveredRow(&state_));
    if (companion_) paintRows(painter, *companion_, size(), font(), hoveredRow(companion_));
}

const LayoutRow* LabelColumn::hoveredRow(const TimelineState* state) const {
    if (hoveredTrack_ < 0 || state != hoveredState_) return nullptr;
    const LayoutRow* row = state->layout().rowOf(static_cast<uint32_t>(hoveredTrack_));
    return row && row->canFold ? row : nullptr;
}

bool LabelColumn::event(QEvent* event) {
    if (event->type() != QEvent::ToolTip) return QWidget::event(event);
    const auto* help = static_cast<QHelpEvent*>(event);
    const auto [state, row] = placeUnder(help->pos());
    if (!row) {
        QToolTip::hideText();
        return true;
    }
    const Track& track = state->trace()->tracks[row->track];
    // Names come from the trace file; they are text and never markup.
    QString text = titleOf(track).toHtmlEscaped();
    if (!subtitleOf(track).isEmpty())
        text += QStringLiteral("<br>") + subtitleOf(track).toHtmlEscaped();
    QToolTip::showText(help->globalPos(), QStringLiteral("<qt>%1</qt>").arg(text), this);
    return true;
}

void LabelColumn::wheelEvent(QWheelEvent* event) {
    event->accept();
    if (event->modifiers() & Qt::ControlModifier) return;
    const int angle = event->angleDelta().y() * pixelsPerNotch + wheelRest_;
    const int pixels = event->pixelDelta().isNull() ? angle / 120 : event->pixelDelta().y();
    wheelRest_ = event->pixelDelta().isNull() ? angle % 120 : 0;
    state_.setScrollY(state_.scrollY() - pixels);
}

void LabelColumn::mousePressEvent(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton) return;
    if (isOnEdge(event->pos())) {
        isResizing_ = true;
        return;
    }
    const auto [state, row] = placeUnder(event->pos());
    if (row && row->canFold) state->setFolded(row->track, !row->isFolded);
}

void LabelColumn::mouseMoveEvent(QMouseEvent* event) {
    if (isResizing_) {
        emit widthDragged(std::clamp(event->pos().x(), narrowest, widest));
        return;
    }
    setCursor(isOnEdge(event->pos()) ? Qt::SplitHCursor : Qt::ArrowCursor);
    const auto [state, row] = placeUnder(event->pos());
    setHoveredTrack(state, row ? int64_t{row->track} : -1);
}

void LabelColumn::mouseReleaseEvent(QMouseEvent*) {
    isResizing_ = false;
}

void LabelColumn::leaveEvent(QEvent*) {
    setHoveredTrack(nullptr, -1);
}

bool LabelColumn::isOnEdge(QPoint position) const {
    return position.x() >= width() - edgeWidth;
}

LabelColumn::Place LabelColumn::placeUnder(QPoint position) const {
    const int y = state_.toLayoutY(position.y());
    if (const LayoutRow* row = state_.layout().rowAt(y)) return {&state_, row};
    if (companion_) return {companion_, companion_->layout().rowAt(y)};
    return {};
}

void LabelColumn::setHoveredTrack(const TimelineState* state, int64_t track) {
    if (track == hoveredTrack_ && state == hoveredState_) return;
    hoveredState_ = state;
    hoveredTrack_ = track;
    update();
}

}  // namespace lanescope
