// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/explain/ExplanationCard.h"

#include <QApplication>
#include <QClipboard>
#include <QContextMenuEvent>
#include <QHBoxLayout>
#include <QMenu>
#include <QPainter>
#include <QScrollArea>
#include <QScrollBar>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>
#include <utility>

#include "model/values/DurationScale.h"
#include "model/values/formatValue.h"
#include "views/explain/FindingButton.h"
#include "views/explain/aboutRun.h"
#include "views/text/WrappedLabel.h"
#include "views/text/plainToolTip.h"
#include "views/text/toQString.h"

namespace lanescope::views {

using namespace explain;

namespace {

constexpr int barWidth = 4;
constexpr int rowSpacing = 4;  // between a finding and its query

/// "Could give back up to 12.345 ms a step (estimate)".
FindingButton::Gain gainText(const Explanation& explanation, const Finding& finding) {
    int64_t meanNs = 0;
    for (const WorkerParts& each : explanation.workers)
        if (each.worker == finding.worker) meanNs = each.meanNs;
    QString whole = ExplanationCard::tr("Could give back up to %1 a step (estimate)");
    QString brief = ExplanationCard::tr("Up to %1 a step (estimate)");
    if (explanation.what == "run") {
        whole = ExplanationCard::tr("Could give back up to %1 of the run (estimate)");
        brief = ExplanationCard::tr("Up to %1 of the run (estimate)");
    } else if (explanation.what == "request") {
        whole = ExplanationCard::tr("Could give back up to %1 a request (estimate)");
        brief = ExplanationCard::tr("Up to %1 a request (estimate)");
    }
    const QString time = toQString(DurationScale::ofStep(meanNs).text(finding.mostGainNs));
    return {whole.arg(time), brief.arg(time)};
}

}  // namespace

ExplanationCard::ExplanationCard(QWidget* parent)
    : QWidget(parent),
      sentence_(new WrappedLabel(this)),
      about_(new WrappedLabel(this)),
      doubts_(new WrappedLabel(this)),
      close_(new QToolButton(this)),
      lines_(new QWidget),
      rows_(new QVBoxLayout(lines_)),
      area_(new QScrollArea(this)) {
    build();
}

void ExplanationCard::build() {
    setAccessibleName(tr("What is wrong with this run"));
    for (QLabel* label : {sentence_, about_, doubts_}) {
        label->setTextInteractionFlags(Qt::TextSelectableByMouse);
        label->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    }
    QFont strong = font();
    strong.setWeight(QFont::DemiBold);
    sentence_->setFont(strong);
    sentence_->setAccessibleName(tr("Where the time of a step goes"));
    about_->setAccessibleName(tr("What the program does again and again"));
    doubts_->setAccessibleName(tr("What makes the explanation doubtful"));
    close_->setAutoRaise(true);
    close_->setText(QStringLiteral("✕"));
    close_->setFocusPolicy(Qt::StrongFocus);
    close_->setToolTip(tr("Hide this card"));
    close_->setAccessibleName(tr("Hide the explanation"));
    rows_->setContentsMargins(0, 0, 0, 0);
    rows_->setSpacing(0);
    area_->setWidget(lines_);
    area_->setWidgetResizable(true);
    area_->setFrameShape(QFrame::NoFrame);
    area_->setFocusPolicy(Qt::NoFocus);
    area_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    area_->viewport()->setAutoFillBackground(false);
    lines_->setAutoFillBackground(false);

    auto* top = new QHBoxLayout;
    top->addWidget(sentence_, 1);
    top->addWidget(close_, 0, Qt::AlignTop);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(12, 4, 6, 4);
    layout->setSpacing(1);
    layout->addLayout(top);
    layout->addWidget(about_);
    layout->addWidget(doubts_);
    layout->addWidget(area_);
    connect(close_, &QToolButton::clicked, this, &ExplanationCard::closed);
    refresh();
}

void ExplanationCard::setRun(ExplainedRunPtr run) {
    run_ = std::move(run);
    refresh();
}

void ExplanationCard::setMuted(std::set<Rule> muted) {
    if (muted == muted_) return;
    muted_ = std::move(muted);
    refresh();
    emit mutedChanged();
}

void ExplanationCard::setTheme(const Theme& theme) {
    theme_ = theme;
    updateColors();
}

void ExplanationCard::setToldBeside(std::string doubt) {
    if (toldBeside_ == doubt) return;
    toldBeside_ = std::move(doubt);
    refresh();
}

void ExplanationCard::setMostLines(int lines) {
    mostLines_ = std::max(1, lines);
    updateHeight();
}

void ExplanationCard::focusFirst() {
    QWidget* first = buttons_.empty() ? static_cast<QWidget*>(close_) : buttons_.front();
    first->setFocus(Qt::ShortcutFocusReason);
}

QString ExplanationCard::sentence() const {
    return sentence_->text();
}

QString ExplanationCard::about() const {
    return about_->text();
}

void ExplanationCard::refresh() {
    explanation_ = run_ ? explain::explain(run_->summary, muted_) : Explanation();
    // Names of kernels and ranges come from untrusted files.
    sentence_->setText(toQString(printable(explanation_.sentence)));
    // Which steps that is said of: worth a look, not a line of every window.
    sentence_->setToolTip(plainToolTip(toQString(printable(explanation_.steps))));
    sentence_->setAccessibleDescription(toQString(printable(explanation_.steps)));
    about_->setText(run_ ? aboutRun(*run_, explanation_) : QString());
    about_->setVisible(!about_->text().isEmpty());
    QStringList doubts;
    for (const std::string& doubt : explanation_.doubts)
        if (doubt != toldBeside_) doubts << toQString(printable(doubt));
    doubts_->setVisible(!doubts.isEmpty());
    if (!doubts.isEmpty())
        doubts_->setText(QStringLiteral("\u26a0 ") + doubts.front() +
                         (doubts.size() > 1 ? tr(" (%1 more)").arg(doubts.size() - 1) : QString()));
    doubts_->setToolTip(plainToolTip(doubts.join(QLatin1Char('\n'))));
    while (QLayoutItem* line = rows_->takeAt(0)) {
        // It may be the one whose menu is open.
        line->widget()->hide();
        line->widget()->deleteLater();
        delete line;
    }
    buttons_.clear();
    queries_.clear();
    for (const Finding& finding : explanation_.findings) addLine(finding);
    area_->setVisible(!buttons_.empty());
    updateColors();
    updateHeight();
}

void ExplanationCard::addLine(const Finding& finding) {
    auto* line = new QWidget(lines_);
    auto* layout = new QHBoxLayout(line);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(rowSpacing);
    const RuleFacts& facts = factsOf(finding.rule);
    auto* button =
        new FindingButton(gainText(explanation_, finding), toQString(printable(finding.sentence)),
                          toQString(facts.advice), line);
    layout->addWidget(button, 1);
    const auto index = static_cast<int>(buttons_.size());
    buttons_.push_back(button);
    connect(button, &FindingButton::clicked, this, [this, index] {
        // A copy: whoever hears of it may give this card another run.
        const Finding activated = explanation_.findings[static_cast<size_t>(index)];
        emit findingActivated(activated);
    });
    connect(button, &FindingButton::neighbourAsked, this, [this, index](int direction) {
        const int wanted = index + direction;
        if (wanted < 0 || wanted >= static_cast<int>(buttons_.size())) return;
        buttons_[static_cast<size_t>(wanted)]->setFocus(Qt::TabFocusReason);
    });
    button->setContextMenuPolicy(Qt::CustomContextMenu);
    connect(button, &QWidget::customContextMenuRequested, this,
            [this, index, button](QPoint place) { showMenu(index, button->mapToGlobal(place)); });
    QToolButton* query = nullptr;
    if (!finding.sql.empty()) {
        query = new QToolButton(line);
        query->setText(tr("SQL"));
        query->setAutoRaise(true);
        query->setFocusPolicy(Qt::StrongFocus);
        query->setToolTip(tr("Ask the trace: a query that shows it"));
        query->setAccessibleName(tr("Query that shows it"));
        connect(query, &QToolButton::clicked, this,
                [this, sql = toQString(finding.sql)] { emit queryRequested(sql); });
        layout->addWidget(query);
    }
    queries_.push_back(query);
    rows_->addWidget(line);
}

void ExplanationCard::showMenu(int finding, QPoint place) {
    QMenu menu(this);
    if (finding >= 0) {
        const auto index = static_cast<size_t>(finding);
        FindingButton* button = buttons_[index];
        const Rule rule = explanation_.findings[index].rule;
        menu.addAction(tr("Show where it costs most"), button, &FindingButton::click);
        if (queries_[index])
            menu.addAction(tr("Ask the trace in SQL"), queries_[index], &QToolButton::click);
        menu.addAction(tr("Copy the sentence"), this,
                       [button] { QApplication::clipboard()->setText(button->sentence()); });
        menu.addSeparator();
        menu.addAction(tr("Mute the rule %1").arg(toQString(factsOf(rule).identifier)), this,
                       [this, rule] {
                           std::set<Rule> muted = muted_;
                           muted.insert(rule);
                           setMuted(std::move(muted));
                       });
    }
    QAction* all = menu.addAction(tr("Hear all rules again"), this, [this] { setMuted({}); });
    all->setEnabled(!muted_.empty());
    menu.addAction(tr("Hide this card"), this, &ExplanationCard::closed);
    menu.exec(place);
}

void ExplanationCard::contextMenuEvent(QContextMenuEvent* event) {
    showMenu(-1, event->globalPos());
}

void ExplanationCard::keyPressEvent(QKeyEvent* event) {
    if (event->key() == Qt::Key_Escape) return emit closed();
    QWidget::keyPressEvent(event);
}

int ExplanationCard::heightOfRow(size_t finding) const {
    const QToolButton* query = queries_[finding];
    return std::max(buttons_[finding]->height(), query ? query->sizeHint().height() : 0);
}

/// The first finding is the one to read, so it is whole. Of the others, if all lie before one's
/// eyes, each has what is left of the lines; where they are scrolled to they may be as long as they
/// are.
void ExplanationCard::shareLines(bool isScrolled) {
    int left = mostLines_ - static_cast<int>(buttons_.size());
    const QMargins margins = layout()->contentsMargins();
    const int bar = isScrolled ? area_->verticalScrollBar()->sizeHint().width() : 0;
    const int room = width() - margins.left() - margins.right() - bar;
    for (size_t index = 0; index < buttons_.size(); ++index) {
        const QToolButton* query = queries_[index];
        const int beside = query ? query->sizeHint().width() + rowSpacing : 0;
        const int whole = buttons_[index]->linesIn(room - beside);
        const bool isWhole = index == 0 || isScrolled;
        buttons_[index]->setLines(isWhole ? whole : std::clamp(whole, 1, 1 + std::max(0, left)));
        left -= buttons_[index]->lines() - 1;
    }
}

void ExplanationCard::updateHeight() {
    if (buttons_.empty()) return;
    const bool isScrolled = static_cast<int>(buttons_.size()) > mostLines_;
    shareLines(isScrolled);
    int lines = 0, heightPx = 0;
    for (size_t index = 0; index < buttons_.size(); ++index) {
        if (isScrolled && index > 0 && lines + buttons_[index]->lines() > mostLines_) break;
        lines += buttons_[index]->lines();
        heightPx += heightOfRow(index);
    }
    area_->setFixedHeight(heightPx);
    area_->verticalScrollBar()->setSingleStep(heightOfRow(0));
}

void ExplanationCard::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    updateHeight();
}

void ExplanationCard::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() == QEvent::FontChange || event->type() == QEvent::StyleChange) updateHeight();
}

void ExplanationCard::updateColors() {
    QPalette colors = palette();
    colors.setColor(QPalette::Window, Theme::mix(theme_.window, theme_.accent, 0.05));
    colors.setColor(QPalette::WindowText, theme_.text);
    setPalette(colors);
    colors.setColor(QPalette::WindowText, theme_.warning);
    doubts_->setPalette(colors);
    for (FindingButton* button : buttons_) button->setTheme(theme_);
    update();
}

void ExplanationCard::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.fillRect(rect(), palette().color(QPalette::Window));
    painter.fillRect(QRect(0, 0, barWidth, height()), theme_.accent);
    painter.fillRect(QRect(0, height() - 1, width(), 1), theme_.separator);
}

}  // namespace lanescope::views
