// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/compare/AnswerPreview.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QVBoxLayout>

#include "model/compare/compareStoredRuns.h"
#include "views/compare/HeadlineCard.h"
#include "views/compare/StepChart.h"
#include "views/compare/WaterfallChart.h"
#include "views/text/toQString.h"

namespace lanescope::views {

AnswerPreview::AnswerPreview(QWidget* parent)
    : QWidget(parent),
      headline_(new HeadlineCard(this)),
      waterfall_(new WaterfallChart(this)),
      steps_(new StepChart(this)),
      origin_(new QLabel(this)) {
    setAccessibleName(tr("Answer from the stored summaries"));
    origin_->setTextFormat(Qt::PlainText);  // file names are anybody's
    origin_->setWordWrap(true);
    origin_->setContentsMargins(12, 4, 12, 4);
    auto* charts = new QHBoxLayout;
    charts->setSpacing(0);
    charts->addWidget(waterfall_, 1);
    charts->addWidget(steps_, 1);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addWidget(headline_);
    layout->addLayout(charts);
    layout->addWidget(origin_);
    setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Maximum);
    // Steps that are chosen here are only marked: there is no timeline yet to go to.
    connect(steps_, &StepChart::stepChosen, steps_, &StepChart::setChosen);
}

void AnswerPreview::setComparison(const compare::StoredComparison& stored, size_t candidateCount) {
    headline_->setAnswer(stored.comparison.answer);
    waterfall_->setPair(&stored.pair());
    steps_->setSteps({&stored.baselineWorker(), stored.pair().baseline},
                     {&stored.candidateWorker(), stored.pair().candidate});
    const QString origin =
        tr("From the summaries stored in the traces. Timelines and tables "
           "appear when the events have been read.");
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

QString AnswerPreview::originText() const {
    return origin_->text();
}

}  // namespace lanescope::views
