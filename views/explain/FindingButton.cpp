// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/explain/FindingButton.h"

#include <QKeyEvent>
#include <QPainter>
#include <algorithm>
#include <utility>

#include "views/text/plainToolTip.h"
#include "views/text/wrapWords.h"

namespace lanescope::views {
namespace {

constexpr int margin = 6;
constexpr int space = 10;  // between what it gives back and the sentence
constexpr int mostLines = 8;

}  // namespace

FindingButton::FindingButton(Gain gain, QString sentence, const QString& advice, QWidget* parent)
    : QAbstractButton(parent), gain_(std::move(gain)), sentence_(std::move(sentence)) {
    setFocusPolicy(Qt::StrongFocus);
    setCursor(Qt::PointingHandCursor);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    setAccessibleName(gain_.whole + QStringLiteral(": ") + sentence_);
    setAccessibleDescription(advice);
    setToolTip(plainToolTip(sentence_ + QLatin1Char('\n') + tr("Try: %1").arg(advice) +
                            QLatin1Char('\n') + tr("Click to see where it costs most.")));
}

void FindingButton::setTheme(const Theme& theme) {
    theme_ = theme;
    update();
}

QFont FindingButton::strong() const {
    QFont larger = font();
    larger.setWeight(QFont::DemiBold);
    return larger;
}

QSize FindingButton::sizeHint() const {
    const int width = QFontMetrics(strong()).horizontalAdvance(gain_.whole) +
                      fontMetrics().horizontalAdvance(sentence_) + 2 * margin + space;
    return {width, heightOf(1)};
}

QSize FindingButton::minimumSizeHint() const {
    return {120, heightOf(1)};
}

int FindingButton::heightOf(int lines) const {
    return lines * fontMetrics().height() + margin;
}

int FindingButton::linesIn(int width) const {
    return static_cast<int>(linesOf(width, mostLines).size());
}

void FindingButton::setLines(int lines) {
    lines_ = lines;
    setFixedHeight(heightOf(lines));
    update();
}

const QString& FindingButton::gainIn(int width) const {
    const bool hasRoom = QFontMetrics(strong()).horizontalAdvance(gain_.whole) <= width;
    return hasRoom ? gain_.whole : gain_.brief;
}

/// Behind what it gives back, and then from the left edge on.
QStringList FindingButton::linesOf(int width, int most) const {
    const int room = width - 2 * margin;
    const int gain = std::min(QFontMetrics(strong()).horizontalAdvance(gainIn(room)), room);
    return wrapWords(sentence_, fontMetrics(), {room, gain + space, most});
}

void FindingButton::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    const bool isLit = underMouse() || hasFocus();
    if (isLit || isDown()) {
        painter.setRenderHint(QPainter::Antialiasing);
        painter.setPen(hasFocus() ? QPen(theme_.accent, 1.5) : QPen(Qt::NoPen));
        painter.setBrush(Theme::mix(theme_.window, theme_.accent, isDown() ? 0.18 : 0.08));
        painter.drawRoundedRect(QRectF(rect()).adjusted(1, 1, -1, -1), 4, 4);
    }
    const QStringList lines = linesOf(width(), lines_);
    const int lineHeight = fontMetrics().height();
    QRect line(margin, (height() - lineHeight * static_cast<int>(lines.size())) / 2,
               width() - 2 * margin, lineHeight);
    painter.setFont(strong());
    painter.setPen(theme_.accent);
    const QString gain =
        painter.fontMetrics().elidedText(gainIn(line.width()), Qt::ElideRight, line.width());
    painter.drawText(line, Qt::AlignLeft | Qt::AlignVCenter, gain);
    const int indent = painter.fontMetrics().horizontalAdvance(gain) + space;
    painter.setFont(font());
    painter.setPen(theme_.text);
    for (qsizetype each = 0; each < lines.size(); ++each, line.translate(0, lineHeight))
        painter.drawText(line.adjusted(each == 0 ? indent : 0, 0, 0, 0),
                         Qt::AlignLeft | Qt::AlignVCenter, lines[each]);
}

void FindingButton::keyPressEvent(QKeyEvent* event) {
    if (event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter) return click();
    // Buttons take these for Tab, and the area around them scrolls.
    if (event->key() == Qt::Key_Down) return emit neighbourAsked(1);
    if (event->key() == Qt::Key_Up) return emit neighbourAsked(-1);
    QAbstractButton::keyPressEvent(event);
}

void FindingButton::enterEvent(QEnterEvent*) {
    update();
}

void FindingButton::leaveEvent(QEvent*) {
    update();
}

}  // namespace lanescope::views
