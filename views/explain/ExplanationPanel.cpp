// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/explain/ExplanationPanel.h"

#include <QApplication>
#include <QClipboard>
#include <QContextMenuEvent>
#include <QKeyEvent>
#include <QLocale>
#include <QMenu>
#include <QPainter>
#include <QScrollBar>
#include <algorithm>
#include <utility>

#include "model/analysis/shownNumbers.h"
#include "model/text/formatValue.h"
#include "model/text/knownRangeName.h"
#include "views/theme/layouts.h"
#include "views/theme/texts.h"

namespace lanescope::views {

using namespace analysis;
using namespace explain;

namespace {

QString idleText(const RunSummary& summary, const explain::Explanation& explanation) {
    for (const explain::WorkerParts& each : explanation.workers) {
        if (each.worker != summary.criticalWorker() || each.meanNs <= 0) continue;
        int64_t idleNs = 0;
        for (size_t index = 0; index < stepPartCount; ++index)
            if (const auto part = static_cast<StepPart>(index); isIdle(part)) idleNs += each.parts[part];
        // For a server, adds the time between its requests.
        const WorkerSummary& worker = summary.workers[each.worker];
        const auto steps = static_cast<int64_t>(worker.steps.size());
        const StepPauses& pauses = worker.pauses;
        const bool isServer = summary.kind == StepKind::Request;
        const double share = 100.0 * static_cast<double>(idleNs + (isServer ? pauses.idleNs / steps : 0)) /
                             static_cast<double>(each.meanNs + (isServer ? pauses.ns / steps : 0));
        return ExplanationPanel::tr("; its GPU is idle %1 % of the time").arg(share, 0, 'f', 1);
    }
    return {};
}

/// Truncates the name: some programs put much data into the name of a range.
QString shortened(const QString& name) {
    constexpr qsizetype maximum = 60, end = 20;
    if (name.size() <= maximum) return name;
    return name.left(maximum - end) + QStringLiteral("…") + name.right(end);
}

/// Describes the repeated work of a program that has no plain steps, such as the requests of a
/// server: count, duration, and the share of time in which its GPU is idle. Empty for ranges called
/// steps and without ranges. Contains names of the trace.
QString aboutRun(const ExplainedRun& run, const explain::Explanation& explanation) {
    if (!run.ranges) return {};
    const std::string known = knownRangeName(run.ranges->name);
    return ExplanationPanel::tr("%1 \u00d7 \"%2\": median %3, max %4, median interval %5%6.")
        .arg(QLocale(QLocale::English).toString(qlonglong(run.ranges->count)),
             shortened(toQString(printable(known.empty() ? run.ranges->name : known))),
             shortDuration(run.ranges->medianNs), shortDuration(run.ranges->longestNs),
             shortDuration(run.ranges->paceNs), idleText(run.summary, explanation));
}

constexpr int margin = 6;
constexpr int space = 10;      // between the gain and the words
constexpr int markWidth = 14;  // room of the mark that details can be opened

constexpr int barWidth = 4;
constexpr int rowSpacing = 4;  // between a finding and its query

/// Returns, for example, "≤ 12.3 ms (60.2 %)": the upper bound of the saving per step, and its share; for a forecast
/// without a sign, for an estimate with "≈".
QString gainText(const Finding& finding) {
    const bool isEstimated = !finding.saving && finding.forecastNs > 0;
    const int64_t ns = finding.saving ? finding.saving->ns : isEstimated ? finding.forecastNs : finding.maxGainNs;
    const double part = static_cast<double>(ns) / static_cast<double>(std::max<int64_t>(finding.maxGainNs, 1));
    const QString sign = finding.saving ? QString() : isEstimated ? QStringLiteral("≈ ") : QStringLiteral("≤ ");
    return ExplanationPanel::tr("%1%2 (%3 %)")
        .arg(sign, shortDuration(ns), toQString(percentText(100 * part * finding.share)));
}

/// Returns the text as HTML with its first sentence, the answer, in bold.
QString withStrongBeginning(const QString& text) {
    const qsizetype end = text.indexOf(QLatin1String(". "));
    const qsizetype strong = end < 0 ? text.size() : end + 1;
    return QStringLiteral("<span style=\"font-weight:600\">%1</span>%2")
        .arg(text.left(strong).toHtmlEscaped(), text.mid(strong).toHtmlEscaped());
}

/// Returns the details of a finding below its line.
QString detailsText(const Explanation& explanation, const Finding& finding) {
    const QString unit = explanation.what == "run" ? ExplanationPanel::tr("of the run")
                                                   : ExplanationPanel::tr("per %1").arg(toQString(explanation.what));
    const auto mean = std::ranges::find(explanation.workers, finding.worker, &WorkerParts::worker);
    const QString text = toQString(printable(finding.sentence)) +
                         (finding.code.empty() ? QString() : QLatin1Char('\n') + toQString(printable(finding.code)));
    if (finding.saving && mean != explanation.workers.end())
        return ExplanationPanel::tr("%1\nForecast: %2 \u00b1 %3 instead of %4 %5. Try: %6")
            .arg(text, shortDuration(mean->meanNs - finding.saving->ns), shortDuration(finding.saving->marginNs),
                 shortDuration(mean->meanNs), unit, toQString(finding.advice));
    return ExplanationPanel::tr("%1\nPotential saving: \u2264 %2 %3 (estimate). Try: %4")
        .arg(text, shortDuration(finding.maxGainNs), unit, toQString(finding.advice));
}

}  // namespace

FindingButton::FindingButton(Text text, QWidget* parent) : QAbstractButton(parent), text_(std::move(text)) {
    setFocusPolicy(Qt::StrongFocus);
    setCursor(Qt::PointingHandCursor);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    setAccessibleName(text_.gain + QStringLiteral(": ") + text_.brief);
    setAccessibleDescription(text_.sentence + QLatin1Char(' ') + text_.advice);
    setToolTip(plainToolTip(text_.sentence + QLatin1Char('\n') + tr("Try: %1").arg(text_.advice) + QLatin1Char('\n') +
                            tr("Click for details and to see it in a step, Escape to go back.")));
}

void FindingButton::setTheme(const Theme& theme) {
    theme_ = theme;
    update();
}

void FindingButton::setOpen(bool isOpen) {
    isOpen_ = isOpen;
    update();
}

QSize FindingButton::sizeHint() const {
    const int width = QFontMetrics(strong(font())).horizontalAdvance(text_.gain) +
                      fontMetrics().horizontalAdvance(text_.brief) + 2 * margin + space + markWidth;
    return {width, fontMetrics().height() + margin};
}

void FindingButton::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const bool isLit = underMouse() || hasFocus();
    if (isLit || isDown()) {
        painter.setPen(hasFocus() ? QPen(theme_.accent, 2) : QPen(Qt::NoPen));
        painter.setBrush(Theme::mix(theme_.window, theme_.accent, isDown() ? 0.18 : 0.08));
        painter.drawRoundedRect(QRectF(rect()).adjusted(1, 1, -1, -1), 4, 4);
    }
    // A triangle: to the right if closed, down if open.
    const QPointF middle(margin + markWidth / 2.0 - 2, height() / 2.0);
    const QPolygonF closed({middle + QPointF(-2, -4), middle + QPointF(2, 0), middle + QPointF(-2, 4)});
    const QPolygonF open({middle + QPointF(-4, -2), middle + QPointF(4, -2), middle + QPointF(0, 2)});
    painter.setPen(Qt::NoPen);
    painter.setBrush(theme_.mutedText);
    painter.drawPolygon(isOpen_ ? open : closed);
    QRect line(margin + markWidth, 0, width() - 2 * margin - markWidth, height());
    const auto write = [&](const QString& text, const QColor& color) {
        painter.setPen(color);
        const QString shown = painter.fontMetrics().elidedText(text, Qt::ElideRight, line.width());
        painter.drawText(line, Qt::AlignLeft | Qt::AlignVCenter, shown);
        line.setLeft(line.left() + painter.fontMetrics().horizontalAdvance(shown) + space);
    };
    painter.setFont(strong(font()));
    write(text_.gain, theme_.accent);
    painter.setFont(font());
    write(text_.brief, theme_.text);
}

