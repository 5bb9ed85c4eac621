// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/compare/HeadlinePanel.h"

#include <QHBoxLayout>
#include <algorithm>

#include "model/compare/comparePrograms.h"
#include "views/theme/layouts.h"
#include "views/theme/texts.h"

namespace lanescope::views {
namespace {

constexpr qsizetype maxReasons = 2;
constexpr qsizetype maxLines = 6;
constexpr int progressSteps = 1000;

}  // namespace

HeadlinePanel::HeadlinePanel(QWidget* parent) : QWidget(parent) {
    for (QLabel* label : {caution_, headline_, reasons_}) {
        label->setTextFormat(Qt::PlainText);  // kernel and range names come from untrusted files
        label->setTextInteractionFlags(Qt::TextSelectableByMouse);
        label->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
        label->hide();
    }
    headline_->setTextFormat(Qt::RichText);  // its names are escaped
    headline_->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::LinksAccessibleByMouse |
                                       Qt::LinksAccessibleByKeyboard);
    connect(headline_, &QLabel::linkActivated, this, [this](const QString& link) { emit clauseChosen(link.toInt()); });
    caution_->setAutoFillBackground(true);
    caution_->setContentsMargins(8, 2, 8, 2);
    caution_->setAccessibleName(tr("Caveats of the comparison"));
    headline_->setAccessibleName(tr("Answer"));
    reasons_->setAccessibleName(tr("Reasons"));
    progress_->setRange(0, progressSteps);
    progress_->setTextVisible(false);
    progress_->setFixedHeight(8);
    progress_->setAccessibleName(tr("Progress of the comparison"));
    cancel_->setObjectName("cancel");
    cancel_->setToolTip(tr("Stop comparing"));

    auto* bar = new QHBoxLayout;
    addTo(bar, Filling{progress_}, cancel_);
    auto* layout = columnIn(this, {12, 8, 12, 8}, 4);
    layout->addStretch();
    addTo(layout, caution_, headline_, reasons_);
    layout->addLayout(bar);
    layout->addStretch();
    setProgress(-1);
    connect(cancel_, &QPushButton::clicked, this, &HeadlinePanel::cancelRequested);
}

void HeadlinePanel::setAnswer(const compare::Answer& answer) {
    outcome_ = answer.outcome;
    headlineText_ = toQString(answer.sentence);
    pieces_.clear();
    for (const compare::Clause& clause : answer.clauses)
        pieces_.push_back({toQString(clause.text), clause.hasEvidence()});
    cautionTexts_ = toQStrings(answer.cautions);
    reasonTexts_ = toQStrings(answer.details);
    updateTexts();
    updateColors();
}

void HeadlinePanel::setMessage(const QString& text) {
    compare::Answer message;
    message.sentence = text.toStdString();
    setAnswer(message);
}

void HeadlinePanel::setProgress(double fraction) {
    progress_->setVisible(fraction >= 0);
    cancel_->setVisible(fraction >= 0);
    progress_->setValue(int(fraction * progressSteps));
}

void HeadlinePanel::setTheme(const Theme& theme) {
    theme_ = theme;
    updateColors();
    updateTexts();
}

void HeadlinePanel::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    updateTexts();
}

void HeadlinePanel::updateTexts() {
    const QMargins margins = layout()->contentsMargins();
    const int room = width() - margins.left() - margins.right();
    const auto cut = [room](const QLabel* label, const QString& text) {
        return label->fontMetrics().elidedText(text, Qt::ElideRight, room - 16);
    };
    headline_->setFont(strong(font()));
    const QStringList lines = wrapWords(headlineText_, headline_->fontMetrics(), {room - 16, 0, maxLines});
    shownHeadline_ = lines.join(QLatin1Char('\n'));
    headline_->setText(linked(lines));
    headline_->setAccessibleDescription(headlineText_);
    headline_->setToolTip(plainToolTip(headlineText_));
    QString caution;
    if (!cautionTexts_.isEmpty()) {
        caution = QStringLiteral("\u26a0  ") + cautionTexts_.front();
        if (cautionTexts_.size() > 1)
            caution = tr("\u26a0  %1 cautions: %2").arg(cautionTexts_.size()).arg(cautionTexts_.join(QLatin1Char(' ')));
    }
    caution_->setText(cut(caution_, caution));
    caution_->setToolTip(plainToolTip(cautionTexts_.join(QLatin1Char('\n'))));
    QStringList shown;
    // Limited room goes to the answer first, then to the reasons.
    for (const QString& sentence : reasonTexts_.mid(0, maxReasons - (lines.size() > 1 ? 1 : 0)))
        shown << cut(reasons_, sentence);
    reasons_->setText(shown.join(QLatin1Char('\n')));
    reasons_->setToolTip(plainToolTip(reasonTexts_.join(QLatin1Char('\n'))));
    headline_->setVisible(!headlineText_.isEmpty());
    caution_->setVisible(!cautionTexts_.isEmpty());
    reasons_->setVisible(!shown.isEmpty());
}

