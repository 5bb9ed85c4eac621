// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/viewer/Finder.h"

#include <QAction>
#include <QKeyEvent>
#include <QMenu>
#include <QPainter>
#include <QPointer>
#include <QStyledItemDelegate>
#include <algorithm>

#include "app/viewer/ViewerActions.h"
#include "model/format/text.h"
#include "views/jobs/LatestJob.h"
#include "views/text/shownText.h"
#include "views/theme/layouts.h"
#include "views/timeline/TimelineView.h"

namespace lanescope::viewer {

namespace {

void addMenu(std::vector<FinderEntry>& entries, const QMenu& menu, const QString& title) {
    for (QAction* action : menu.actions()) {
        if (action->isSeparator() || !action->isEnabled() || action->text().isEmpty()) continue;
        if (const QMenu* inner = action->menu()) {
            addMenu(entries, *inner, title + " › " + commandName(inner->title()));
            continue;
        }
        const QPointer<QAction> safe(action);
        entries.push_back(
            {commandName(action->text()), title, action->shortcut().toString(QKeySequence::NativeText), [safe] {
                 if (safe) safe->trigger();
             }});
    }
}

QString kindOf(TrackKind kind) {
    switch (kind) {
        case TrackKind::Gpu: return QStringLiteral("GPU");
        case TrackKind::Stream: return QStringLiteral("stream");
        case TrackKind::Process: return QStringLiteral("process");
        case TrackKind::Thread: return QStringLiteral("thread");
        case TrackKind::Counter: return QStringLiteral("counter");
        case TrackKind::StreamProjection:
        case TrackKind::ThreadNvtx:
        case TrackKind::ThreadApi:
        case TrackKind::ThreadStates:
        case TrackKind::ThreadStacks:
        case TrackKind::CounterStates:
        case TrackKind::CounterGroup:
        case TrackKind::GpuEvents:
        case TrackKind::ProcessEvents: break;
    }
    return QStringLiteral("track");
}

/// A limit for names such as "step 1" to "step 1000000"; longer lists are not read.
constexpr size_t maxNames = 200'000;

constexpr int distanceFromTop = 88;  // below the tool bar
constexpr int margin = 16;

/// Names matched before the finder handles other events: a few milliseconds of work.
constexpr size_t namesAtOnce = 20'000;
/// If a command and a name match equally, the command is more likely.
constexpr int entryAdvantage = 30;

constexpr int inset = 12;
constexpr int gap = 16;

/// Paints a row of the finder: the name, its kind, and its keys at the right; elided instead of clipped.
class FinderDelegate : public QStyledItemDelegate {
  public:
    using QStyledItemDelegate::QStyledItemDelegate;

    void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override {
        const bool isSelected = option.state & QStyle::State_Selected;
        if (isSelected) painter->fillRect(option.rect, option.palette.highlight());
        const QColor strong = option.palette.color(isSelected ? QPalette::HighlightedText : QPalette::Text);
        const QColor quiet = isSelected ? strong : option.palette.color(QPalette::PlaceholderText);
        const QFontMetrics metrics(option.font);
        QRect area = option.rect.adjusted(inset, 0, -inset, 0);
        painter->setFont(option.font);
        const auto putRight = [&](const QString& text) {
            if (text.isEmpty()) return;
            const int width = std::min(metrics.horizontalAdvance(text) + 2, area.width() / 3);
            painter->setPen(quiet);
            painter->drawText(QRect(area.right() - width, area.top(), width + 1, area.height()),
                              Qt::AlignVCenter | Qt::AlignRight, metrics.elidedText(text, Qt::ElideRight, width));
            area.setRight(area.right() - width - gap);
        };
        putRight(index.data(FinderModel::KeyRole).toString());
        putRight(index.data(FinderModel::DetailRole).toString());
        painter->setPen(strong);
        painter->drawText(area, Qt::AlignVCenter | Qt::AlignLeft,
                          metrics.elidedText(index.data().toString(), Qt::ElideMiddle, area.width()));
    }

    QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex&) const override {
        return {200, QFontMetrics(option.font).height() + 8};
    }
};

}  // namespace

QString commandName(const QString& text) { return QString(text).remove('&').remove(QStringLiteral("…")); }

std::vector<FinderEntry> commandEntries(const ViewerActions& actions) {
    std::vector<FinderEntry> entries;
    for (const QMenu* menu : actions.menus()) addMenu(entries, *menu, commandName(menu->title()));
    return entries;
}

void addTrackEntries(std::vector<FinderEntry>& entries, views::TimelineView& timeline) {
    if (!timeline.trace()) return;
    const std::vector<Track>& tracks = timeline.trace()->tracks;
    const QPointer<views::TimelineView> safe(&timeline);
    for (uint32_t track = 0; track < tracks.size(); ++track) {
        // The names of the groups around it distinguish one stream 7 from the other.
        QString detail = kindOf(tracks[track].kind);
        const int32_t parent = tracks[track].parent;
        if (parent >= 0 && static_cast<uint32_t>(parent) < track)
            detail += " · " + views::toQString(tracks[parent].title).simplified();
        QString text = views::toQString(tracks[track].title).simplified();
        if (!tracks[track].subtitle.empty()) text += ", " + views::toQString(tracks[track].subtitle).simplified();
        entries.push_back({text, detail, {}, [safe, track, trace = timeline.trace()] {
                               if (safe && safe->trace() == trace) safe->flashTrack(track);
                           }});
    }
}

FinderNames distinctNames(const Trace& trace) {
    FinderNames result;
    std::vector<bool> isTaken(trace.strings.size(), false);
    const auto add = [&](StringIndex index, const char* kind) {
        if (index == 0 || index >= isTaken.size() || isTaken[index]) return;
        if (result.names.size() == maxNames) return;
        isTaken[index] = true;
        result.names.push_back({std::string(trace.strings.at(index)), kind});
    };
    for (size_t config = 0; config < trace.launchConfigs.size(); ++config)
        add(trace.launchConfigs.shortName(config), QT_TRANSLATE_NOOP("FinderModel", "kernel"));
    for (uint32_t row = 0; row < trace.nvtx.size(); ++row)
        add(trace.nvtx.text[row], QT_TRANSLATE_NOOP("FinderModel", "NVTX range"));
    for (uint32_t row = 0; row < trace.apiCalls.size(); ++row)
        add(trace.apiCalls.name[row], QT_TRANSLATE_NOOP("FinderModel", "CUDA API call"));
    result.lowered.reserve(result.names.size());
    for (const FinderNames::Name& name : result.names) result.lowered.push_back(lowerCase(name.text));
    return result;
}

NameCatalog::NameCatalog(QObject* parent) : QObject(parent), job_(new views::LatestJob(this)) {}

void NameCatalog::request(const TracePtr& trace, std::function<void(const Names&)> use) {
    if (!trace) return;
    if (names_ && trace_.lock() == trace) return use(names_);
    job_->start([this, trace, use = std::move(use)]() -> views::LatestJob::Publish {
        auto names = std::make_shared<const FinderNames>(distinctNames(*trace));
        return [this, trace, use, names] {
            trace_ = trace;
            names_ = names;
            use(names);
        };
    });
}

PopupPanel::PopupPanel(QWidget* parent) : QFrame(parent), edit_(new QLineEdit(this)) {
    setObjectName("popupCard");
    edit_->installEventFilter(this);
    parent->installEventFilter(this);
    hide();
}

void PopupPanel::popUp() {
    edit_->clear();
    place();
    show();
    raise();
    edit_->setFocus(Qt::PopupFocusReason);
}

void PopupPanel::dismiss() {
    if (isHidden()) return;
    hide();
    emit dismissed();
}

void PopupPanel::place() {
    const QSize space = parentWidget()->size() - QSize(2 * margin, distanceFromTop + margin);
    const QSize size = preferredSize().boundedTo(space);
    setGeometry((parentWidget()->width() - size.width()) / 2, distanceFromTop, size.width(), size.height());
}

