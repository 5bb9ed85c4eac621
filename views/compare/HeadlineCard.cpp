#include "views/compare/HeadlineCard.h"

#include <QLabel>
#include <QVBoxLayout>
#include <algorithm>

#include "views/text/plainToolTip.h"
#include "views/text/toQString.h"

namespace lanescope {
namespace {

constexpr size_t maximumReasons = 3;

}  // namespace

HeadlineCard::HeadlineCard(QWidget* parent)
    : QWidget(parent), headline_(new QLabel(this)), reasons_(new QLabel(this)) {
    QFont font = headline_->font();
    font.setPointSizeF(font.pointSizeF() * 1.3);
    font.setWeight(QFont::DemiBold);
    headline_->setFont(font);
    for (QLabel* label : {headline_, reasons_}) {
        label->setTextFormat(Qt::PlainText);  // kernel and range names come from untrusted files
        label->setTextInteractionFlags(Qt::TextSelectableByMouse);
        label->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    }
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(12, 8, 12, 8);
    layout->setSpacing(3);
    layout->addWidget(headline_);
    layout->addWidget(reasons_);
}

void HeadlineCard::setSentences(const std::vector<std::string>& sentences, Verdict verdict) {
    verdict_ = verdict;
    headlineText_ = sentences.empty() ? QString() : toQString(sentences.front());
    headline_->setToolTip(plainToolTip(headlineText_));
    sentences_.clear();
    for (size_t i = 1; i < std::min(sentences.size(), maximumReasons + 1); ++i) {
        sentences_ << toQString(sentences[i]);
    }
    reasons_->setToolTip(plainToolTip(sentences_.join(QLatin1Char('\n'))));
    reasons_->setVisible(!sentences_.isEmpty());
    updateTexts();
    updateColors();
}

void HeadlineCard::setTheme(const Theme& theme) {
    theme_ = theme;
    updateColors();
}

QString HeadlineCard::reasons() const {
    return reasons_->text();
}

void HeadlineCard::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    updateTexts();
}

void HeadlineCard::updateTexts() {
    const QMargins margins = layout()->contentsMargins();
    const int room = width() - margins.left() - margins.right();
    headline_->setText(headline_->fontMetrics().elidedText(headlineText_, Qt::ElideRight, room));
    QStringList shown;
    for (const QString& sentence : sentences_) {
        shown << reasons_->fontMetrics().elidedText(sentence, Qt::ElideRight, room);
    }
    reasons_->setText(shown.join(QLatin1Char('\n')));
}

void HeadlineCard::updateColors() {
    QPalette colors = palette();
    colors.setColor(QPalette::WindowText, verdict_ == Verdict::Slower   ? theme_.slower
                                          : verdict_ == Verdict::Faster ? theme_.faster
                                                                        : theme_.text);
    headline_->setPalette(colors);
    colors.setColor(QPalette::WindowText, theme_.mutedText);
    reasons_->setPalette(colors);
}

}  // namespace lanescope