QString HeadlinePanel::linked(const QStringList& lines) const {
    QString html;
    qsizetype lineStart = 0;
    for (const QString& line : lines) {
        if (lineStart > 0) html += QLatin1String("<br>");
        const qsizetype lineEnd = lineStart + line.size();
        qsizetype start = 0, written = lineStart;
        for (size_t index = 0; index < pieces_.size(); ++index) {
            const qsizetype end = start + pieces_[index].text.size();
            const qsizetype from = std::max(start, lineStart), to = std::min(end, lineEnd);
            start = end;
            if (from >= to) continue;
            const QString text = line.mid(from - lineStart, to - from).toHtmlEscaped();
            written = to;
            // The answer itself stands out; its causes are links without the look of an error.
            const bool isAnswer = index <= answerPiece();
            const QColor color = isAnswer ? headlineColor() : pieces_[index].isLink ? theme_.accent : theme_.text;
            const QString style = QStringLiteral("color:%1;text-decoration:none;font-weight:%2")
                                      .arg(color.name())
                                      .arg(isAnswer ? 600 : 400);
            html += pieces_[index].isLink
                        ? QStringLiteral("<a href=\"%1\" style=\"%2\">%3</a>").arg(index).arg(style, text)
                        : QStringLiteral("<span style=\"%1\">%2</span>").arg(style, text);
        }
        html += line.mid(written - lineStart).toHtmlEscaped();  // without pieces: the whole line
        lineStart = lineEnd + 1;                                // a space stands for the break
    }
    return QStringLiteral("<span style=\"white-space:pre\">%1</span>").arg(html);
}

size_t HeadlinePanel::answerPiece() const {
    const auto first = std::ranges::find_if(pieces_, [](const Piece& piece) { return piece.isLink; });
    return static_cast<size_t>(first - pieces_.begin());
}

QColor HeadlinePanel::headlineColor() const {
    using compare::Outcome;
    const bool isWorse = outcome_ == Outcome::Slower || outcome_ == Outcome::Longer;
    const bool isBetter = outcome_ == Outcome::Faster || outcome_ == Outcome::Shorter;
    return isWorse ? theme_.slower : isBetter ? theme_.faster : theme_.text;
}

void HeadlinePanel::updateColors() {
    QPalette colors = palette();
    colors.setColor(QPalette::WindowText, headlineColor());
    headline_->setPalette(colors);
    colors.setColor(QPalette::WindowText, theme_.mutedText);
    reasons_->setPalette(colors);
    colors.setColor(QPalette::WindowText, theme_.text);
    colors.setColor(QPalette::Window, Theme::mix(theme_.window, theme_.warning, 0.16));
    caution_->setPalette(colors);
}

AnswerPreview::AnswerPreview(QWidget* parent) : QWidget(parent) {
    setAccessibleName(tr("Answer from the stored summaries"));
    origin_->setContentsMargins(12, 4, 12, 4);
    auto* charts = new QHBoxLayout;
    charts->setSpacing(0);
    addTo(charts, Filling{waterfall_}, Filling{steps_});
    addTo(columnIn(this), headline_, charts, origin_);
    setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Maximum);
    // A chosen step is only marked: no timeline is shown yet.
    connect(steps_, &StepChart::stepChosen, steps_, &StepChart::setChosen);
}

void AnswerPreview::setComparison(const compare::StoredComparison& stored, size_t candidateCount) {
    headline_->setAnswer(stored.comparison.answer);
    waterfall_->setPair(&stored.pair());
    steps_->setSteps({&stored.baselineWorker(), stored.pair().baseline},
                     {&stored.candidateWorker(), stored.pair().candidate});
    const QString origin =
        tr("From the summaries stored in the traces. Timelines and tables appear when the events have been read.");
    origin_->setText(candidateCount < 2 ? origin
                                        : tr("%1 is the first of %2 candidates. %3")
                                              .arg(toQString(stored.candidate.facts.title))
                                              .arg(candidateCount)
                                              .arg(origin));
}

void AnswerPreview::setTheme(const Theme& theme) {
    headline_->setTheme(theme);
    waterfall_->setTheme(theme);
    steps_->setTheme(theme);
    QPalette colors = palette();
    colors.setColor(QPalette::WindowText, theme.mutedText);
    origin_->setPalette(colors);
}

}  // namespace lanescope::views