bool PopupPanel::eventFilter(QObject* watched, QEvent* event) {
    if (watched == parentWidget() && event->type() == QEvent::Resize && isVisible()) place();
    if (watched != edit_) return QFrame::eventFilter(watched, event);
    if (event->type() == QEvent::FocusOut && isVisible()) {
        const auto reason = static_cast<QFocusEvent*>(event)->reason();
        if (reason != Qt::PopupFocusReason && reason != Qt::ActiveWindowFocusReason) hide();
    }
    // Keys for the line must not trigger commands of the window.
    if (event->type() == QEvent::ShortcutOverride) {
        const int key = static_cast<QKeyEvent*>(event)->key();
        if (key == Qt::Key_Escape || key == Qt::Key_Return || key == Qt::Key_Enter) event->accept();
    }
    if (event->type() != QEvent::KeyPress) return QFrame::eventFilter(watched, event);
    const int key = static_cast<QKeyEvent*>(event)->key();
    if (key == Qt::Key_Escape) {
        dismiss();
        return true;
    }
    if (key == Qt::Key_Return || key == Qt::Key_Enter) {
        accept();
        return true;
    }
    return pressKey(key) || QFrame::eventFilter(watched, event);
}

FinderModel::FinderModel(QObject* parent) : QAbstractListModel(parent), more_(new QTimer(this)) {
    more_->setSingleShot(true);
    connect(more_, &QTimer::timeout, this, &FinderModel::matchNames);
}

void FinderModel::setEntries(std::vector<FinderEntry> entries) {
    beginResetModel();
    entries_ = std::move(entries);
    lowered_.clear();
    for (const FinderEntry& entry : entries_)
        lowered_.push_back(lowerCase((entry.text + ' ' + entry.detail).toStdString()));
    names_.reset();
    matches_.clear();
    endResetModel();
}

void FinderModel::setNames(std::shared_ptr<const FinderNames> names, std::function<void(const QString&)> search) {
    names_ = std::move(names);
    search_ = std::move(search);
    nextName_ = 0;
    if (!pattern_.isEmpty()) more_->start(0);
}

void FinderModel::setText(const QString& text) {
    pattern_ = views::FuzzyPattern(text.toStdString());
    matchEntries();
    nextName_ = 0;
    more_->stop();
    if (pattern_.isEmpty() || !names_) return emit updated();
    matchNames();
}

void FinderModel::matchEntries() {
    beginResetModel();
    matches_.clear();
    endResetModel();
    std::vector<Match> found;
    for (size_t i = 0; i < entries_.size(); ++i) {
        const int score = pattern_.isEmpty() ? 1 : pattern_.score(lowered_[i]);
        if (score > 0) found.push_back({score + entryAdvantage, i});
    }
    add(std::move(found));
}

void FinderModel::matchNames() {
    const size_t count = names_ ? names_->names.size() : 0;
    const size_t end = std::min(count, nextName_ + namesAtOnce);
    std::vector<Match> found;
    for (; nextName_ < end; ++nextName_) {
        const int score = pattern_.score(names_->lowered[nextName_]);
        if (score > 0) found.push_back({score, entries_.size() + nextName_});
    }
    add(std::move(found));
    if (nextName_ < count) more_->start(0);
    emit updated();
}

void FinderModel::add(std::vector<Match> found) {
    if (found.empty()) return;
    beginResetModel();
    matches_.insert(matches_.end(), found.begin(), found.end());
    const auto isBetter = [](const Match& one, const Match& other) {
        return one.score != other.score ? one.score > other.score : one.index < other.index;
    };
    const size_t kept = std::min(matches_.size(), maxShown);
    std::partial_sort(matches_.begin(), matches_.begin() + static_cast<std::ptrdiff_t>(kept), matches_.end(), isBetter);
    matches_.resize(kept);
    endResetModel();
}