void FindingButton::keyPressEvent(QKeyEvent* event) {
    if (event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter) return click();
    // Buttons treat these keys like Tab, and the surrounding area scrolls.
    if (event->key() == Qt::Key_Down) return emit neighbourRequested(1);
    if (event->key() == Qt::Key_Up) return emit neighbourRequested(-1);
    QAbstractButton::keyPressEvent(event);
}

ExplanationPanel::ExplanationPanel(QWidget* parent) : QWidget(parent), rows_(columnIn(lines_)) {
    setAccessibleName(tr("Findings about this run"));
    for (QLabel* label : {sentence_, about_, caveats_}) {
        label->setTextInteractionFlags(Qt::TextSelectableByMouse);
        label->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    }
    sentence_->setTextFormat(Qt::RichText);
    sentence_->setAccessibleName(tr("Where the time of a step goes"));
    about_->setAccessibleName(tr("Repeated work of the program"));
    caveats_->setAccessibleName(tr("Caveats of the explanation"));
    close_->setObjectName("close");
    close_->setAutoRaise(true);
    close_->setText(QStringLiteral("✕"));
    close_->setFocusPolicy(Qt::StrongFocus);
    close_->setToolTip(tr("Close this panel. F7 shows it again."));
    close_->setAccessibleName(tr("Close the explanation"));
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
    auto* layout = columnIn(this, {12, 4, 6, 4}, 1);
    layout->addLayout(top);
    addTo(layout, about_, caveats_, area_);
    connect(close_, &QToolButton::clicked, this, &ExplanationPanel::closed);
    refresh();
}

