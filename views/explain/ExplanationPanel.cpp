// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/explain/ExplanationPanel.h"

#include <QApplication>
#include <QClipboard>
#include <QContextMenuEvent>
#include <QCoreApplication>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLocale>
#include <QMenu>
#include <QPainter>
#include <QScrollArea>
#include <QScrollBar>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>
#include <utility>

#include "model/text/formatValue.h"
#include "views/text/shownText.h"

namespace lanescope::views {

using namespace analysis;

namespace {

struct AboutRun {
    Q_DECLARE_TR_FUNCTIONS(AboutRun)
};

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
        return AboutRun::tr("; its GPU is idle %1 % of the time").arg(share, 0, 'f', 1);
    }
    return {};
}

/// Truncates the name: some programs put much data into the name of a range.
QString shortened(const QString& name) {
    constexpr qsizetype maximum = 60, end = 20;
    if (name.size() <= maximum) return name;
    return name.left(maximum - end) + QStringLiteral("…") + name.right(end);
}

}  // namespace

QString aboutRun(const ExplainedRun& run, const explain::Explanation& explanation) {
    if (!run.ranges) return {};
    return AboutRun::tr("%1 ranges \"%2\": median %3, longest %4, one every %5 in the median%6.")
        .arg(QLocale(QLocale::English).toString(qlonglong(run.ranges->count)),
             shortened(toQString(printable(run.ranges->name))), toQString(formatDuration(run.ranges->medianNs)),
             toQString(formatDuration(run.ranges->longestNs)), toQString(formatDuration(run.ranges->paceNs)),
             idleText(run.summary, explanation));
}

namespace {

constexpr int margin = 6;
constexpr int space = 10;  // between the gain and the sentence
constexpr int maxLines = 8;

}  // namespace