void FinderModel::activate(const QModelIndex& index) const {
    if (!index.isValid() || index.row() >= rowCount()) return;
    const size_t at = matches_[static_cast<size_t>(index.row())].index;
    // Copies: the action may change the entries of the model.
    if (at < entries_.size()) {
        const auto action = entries_[at].action;
        if (action) action();
    } else if (search_) {
        const auto search = search_;
        search(views::toQString(names_->names[at - entries_.size()].text));
    }
}

int FinderModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(matches_.size());
}

QVariant FinderModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid() || index.row() >= rowCount()) return {};
    const size_t at = matches_[static_cast<size_t>(index.row())].index;
    const bool isEntry = at < entries_.size();
    const auto* name = isEntry ? nullptr : &names_->names[at - entries_.size()];
    const QString text = isEntry ? entries_[at].text : views::toQString(name->text).simplified();
    const QString detail = isEntry ? entries_[at].detail : tr(name->kind);
    switch (role) {
        case Qt::DisplayRole: return text;
        case DetailRole: return detail;
        case KeyRole: return isEntry ? entries_[at].key : QString();
        case Qt::AccessibleTextRole:
            return text + ", " + detail +
                   (isEntry && !entries_[at].key.isEmpty() ? ", " + entries_[at].key : QString());
        default: return {};
    }
}

Finder::Finder(QWidget* parent) : PopupPanel(parent) {
    setAccessibleName(tr("Find a command, a track or a name"));
    edit().setPlaceholderText(tr("Command, track, kernel, range"));
    edit().setAccessibleName(tr("Find a command, a track or a name"));
    list_->setModel(model_);
    list_->setItemDelegate(new FinderDelegate(list_));
    list_->setAccessibleName(tr("Results"));
    list_->setFocusPolicy(Qt::NoFocus);
    list_->setUniformItemSizes(true);
    list_->setFrameShape(QFrame::NoFrame);
    list_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    list_->setEditTriggers(QAbstractItemView::NoEditTriggers);
    remark_->setForegroundRole(QPalette::PlaceholderText);
    remark_->setContentsMargins(12, 4, 12, 4);
    views::addTo(views::columnIn(this, {8, 8, 8, 8}, 6), &edit(), views::Filling{list_}, remark_);
    connect(&edit(), &QLineEdit::textChanged, model_, &FinderModel::setText);
    connect(model_, &FinderModel::updated, this, &Finder::followModel);
    connect(list_, &QListView::clicked, this, &Finder::choose);
}

void Finder::popUp() {
    PopupPanel::popUp();
    model_->setText({});
}

void Finder::followModel() {
    // Enter chooses the best match until the user selects another.
    if (model_->rowCount() > 0) list_->setCurrentIndex(model_->index(0));
    const bool isEmpty = model_->rowCount() == 0;
    remark_->setText(isEmpty && !model_->isSearching() ? tr("No name matches.")
                                                       : tr("↑ ↓ choose   Enter go   Esc close"));
}

void Finder::accept() { choose(list_->currentIndex()); }

void Finder::choose(const QModelIndex& index) {
    if (!index.isValid()) return;
    // Closed first: the command may set the keyboard focus.
    const QPersistentModelIndex chosen(index);
    dismiss();
    model_->activate(chosen);
}

bool Finder::pressKey(int key) {
    const int page = std::max(1, list_->height() / std::max(1, list_->sizeHintForRow(0)) - 1);
    int step = 0;
    if (key == Qt::Key_Down) step = 1;
    if (key == Qt::Key_Up) step = -1;
    if (key == Qt::Key_PageDown) step = page;
    if (key == Qt::Key_PageUp) step = -page;
    if (step == 0 || model_->rowCount() == 0) return step != 0;
    const int row = std::clamp(list_->currentIndex().row() + step, 0, model_->rowCount() - 1);
    list_->setCurrentIndex(model_->index(row));
    return true;
}

QSize Finder::preferredSize() const {
    const int line = fontMetrics().height();
    return {std::max(640, 40 * line), 16 * (line + 8) + 4 * line};
}

}  // namespace lanescope::viewer
