// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/flame/FlamePanel.h"

#include <QAction>
#include <QApplication>
#include <QClipboard>
#include <QLocale>
#include <QMouseEvent>
#include <QPainter>
#include <QStringList>
#include <QTimer>
#include <algorithm>

#include "views/theme/layouts.h"

namespace lanescope::views {
namespace {

constexpr int left = 8;
constexpr int maxCrumbWidth = 260;  // pixels

QString divider() { return QStringLiteral(" › "); }

constexpr int maxSearchWidth = 260;  // pixels
constexpr int sentenceMs = 8'000;

std::string textFrom(const std::function<void(const TextSink&)>& write) {
    std::string text;
    write([&text](std::string_view piece) {
        text += piece;
        return true;
    });
    return text;
}

}  // namespace

FlameTrail::FlameTrail(QWidget* parent) : PaintedWidget(parent) {
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

/// Lays out the outermost frame and as many of the innermost as fit.
void FlameTrail::layOut() {
    crumbs_.clear();
    update();
    if (!tree_) return;
    const std::vector<uint32_t> path = tree_->pathTo(node_);
    const QFontMetrics metrics = fontMetrics();
    const auto crumbOf = [&](uint32_t node) {
        return Crumb{node, metrics.elidedText(toQString(tree_->nameOf(node)), Qt::ElideRight, maxCrumbWidth), {}};
    };
    const int between = metrics.horizontalAdvance(divider());
    const auto widthOf = [&](const Crumb& crumb) { return metrics.horizontalAdvance(crumb.text) + between; };
    const Crumb omitted{noIndex, QStringLiteral("…"), {}};
    int room = width() - left - widthOf(crumbOf(0)) - widthOf(omitted);
    std::vector<Crumb> inner;
    for (size_t place = path.size(); place-- > 1;) {
        Crumb crumb = crumbOf(path[place]);
        // The innermost is always shown, also in a narrow window.
        if (inner.empty() && widthOf(crumb) > room)
            crumb.text = metrics.elidedText(crumb.text, Qt::ElideRight, std::max(40, room));
        else if (widthOf(crumb) > room)
            break;
        room -= widthOf(crumb);
        inner.push_back(std::move(crumb));
    }
    crumbs_.push_back(crumbOf(0));
    if (inner.size() + 1 < path.size()) crumbs_.push_back(omitted);
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
        painter.setPen(crumb.node == noIndex ? theme_.mutedText : isHere ? theme_.text : theme_.accent);
        painter.drawText(crumb.area, Qt::AlignLeft | Qt::AlignVCenter | Qt::TextSingleLine, crumb.text);
        if (index + 1 == crumbs_.size()) continue;
        painter.setPen(theme_.mutedText);
        painter.drawText(QRect(crumb.area.right() + 1, 0, maxCrumbWidth, height()),
                         Qt::AlignLeft | Qt::AlignVCenter | Qt::TextSingleLine, divider());
    }
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

std::optional<QString> FlameTrail::toolTipAt(QPoint position) const {
    const Crumb* crumb = crumbAt(position);
    return crumb ? plainToolTip(toQString(tree_->nameOf(crumb->node))) : QString();
}

FlamePanel::FlamePanel(QWidget* parent) : ScopedPanel(parent) {
    connect(job(), &LatestJob::ranOutOfMemory, this, [this] {
        showTree(nullptr);
        empty_->setText(tr("There is not enough memory to add up these stacks."));
    });
    empty_->setAlignment(Qt::AlignCenter);
    empty_->setForegroundRole(QPalette::PlaceholderText);
    empty_->setContentsMargins(24, 8, 24, 8);
    remark_->setTextFormat(Qt::PlainText);
    remark_->setForegroundRole(QPalette::PlaceholderText);
    remark_->setContentsMargins(8, 0, 8, 0);
    auto* layout = columnIn(this);
    layout->addWidget(makeControls());
    auto* line = rowIn(nullptr);
    addTo(line, Filling{trail_}, remark_);
    layout->addLayout(line);
    pages_->addWidget(chart_);
    pages_->addWidget(empty_);
    layout->addLayout(pages_, 1);
    connect(trail_, &FlameTrail::frameChosen, chart_, &FlameChart::zoomTo);
    connect(chart_, &FlameChart::zoomed, this, [this] { trail_->setPlace(chart_->tree(), chart_->root()); });
    connect(chart_, &FlameChart::copyRequested, this, &FlamePanel::copyFrame);
    connect(chart_, &FlameChart::menuRequested, this, [this](quint32 node, QPoint at) {
        QMenu* menu = menuFor(node);
        menu->setAttribute(Qt::WA_DeleteOnClose);
        menu->popup(at);
    });
}

QWidget* FlamePanel::makeControls() {
    auto* controls = new QWidget(this);
    auto* row = rowIn(controls, {8, 4, 8, 2}, -1);
    baseChoice_ = new DropDown(controls);
    baseChoice_->setObjectName("base");
    baseChoice_->setAccessibleName(tr("Grouping of the time"));
    baseChoice_->setToolTip(tr("Group GPU work by"));
    baseChoice_->addItems({tr("Python lines"), tr("Python functions"), tr("Steps and ranges"), tr("Modules")});
    makeScopeChoice(controls);
    searchEdit_ = new QLineEdit(controls);
    searchEdit_->setPlaceholderText(tr("Find frames"));
    searchEdit_->setAccessibleName(tr("Find frames by a part of their name"));
    searchEdit_->setMaximumWidth(maxSearchWidth);
    QAction* clear = searchEdit_->addAction(tr("Clear the search"), Qt::Key_Escape, this, [this] {
        searchEdit_->clear();
        chart_->setFocus();
    });
    clear->setShortcutContext(Qt::WidgetShortcut);
    auto* copy = textButton(controls, tr("Copy"), tr("The visible part as folded text"));
    auto* picture = textButton(controls, tr("Save as SVG…"), tr("The visible part as a picture"));
    auto* folded = textButton(controls, tr("Folded text…"), tr("The visible part for other flame graphs"));
    addTo(row, baseChoice_, scopeChoice_, Filling{searchEdit_});
    row->addStretch();
    outputs_ = {copy, picture, folded};
    for (QToolButton* button : outputs_) row->addWidget(button);
    connect(baseChoice_, &QComboBox::currentIndexChanged, this, &FlamePanel::invalidate);
    connect(searchEdit_, &QLineEdit::textChanged, this, &FlamePanel::search);
    connect(searchEdit_, &QLineEdit::returnPressed, chart_, qOverload<>(&QWidget::setFocus));
    connect(copy, &QToolButton::clicked, this, &FlamePanel::copyFolded);
    connect(picture, &QToolButton::clicked, this, [this] { emit fileRequested(true); });
    connect(folded, &QToolButton::clicked, this, [this] { emit fileRequested(false); });
    return controls;
}

void FlamePanel::setTrace(TracePtr trace) {
    const bool isFirst = trace_ == nullptr;
    ScopedPanel::setTrace(std::move(trace));
    const bool isDefaultEmpty = isFirst && trace_ && !hasBase(*trace_, base());
    if (isDefaultEmpty && hasBase(*trace_, FlameBase::Ranges)) setBase(FlameBase::Ranges);
}

void FlamePanel::setTheme(const Theme& theme) {
    theme_ = theme;
    chart_->setTheme(theme);
    trail_->setTheme(theme);
}

void FlamePanel::refresh(LatestJob::Older older) {
    if (!trace_) return showTree(nullptr);
    job()->start(
        [this, trace = trace_, base = base(), range = scopeChoice_->counted()]() -> LatestJob::Publish {
            FlameTreePtr tree;
            if (hasBase(*trace, base))
                tree = freedInBackground(std::make_shared<const FlameTree>(makeFlame(*trace, base, range)));
            // Only the GUI thread uses `this`; the job has checked there that it is alive.
            return [this, tree] { showTree(tree); };
        },
        older);
}

void FlamePanel::showTree(FlameTreePtr tree) {
    chart_->setTree(std::move(tree));
    const bool isEmpty = !chart_->tree() || chart_->tree()->isEmpty();
    if (isEmpty) showWhyEmpty();
    pages_->setCurrentWidget(isEmpty ? static_cast<QWidget*>(empty_) : chart_);
    trail_->setVisible(!isEmpty);
    for (QToolButton* button : outputs_) button->setEnabled(!isEmpty);
    search();
    settle();
}

void FlamePanel::showWhyEmpty() {
    QString text;
    if (!trace_) {
        text = tr("No trace.");
    } else if (chart_->tree()) {
        text = scopeChoice_->counted() ? tr("Nothing ran on a GPU in this range.") : tr("No GPU work was recorded.");
    } else if (base() == FlameBase::Ranges) {
        text =
            tr("No NVTX ranges in this trace. Mark the program's steps and layers with NVTX, or with lanescope.range "
               "in Python.");
        if (hasBase(*trace_, FlameBase::Lines))
            text += QLatin1Char(' ') + tr("Python stacks are there: choose them above.");
    } else if (base() == FlameBase::Modules) {
        text =
            tr("No modules of a PyTorch model in this trace. Record the program with “lanescope record”, or mark the "
               "modules with lanescope.torch.annotate.");
    } else {
        text =
            tr("No Python stacks in this trace: recorded with --no-python, of a program without Python, or not by "
               "Lanescope. Record the program with “lanescope record” to see which lines the time of GPUs goes to.");
        if (hasBase(*trace_, FlameBase::Ranges))
            text += QLatin1Char(' ') + tr("Steps and ranges are there: choose them above.");
    }
    empty_->setText(text);
}

void FlamePanel::search() {
    const QString text = searchEdit_->text().trimmed();
    const FlameTreePtr& tree = chart_->tree();
    isSearched_ = !text.isEmpty() && tree != nullptr;
    matches_ = {};
    if (isSearched_) {
        const auto isMatch = [&text](std::string_view name) {
            return toQString(name).contains(text, Qt::CaseInsensitive);
        };
        matches_ = matchFrames(*tree, isMatch);
    }
    chart_->setMatches(matches_);
    showRemark();
}

void FlamePanel::showRemark() {
    const FlameTreePtr& tree = chart_->tree();
    if (!tree || tree->isEmpty())
        remark_->clear();
    else if (isSearched_)
        remark_->setText(textOf(*tree, matches_));
    else
        remark_->setText(tr("%1 on GPUs, %2 frames")
                             .arg(shortDuration(tree->totalNs()),
                                  QLocale(QLocale::English).toString(qulonglong(tree->nodes().size() - 1))));
}

void FlamePanel::showMessage(const QString& sentence) {
    remark_->setText(fontMetrics().elidedText(sentence, Qt::ElideMiddle, width() / 2));
    remark_->setToolTip(sentence);
    QTimer::singleShot(sentenceMs, this, [this] {
        remark_->setToolTip({});
        showRemark();
    });
}

std::string FlamePanel::svg() const {
    const FlameTreePtr& tree = chart_->tree();
    if (!tree || tree->isEmpty()) return {};
    const std::string title =
        trace_->title + ": " + std::string(describe(base())) + ", " + scopeChoice_->remark().toStdString();
    return textFrom([&](const TextSink& sink) { writeFlameSvg(*tree, chart_->root(), title, sink); });
}

std::string FlamePanel::folded() const {
    const FlameTreePtr& tree = chart_->tree();
    if (!tree) return {};
    return textFrom([&](const TextSink& sink) { writeFolded(*tree, chart_->root(), sink); });
}

void FlamePanel::copyFrame() {
    const FlameTreePtr& tree = chart_->tree();
    if (!tree) return;
    const uint32_t node = chart_->current() == noIndex ? chart_->root() : chart_->current();
    QApplication::clipboard()->setText(stackOf(*tree, node));
}

void FlamePanel::copyFolded() { QApplication::clipboard()->setText(toQString(folded())); }

QMenu* FlamePanel::menuFor(uint32_t node) {
    auto* menu = new QMenu(this);
    const FlameTreePtr tree = chart_->tree();
    const auto add = [&](const QString& text, bool isPossible, auto action) {
        menu->addAction(text, this, action)->setEnabled(isPossible);
    };
    add(tr("Zoom into this frame"), node != chart_->root(), [this, node] { chart_->zoomTo(node); });
    add(tr("Up to the frame around"), chart_->root() != 0, [this] { chart_->goUp(); });
    add(tr("Show all"), chart_->root() != 0, [this] { chart_->zoomTo(0); });
    menu->addSeparator();
    const QString wanted = searchFor(*trace_, *tree, node, base() == FlameBase::Lines);
    add(tr("Find on the timeline"), !wanted.isEmpty(), [this, wanted] { emit nameActivated(wanted); });
    const QString name = toQString(tree->nameOf(node));
    add(tr("Find all frames of this name"), node != 0, [this, name] { searchEdit_->setText(name); });
    menu->addSeparator();
    add(tr("Copy the frame and what led to it"), true, [this, node] {
        chart_->setCurrent(node);
        copyFrame();
    });
    add(tr("Copy what is shown as folded text"), true, [this] { copyFolded(); });
    add(tr("Save as SVG…"), true, [this] { emit fileRequested(true); });
    add(tr("Save as folded text…"), true, [this] { emit fileRequested(false); });
    return menu;
}

}  // namespace lanescope::views