void ExplanationPanel::setRun(ExplainedRunPtr run) {
    run_ = std::move(run);
    refresh();
}

void ExplanationPanel::setMuted(MutedRules muted) {
    if (muted == muted_) return;
    muted_ = std::move(muted);
    refresh();
}

void ExplanationPanel::setTheme(const Theme& theme) {
    theme_ = theme;
    updateColors();
}

void ExplanationPanel::setShownCaveat(std::string doubt) {
    if (shownCaveat_ == doubt) return;
    shownCaveat_ = std::move(doubt);
    refresh();
}

void ExplanationPanel::setMaxLines(int lines) {
    maxLines_ = std::max(1, lines);
    updateHeight();
}

void ExplanationPanel::focusFirst() {
    QWidget* first = buttons_.empty() ? static_cast<QWidget*>(close_) : buttons_.front();
    first->setFocus(Qt::ShortcutFocusReason);
}

QString ExplanationPanel::sentence() const {
    const std::string compute = explanation_.compute.empty() ? "" : " " + explanation_.compute;
    return toQString(printable(explanation_.sentence + compute));
}

void ExplanationPanel::refresh() {
    explanation_ = run_ ? explain::explain(run_->summary, muted_) : Explanation();
    // Names of kernels and ranges come from untrusted files.
    sentence_->setText(withStrongBeginning(sentence()));
    // The steps that the sentence covers: useful, but not worth a line in every window.
    sentence_->setToolTip(plainToolTip(toQString(printable(explanation_.steps))));
    sentence_->setAccessibleDescription(toQString(printable(explanation_.steps)));
    about_->setText(run_ ? aboutRun(*run_, explanation_) : QString());
    about_->setVisible(!about_->text().isEmpty());
    QStringList caveats;
    for (const std::string& doubt : explanation_.caveats)
        if (doubt != shownCaveat_) caveats << toQString(printable(doubt));
    caveats_->setVisible(!caveats.isEmpty());
    if (!caveats.isEmpty())
        caveats_->setText(QStringLiteral("\u26a0 ") + caveats.front() +
                          (caveats.size() > 1 ? tr(" (%1 more)").arg(caveats.size() - 1) : QString()));
    caveats_->setToolTip(plainToolTip(caveats.join(QLatin1Char('\n'))));
    while (QLayoutItem* line = rows_->takeAt(0)) {
        // It may be the one whose menu is open.
        line->widget()->hide();
        line->widget()->deleteLater();
        delete line;
    }
    buttons_.clear();
    queries_.clear();
    details_.clear();
    open_.reset();
    for (const Finding& finding : explanation_.findings) addLine(finding);
    area_->setVisible(!buttons_.empty());
    updateColors();
    updateHeight();
}

void ExplanationPanel::addLine(const Finding& finding) {
    auto* line = new QWidget(lines_);
    auto* layout = rowIn(line, {}, rowSpacing);
    auto* button = new FindingButton({gainText(finding), toQString(finding.brief),
                                      toQString(printable(finding.sentence)), toQString(finding.advice)},
                                     line);
    layout->addWidget(button, 1);
    const auto index = static_cast<int>(buttons_.size());
    buttons_.push_back(button);
    connect(button, &FindingButton::clicked, this, [this, index] {
        // A copy: a receiver may set another run on this card.
        const Finding activated = explanation_.findings[static_cast<size_t>(index)];
        const auto finding = static_cast<size_t>(index);
        setOpen(open_ == finding ? std::nullopt : std::optional(finding));
        emit findingActivated(activated);
    });
    connect(button, &FindingButton::neighbourRequested, this, [this, index](int direction) {
        const int wanted = index + direction;
        if (wanted < 0 || wanted >= static_cast<int>(buttons_.size())) return;
        buttons_[static_cast<size_t>(wanted)]->setFocus(Qt::TabFocusReason);
    });
    button->setContextMenuPolicy(Qt::CustomContextMenu);
    connect(button, &QWidget::customContextMenuRequested, this,
            [this, index, button](QPoint place) { showMenu(index, button->mapToGlobal(place)); });
    QToolButton* query = nullptr;
    if (!finding.sql.empty()) {
        query = textButton(line, tr("SQL"), tr("Open a query that shows it"));
        query->setAutoRaise(true);
        query->setAccessibleName(tr("Query that shows it"));
        connect(query, &QToolButton::clicked, this, [this, sql = toQString(finding.sql)] { emit queryRequested(sql); });
        layout->addWidget(query);
    }
    queries_.push_back(query);
    rows_->addWidget(line);
    auto* details = new WrappedLabel(lines_);
    details->setText(detailsText(explanation_, finding));
    details->setTextInteractionFlags(Qt::TextSelectableByMouse);
    details->setContentsMargins(margin + markWidth, 0, margin, 4);
    details->hide();
    details_.push_back(details);
    rows_->addWidget(details);
}

