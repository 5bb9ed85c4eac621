// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/viewer/LiveBar.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>

#include "model/values/formatValue.h"
#include "views/text/WrappedLabel.h"
#include "views/text/toQString.h"
#include "views/theme/Theme.h"
#include "views/timeline/TimelineView.h"

namespace lanescope::viewer {

using namespace views;

namespace {

/// Of the visible range; nearer to the end one still looks at the end.
constexpr int64_t nearEnd = 50;

}  // namespace

LiveBar::LiveBar(TimelineView& timeline, QWidget* parent)
    : QWidget(parent),
      timeline_(timeline),
      dot_(new QLabel(QStringLiteral("●"), this)),
      text_(new WrappedLabel(this)),
      follow_(new QPushButton(tr("Follow the end"), this)) {
    setObjectName("liveBar");
    // Else a widget of a class of its own has no background from the window's style.
    setAttribute(Qt::WA_StyledBackground);
    text_->setText(tr("Recording…"));
    text_->setTextInteractionFlags(Qt::TextSelectableByMouse);
    follow_->setCheckable(true);
    follow_->setChecked(true);
    follow_->setToolTip(tr("Keep the newest events in sight"));
    auto* layout = new QHBoxLayout(this);
    layout->setContentsMargins(14, 3, 6, 4);
    layout->setSpacing(8);
    layout->addWidget(dot_);
    layout->addWidget(text_, 1);
    layout->addWidget(follow_, 0, Qt::AlignTop);
    if (timeline.trace()) sayHowMuch(*timeline.trace());
    connect(follow_, &QPushButton::toggled, this, &LiveBar::setFollowing);
    connect(timeline_.visibleRange(), &VisibleRange::changed, this, &LiveBar::noticeMove);
}

QString LiveBar::text() const {
    return text_->text();
}

void LiveBar::setTheme(const Theme& theme) {
    dot_->setStyleSheet(QStringLiteral("color: %1").arg(theme.error.name()));
}

void LiveBar::setFollowing(bool isFollowing) {
    isFollowing_ = isFollowing;
    follow_->setChecked(isFollowing);
    if (!isFollowing) return;
    VisibleRange& visible = *timeline_.visibleRange();
    const TimeRange range = visible.range();
    isChanging_ = true;
    visible.setRange(range.shifted(visible.limits().endNs - range.endNs));
    isChanging_ = false;
}

void LiveBar::noticeMove() {
    if (isChanging_ || !isVisible()) return;
    const VisibleRange& visible = *timeline_.visibleRange();
    const int64_t missing = visible.limits().endNs - visible.range().endNs;
    const bool isAtEnd = missing <= visible.range().durationNs() / nearEnd;
    if (isAtEnd == isFollowing_) return;
    isFollowing_ = isAtEnd;
    const QSignalBlocker blocker(follow_);
    follow_->setChecked(isAtEnd);
}

void LiveBar::beforeChange() {
    isChanging_ = true;
    before_ = timeline_.visibleRange()->range();
    wasFitted_ = timeline_.visibleRange()->isFitted();
}

void LiveBar::afterChange(const Trace& trace) {
    VisibleRange& visible = *timeline_.visibleRange();
    if (!wasFitted_ || !isFollowing_) visible.setRange(before_);
    if (isFollowing_ && !wasFitted_)
        visible.setRange(before_.shifted(visible.limits().endNs - before_.endNs));
    isChanging_ = false;
    sayHowMuch(trace);
}

void LiveBar::sayHowMuch(const Trace& trace) {
    text_->setText(tr("Recording… %1 so far")
                       .arg(toQString(formatDuration(std::max<int64_t>(0, trace.range.endNs)))));
}

void LiveBar::end(const QString& sentence) {
    follow_->hide();
    dot_->hide();
    text_->setText(sentence);
    setVisible(!sentence.isEmpty());
}

}  // namespace lanescope::viewer