FindingButton::FindingButton(Gain gain, QString sentence, const QString& advice, QWidget* parent)
    : QAbstractButton(parent), gain_(std::move(gain)), sentence_(std::move(sentence)) {
    setFocusPolicy(Qt::StrongFocus);
    setCursor(Qt::PointingHandCursor);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    setAccessibleName(gain_.whole + QStringLiteral(": ") + sentence_);
    setAccessibleDescription(advice);
    setToolTip(plainToolTip(sentence_ + QLatin1Char('\n') + tr("Try: %1").arg(advice) + QLatin1Char('\n') +
                            tr("Click to see where it costs most.")));
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

QSize FindingButton::minimumSizeHint() const { return {120, heightOf(1)}; }

int FindingButton::heightOf(int lines) const { return lines * fontMetrics().height() + margin; }

int FindingButton::linesIn(int width) const { return static_cast<int>(linesOf(width, maxLines).size()); }

void FindingButton::setLines(int lines) {
    lines_ = lines;
    setFixedHeight(heightOf(lines));
    update();
}

const QString& FindingButton::gainIn(int width) const {
    const bool hasRoom = QFontMetrics(strong()).horizontalAdvance(gain_.whole) <= width;
    return hasRoom ? gain_.whole : gain_.brief;
}

/// Returns the lines: after the gain, then from the left edge.
QStringList FindingButton::linesOf(int width, int maximum) const {
    const int room = width - 2 * margin;
    const int gain = std::min(QFontMetrics(strong()).horizontalAdvance(gainIn(room)), room);
    return wrapWords(sentence_, fontMetrics(), {room, gain + space, maximum});
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
    QRect line(margin, (height() - lineHeight * static_cast<int>(lines.size())) / 2, width() - 2 * margin, lineHeight);
    painter.setFont(strong());
    painter.setPen(theme_.accent);
    const QString gain = painter.fontMetrics().elidedText(gainIn(line.width()), Qt::ElideRight, line.width());
    painter.drawText(line, Qt::AlignLeft | Qt::AlignVCenter, gain);
    const int indent = painter.fontMetrics().horizontalAdvance(gain) + space;
    painter.setFont(font());
    painter.setPen(theme_.text);
    for (qsizetype each = 0; each < lines.size(); ++each, line.translate(0, lineHeight))
        painter.drawText(line.adjusted(each == 0 ? indent : 0, 0, 0, 0), Qt::AlignLeft | Qt::AlignVCenter, lines[each]);
}

void FindingButton::keyPressEvent(QKeyEvent* event) {
    if (event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter) return click();
    // Buttons treat these keys like Tab, and the surrounding area scrolls.
    if (event->key() == Qt::Key_Down) return emit neighbourRequested(1);
    if (event->key() == Qt::Key_Up) return emit neighbourRequested(-1);
    QAbstractButton::keyPressEvent(event);
}

void FindingButton::enterEvent(QEnterEvent*) { update(); }

void FindingButton::leaveEvent(QEvent*) { update(); }

using namespace explain;

namespace {

constexpr int barWidth = 4;
constexpr int rowSpacing = 4;  // between a finding and its query

/// Returns, for example, "May save up to 12.345 ms per step (estimate)".
FindingButton::Gain gainText(const Explanation& explanation, const Finding& finding) {
    int64_t meanNs = 0;
    for (const WorkerParts& each : explanation.workers)
        if (each.worker == finding.worker) meanNs = each.meanNs;
    QString whole = ExplanationPanel::tr("May save up to %1 per step (estimate)");
    QString brief = ExplanationPanel::tr("Up to %1 per step (estimate)");
    if (explanation.what == "run") {
        whole = ExplanationPanel::tr("May save up to %1 of the run (estimate)");
        brief = ExplanationPanel::tr("Up to %1 of the run (estimate)");
    } else if (explanation.what == "request") {
        whole = ExplanationPanel::tr("May save up to %1 per request (estimate)");
        brief = ExplanationPanel::tr("Up to %1 per request (estimate)");
    }
    const QString time = toQString(DurationScale::ofStep(meanNs).text(finding.maxGainNs));
    return {whole.arg(time), brief.arg(time)};
}

}  // namespace

ExplanationPanel::ExplanationPanel(QWidget* parent)
    : QWidget(parent),
      sentence_(new WrappedLabel(this)),
      about_(new WrappedLabel(this)),
      caveats_(new WrappedLabel(this)),
      close_(new QToolButton(this)),
      lines_(new QWidget),
      rows_(new QVBoxLayout(lines_)),
      area_(new QScrollArea(this)) {
    build();
}

void ExplanationPanel::build() {
    setAccessibleName(tr("Findings about this run"));
    for (QLabel* label : {sentence_, about_, caveats_}) {
        label->setTextInteractionFlags(Qt::TextSelectableByMouse);
        label->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    }
    QFont strong = font();
    strong.setWeight(QFont::DemiBold);
    sentence_->setFont(strong);
    sentence_->setAccessibleName(tr("Where the time of a step goes"));
    about_->setAccessibleName(tr("Repeated work of the program"));
    caveats_->setAccessibleName(tr("Caveats of the explanation"));
    close_->setObjectName("close");
    close_->setAutoRaise(true);
    close_->setText(QStringLiteral("✕"));
    close_->setFocusPolicy(Qt::StrongFocus);
    close_->setToolTip(tr("Close this panel"));
    close_->setAccessibleName(tr("Close the explanation"));
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
    layout->addWidget(caveats_);
    layout->addWidget(area_);
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
    emit mutedChanged();
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

QString ExplanationPanel::sentence() const { return sentence_->text(); }

QString ExplanationPanel::about() const { return about_->text(); }

void ExplanationPanel::refresh() {
    explanation_ = run_ ? explain::explain(run_->summary, muted_) : Explanation();
    // Names of kernels and ranges come from untrusted files.
    sentence_->setText(toQString(printable(explanation_.sentence)));
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
    for (const Finding& finding : explanation_.findings) addLine(finding);
    area_->setVisible(!buttons_.empty());
    updateColors();
    updateHeight();
}

void ExplanationPanel::addLine(const Finding& finding) {
    auto* line = new QWidget(lines_);
    auto* layout = new QHBoxLayout(line);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(rowSpacing);
    auto* button = new FindingButton(gainText(explanation_, finding), toQString(printable(finding.sentence)),
                                     toQString(finding.advice), line);
    layout->addWidget(button, 1);
    const auto index = static_cast<int>(buttons_.size());
    buttons_.push_back(button);
    connect(button, &FindingButton::clicked, this, [this, index] {
        // A copy: a receiver may set another run on this card.
        const Finding activated = explanation_.findings[static_cast<size_t>(index)];
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
        query = new QToolButton(line);
        query->setText(tr("SQL"));
        query->setAutoRaise(true);
        query->setFocusPolicy(Qt::StrongFocus);
        query->setToolTip(tr("Open a query that shows it"));
        query->setAccessibleName(tr("Query that shows it"));
        connect(query, &QToolButton::clicked, this, [this, sql = toQString(finding.sql)] { emit queryRequested(sql); });
        layout->addWidget(query);
    }
    queries_.push_back(query);
    rows_->addWidget(line);
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
                       [button] { QApplication::clipboard()->setText(button->sentence()); });
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
    if (event->key() == Qt::Key_Escape) return emit closed();
    QWidget::keyPressEvent(event);
}

int ExplanationPanel::heightOfRow(size_t finding) const {
    const QToolButton* query = queries_[finding];
    return std::max(buttons_[finding]->height(), query ? query->sizeHint().height() : 0);
}

/// Divides the lines: the first finding is always shown in full. Without scrolling, each of the
/// others gets its share of the remaining lines; with scrolling, they are as long as needed.
void ExplanationPanel::shareLines(bool isScrolled) {
    int left = maxLines_ - static_cast<int>(buttons_.size());
    const QMargins margins = layout()->contentsMargins();
    const int bar = isScrolled ? area_->verticalScrollBar()->sizeHint().width() : 0;
    const int room = width() - margins.left() - margins.right() - bar;
    for (size_t index = 0; index < buttons_.size(); ++index) {
        const QToolButton* query = queries_[index];
        const int queryWidth = query ? query->sizeHint().width() + rowSpacing : 0;
        const int whole = buttons_[index]->linesIn(room - queryWidth);
        const bool isWhole = index == 0 || isScrolled;
        buttons_[index]->setLines(isWhole ? whole : std::clamp(whole, 1, 1 + std::max(0, left)));
        left -= buttons_[index]->lines() - 1;
    }
}

void ExplanationPanel::updateHeight() {
    if (buttons_.empty()) return;
    const bool isScrolled = static_cast<int>(buttons_.size()) > maxLines_;
    shareLines(isScrolled);
    int lines = 0, heightPx = 0;
    for (size_t index = 0; index < buttons_.size(); ++index) {
        if (isScrolled && index > 0 && lines + buttons_[index]->lines() > maxLines_) break;
        lines += buttons_[index]->lines();
        heightPx += heightOfRow(index);
    }
    area_->setFixedHeight(heightPx);
    area_->verticalScrollBar()->setSingleStep(heightOfRow(0));
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