void ExplanationPanel::setOpen(std::optional<size_t> finding) {
    open_ = finding;
    for (size_t index = 0; index < buttons_.size(); ++index) {
        buttons_[index]->setOpen(open_ == index);
        details_[index]->setVisible(open_ == index);
    }
    updateHeight();
}

void ExplanationPanel::showMenu(int finding, QPoint place) {
    QMenu menu(this);
    if (finding >= 0) {
        const auto index = static_cast<size_t>(finding);
        FindingButton* button = buttons_[index];
        const Rule* rule = explanation_.findings[index].rule;
        menu.addAction(tr("Show where it costs most"), button, &FindingButton::click);
        if (queries_[index]) menu.addAction(tr("Open the SQL query"), queries_[index], &QToolButton::click);
        menu.addAction(tr("Copy the sentence"), this,
                       [button] { QApplication::clipboard()->setText(button->text().sentence); });
        menu.addSeparator();
        menu.addAction(tr("Ignore the rule %1").arg(toQString(rule->id)), this, [this, rule] {
            MutedRules muted = muted_;
            muted.insert(rule);
            setMuted(std::move(muted));
        });
    }
    QAction* all = menu.addAction(tr("Show findings of all rules"), this, [this] { setMuted({}); });
    all->setEnabled(!muted_.empty());
    menu.addAction(tr("Close this panel"), this, &ExplanationPanel::closed);
    menu.exec(place);
}

void ExplanationPanel::contextMenuEvent(QContextMenuEvent* event) { showMenu(-1, event->globalPos()); }

void ExplanationPanel::keyPressEvent(QKeyEvent* event) {
    if (event->key() == Qt::Key_Escape) return emit undoRequested();
    QWidget::keyPressEvent(event);
}

int ExplanationPanel::heightOfRow(size_t finding) const {
    const QToolButton* query = queries_[finding];
    int height = std::max(buttons_[finding]->sizeHint().height(), query ? query->sizeHint().height() : 0);
    const QMargins margins = layout()->contentsMargins();
    const int room = width() - margins.left() - margins.right() - area_->verticalScrollBar()->sizeHint().width();
    if (open_ == finding) height += details_[finding]->heightForWidth(room);
    return height;
}

/// The first findings are visible, and the details of an open one in addition.
void ExplanationPanel::updateHeight() {
    if (buttons_.empty()) return;
    int heightPx = 0;
    for (size_t index = 0; index < buttons_.size(); ++index)
        if (static_cast<int>(index) < maxLines_ || open_ == index) heightPx += heightOfRow(index);
    area_->setFixedHeight(heightPx);
    area_->verticalScrollBar()->setSingleStep(buttons_.front()->sizeHint().height());
}

void ExplanationPanel::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    updateHeight();
}

void ExplanationPanel::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() == QEvent::FontChange || event->type() == QEvent::StyleChange) updateHeight();
}

void ExplanationPanel::updateColors() {
    QPalette colors = palette();
    colors.setColor(QPalette::Window, Theme::mix(theme_.window, theme_.accent, 0.05));
    colors.setColor(QPalette::WindowText, theme_.text);
    setPalette(colors);
    colors.setColor(QPalette::WindowText, theme_.warning);
    caveats_->setPalette(colors);
    for (FindingButton* button : buttons_) button->setTheme(theme_);
    update();
}

void ExplanationPanel::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.fillRect(rect(), palette().color(QPalette::Window));
    painter.fillRect(QRect(0, 0, barWidth, height()), theme_.accent);
    painter.fillRect(QRect(0, height() - 1, width(), 1), theme_.separator);
}

}  // namespace lanescope::views
