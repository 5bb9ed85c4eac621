// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/viewer/HitNavigator.h"

#include <QElapsedTimer>
#include <QKeyEvent>
#include <QLocale>
#include <QSignalBlocker>
#include <algorithm>
#include <functional>
#include <limits>
#include <optional>
#include <ranges>
#include <utility>

#include "app/viewer/windowStyle.h"
#include "views/jobs/LatestJob.h"
#include "views/text/shownText.h"
#include "views/theme/layouts.h"

namespace lanescope::viewer {

namespace {

/// Delay of the search after a keystroke: long enough to type the next letter, short enough to feel immediate.
constexpr int typingPauseMs = 120;
/// Width of the text next to the box, in pixels.
constexpr int maxCountWidth = 320;
/// Width of the box, in pixels, and in characters of a larger font.
constexpr int maxEditWidth = 320, maxEditCharacters = 34;

/// Reported before the end; enough for many steps.
constexpr size_t maxFirstHits = 4096;
constexpr qint64 countPeriodMs = 100;
constexpr int64_t earliestNs = std::numeric_limits<int64_t>::min();
constexpr int64_t latestNs = std::numeric_limits<int64_t>::max();

/// Returns the start of the steady steps on the shared axis; nullopt if unknown.
std::optional<int64_t> steadyStartNs(const views::TimelineView& timeline) {
    if (!timeline.state().range().defaultRange()) return std::nullopt;
    return timeline.state().range().defaultRange()->startNs - timeline.state().range().origin();
}

/// Returns where the search begins: at the visible range, or at the steady steps if that contains
/// much more, to skip the warm-up.
int64_t searchStartNs(const views::TimelineView& timeline) {
    const TimeRange visible = timeline.state().range().axis().range();
    const auto steadyNs = steadyStartNs(timeline);
    const bool isWide = steadyNs && visible.durationNs() / 2 > timeline.state().range().defaultRange()->durationNs();
    return isWide && visible.contains(*steadyNs) ? *steadyNs : visible.startNs;
}

}  // namespace

SearchBar::SearchBar(QWidget* parent) : QWidget(parent) {
    edit_->setPlaceholderText(tr("Search kernels, ranges, calls"));
    edit_->setAccessibleName(tr("Search kernels, ranges and calls"));
    previous_->setAccessibleName(tr("Previous hit"));
    next_->setAccessibleName(tr("Next hit"));
    clear_ = edit_->addAction(QIcon(), QLineEdit::TrailingPosition);
    clear_->setToolTip(tr("Clear the search (Esc)"));
    clear_->setVisible(false);
    edit_->setMinimumWidth(maxEditWidth / 2);
    edit_->setMaximumWidth(std::max(maxEditWidth, maxEditCharacters * fontMetrics().averageCharWidth()));
    edit_->installEventFilter(this);
    count_->setTextFormat(Qt::PlainText);
    count_->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
    count_->setForegroundRole(QPalette::PlaceholderText);
    expression_->setObjectName("expression");
    expression_->setText(QStringLiteral(".*"));
    expression_->setCheckable(true);
    expression_->setAutoRaise(true);
    expression_->setAccessibleName(tr("Regular expression"));
    expression_->setToolTip(tr("Search by regular expression (Alt+R)"));
    expression_->setShortcut(Qt::ALT | Qt::Key_R);
    const int iconSide = std::max(16, fontMetrics().height() * 4 / 5);
    for (QToolButton* button : {previous_, next_}) {
        button->setAutoRaise(true);
        button->setIconSize({iconSide, iconSide});
    }
    previous_->setToolTip(tr("Previous hit (Shift+Enter)"));
    next_->setToolTip(tr("Next hit (Enter)"));
    delay_->setSingleShot(true);
    delay_->setInterval(typingPauseMs);

    auto* layout = views::rowIn(this, {4, 2, 6, 2}, 2);
    // The count is in an empty area of the tool bar, so that nothing moves when it appears.
    layout->addWidget(count_);
    layout->addSpacing(8);
    views::addTo(layout, edit_, expression_, previous_, next_);

    connect(edit_, &QLineEdit::textChanged, delay_, qOverload<>(&QTimer::start));
    connect(edit_, &QLineEdit::textChanged, clear_,
            [this](const QString& text) { clear_->setVisible(!text.isEmpty()); });
    connect(clear_, &QAction::triggered, edit_, &QLineEdit::clear);
    connect(expression_, &QToolButton::toggled, this, &SearchBar::searchNow);
    connect(delay_, &QTimer::timeout, this, &SearchBar::searchNow);
    connect(previous_, &QToolButton::clicked, this, &SearchBar::previous);
    connect(next_, &QToolButton::clicked, this, &SearchBar::next);
    setNavigator(nullptr);
}

QSize SearchBar::sizeHint() const {
    QSize hint = minimumSizeHint();
    hint.rwidth() += edit_->maximumWidth() - edit_->minimumWidth() + minCountWidth();
    return hint;
}

QSize SearchBar::minimumSizeHint() const {
    QSize hint = QWidget::minimumSizeHint();
    hint.rwidth() -= count_->minimumWidth();
    return hint;
}

void SearchBar::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    showCount();
}

/// Shrinks the box to its min width in favour of the count, then the count in favour of the window.
void SearchBar::showCount() {
    const int text = std::min(fontMetrics().horizontalAdvance(countText_), maxCountWidth);
    const int room = std::max(0, width() - minimumSizeHint().width());
    const int given = std::min(room, std::max(text, minCountWidth()));
    if (count_->minimumWidth() != given) count_->setFixedWidth(given);
    const QString shown = fontMetrics().elidedText(countText_, Qt::ElideRight, given);
    count_->setText(shown);
    count_->setToolTip(shown == countText_ ? QString() : views::plainToolTip(countText_));
    edit_->setToolTip(count_->toolTip());
}

void SearchBar::setNavigator(HitNavigator* navigator) {
    if (navigator_) navigator_->disconnect(this);
    navigator_ = navigator;
    setEnabled(navigator != nullptr);
    delay_->stop();
    showSearch();
    if (navigator) connect(navigator, &HitNavigator::changed, this, &SearchBar::updateCount);
    updateCount();
}

void SearchBar::setTheme(const views::Theme& theme) {
    previous_->setIcon(themedIcon("previous", theme));
    next_->setIcon(themedIcon("next", theme));
    clear_->setIcon(themedIcon("close", theme));
}

void SearchBar::activate() {
    edit_->setFocus(Qt::ShortcutFocusReason);
    edit_->selectAll();
}

void SearchBar::searchFor(const QString& text) {
    edit_->setText(text);
    next();
}

void SearchBar::next() {
    searchNow();
    if (navigator_) navigator_->step(+1);
}

void SearchBar::previous() {
    searchNow();
    if (navigator_) navigator_->step(-1);
}

void SearchBar::searchNow() {
    delay_->stop();
    if (!navigator_) return;
    navigator_->search(edit_->text(), expression_->isChecked() ? PatternKind::Expression : PatternKind::Substring);
}

void SearchBar::showSearch() {
    const QSignalBlocker editBlocker(edit_);
    const QSignalBlocker expressionBlocker(expression_);
    edit_->setText(navigator_ ? navigator_->text() : QString());
    expression_->setChecked(navigator_ && navigator_->kind() == PatternKind::Expression);
}

void SearchBar::updateCount() {
    const qint64 count = navigator_ ? navigator_->count() : 0;
    // Tables search too; their search text is shown here, unless the user is typing.
    const bool isOthers = navigator_ && edit_->text() != navigator_->text();
    if (isOthers && !delay_->isActive()) showSearch();
    countText_ = describeCount();
    showCount();
    clear_->setVisible(!edit_->text().isEmpty());
    previous_->setEnabled(count > 0);
    next_->setEnabled(count > 0);
}

QString SearchBar::describeCount() const {
    if (!navigator_ || navigator_->text().isEmpty()) return {};
    if (!navigator_->error().isEmpty()) return navigator_->error();
    const QLocale locale(QLocale::English);
    const QString count = locale.toString(navigator_->count());
    if (navigator_->isSearching()) return navigator_->count() > 0 ? tr("%1 hits …").arg(count) : tr("searching …");
    if (navigator_->count() == 0) return tr("no hits");
    if (navigator_->current() < 0) return navigator_->count() == 1 ? tr("1 hit") : tr("%1 hits").arg(count);
    return tr("%1 of %2").arg(locale.toString(navigator_->current() + 1), count);
}

bool SearchBar::eventFilter(QObject* watched, QEvent* event) {
    if (watched == edit_ && event->type() == QEvent::KeyPress) {
        const auto* key = static_cast<QKeyEvent*>(event);
        if (key->key() == Qt::Key_Return || key->key() == Qt::Key_Enter) {
            key->modifiers() & Qt::ShiftModifier ? previous() : next();
            return true;
        }
        if (key->key() == Qt::Key_Escape) {
            edit_->clear();
            searchNow();
            emit dismissed();
            return true;
        }
    }
    return QWidget::eventFilter(watched, event);
}

class SearchJob::Run : public std::enable_shared_from_this<SearchJob::Run> {
  public:
    Run(SearchJob* job, std::vector<Place> places, SearchQuery query)
        : job_(job), places_(std::move(places)), query_(std::move(query)) {}

    void cancel() { isCancelled_ = true; }

    void work() {
        sinceCount_.start();
        for (size_t index = 0; index < places_.size() && !isCancelled_; ++index)
            found_.push_back(search(places_[index], index == 0));
        isWhole_ = true;
    }

    /// Runs on the GUI thread after `work`.
    void deliver() {
        if (!isWanted()) return;
        SearchJob& job = *job_;
        job.run_.reset();
        if (isWhole_)
            emit job.finished(found_);
        else
            emit job.ranOutOfMemory();
    }

  private:
    /// Searches from the start place, where the user looks, then before it.
    SearchHitsPtr search(const Place& place, bool isFirst) {
        if (!place.trace) return nullptr;
        std::vector<EventRef> after, before;
        find(*place.trace, {place.fromNs, latestNs}, after, isFirst);
        find(*place.trace, {earliestNs, place.fromNs}, before, false);
        before.insert(before.end(), after.begin(), after.end());
        if (isCancelled_) return nullptr;
        return views::freedInBackground(SearchHits::of(*place.trace, std::move(before)));
    }

    void find(const Trace& trace, TimeRange range, std::vector<EventRef>& hits, bool reportsFirst) {
        findEvents(trace, query_, range, [&](std::span<const EventRef> batch) {
            hits.insert(hits.end(), batch.begin(), batch.end());
            count_ += static_cast<qint64>(batch.size());
            if (reportsFirst && !batch.empty()) {
                reportsFirst = false;
                const auto first = batch.first(std::min(batch.size(), maxFirstHits));
                post([first = std::vector(first.begin(), first.end()), count = count_](SearchJob& job) {
                    emit job.begun(first);
                    emit job.counted(count);
                });
            } else if (sinceCount_.elapsed() >= countPeriodMs) {
                sinceCount_.start();
                post([count = count_](SearchJob& job) { emit job.counted(count); });
            }
            return !isCancelled_;
        });
    }

    bool isWanted() const { return job_ && job_->run_.get() == this; }

    /// Runs `report` on the GUI thread, unless the job is deleted or has started another search.
    void post(std::function<void(SearchJob&)> report) {
        if (isCancelled_) return;
        views::postToGui([self = shared_from_this(), report = std::move(report)] {
            if (self->isWanted()) report(*self->job_);
        });
    }

    const QPointer<SearchJob> job_;  // accessed on the GUI thread only
    const std::vector<Place> places_;
    const SearchQuery query_;
    std::atomic<bool> isCancelled_ = false;
    qint64 count_ = 0;
    QElapsedTimer sinceCount_;
    std::vector<SearchHitsPtr> found_;  // read by the GUI thread after the work
    bool isWhole_ = false;
};

SearchJob::~SearchJob() { cancel(); }

void SearchJob::start(std::vector<Place> places, SearchQuery query) {
    cancel();
    run_ = std::make_shared<Run>(this, std::move(places), std::move(query));
    views::runInThread([run = run_] { run->work(); }, [run = run_] { run->deliver(); });
}

void SearchJob::cancel() {
    if (run_) run_->cancel();
    run_.reset();
}

HitNavigator::HitNavigator(std::vector<views::TimelineView*> timelines, QObject* parent)
    : QObject(parent), timelines_(std::move(timelines)) {
    hits_.resize(timelines_.size());
    connect(job_, &SearchJob::begun, this, &HitNavigator::begin);
    connect(job_, &SearchJob::counted, this, [this](qint64 count) {
        countSoFar_ = count;
        emit changed();
    });
    connect(job_, &SearchJob::finished, this, &HitNavigator::publish);
    connect(job_, &SearchJob::ranOutOfMemory, this, [this] {
        error_ = tr("There is not enough memory for all results. Narrow the search.");
        clear();
    });
}

void HitNavigator::search(const QString& text, PatternKind kind) {
    if (text == text_ && kind == kind_) return;
    text_ = text;
    kind_ = kind;
    pendingStep_ = 0;
    first_.clear();
    firstStep_ = -1;
    countSoFar_ = 0;
    error_.clear();
    job_->cancel();
    if (text.isEmpty()) return clear();
    Result<SearchQuery> query = SearchQuery::parse(text.toStdString(), kind);
    if (!query) {
        error_ = views::toQString(query.error().sentence);
        return clear();
    }
    const bool hasStacks = std::ranges::any_of(
        timelines_, [](const views::TimelineView* each) { return each->trace() && each->trace()->stacks.size() > 0; });
    if (!query->stack.empty() && !hasStacks) {
        error_ = tr("There are no Python stacks to search by.");
        return clear();
    }
    std::vector<SearchJob::Place> places;
    for (const views::TimelineView* timeline : timelines_)
        places.push_back({timeline->trace(), searchStartNs(*timeline) + timeline->state().range().origin()});
    job_->start(std::move(places), std::move(*query));
    emit changed();
}

void HitNavigator::repeat() {
    if (text_.isEmpty()) return;
    // Hits mean nothing in another trace.
    for (SearchHitsPtr& hits : hits_) hits.reset();
    current_ = -1;
    const PatternKind kind = kind_;
    search(std::exchange(text_, {}), kind);
}

void HitNavigator::begin(const std::vector<EventRef>& first) {
    // Another timeline may have an earlier hit.
    if (timelines_.size() == 1) first_ = first;
    if (pendingStep_ > 0) step(std::exchange(pendingStep_, 0));
}

void HitNavigator::publish(const std::vector<SearchHitsPtr>& found) {
    ++generation_;
    current_ = -1;
    for (size_t index = 0; index < timelines_.size(); ++index) {
        hits_[index] = index < found.size() ? found[index] : nullptr;
        timelines_[index]->state().selection().setHits(hits_[index]);
    }
    if (firstStep_ >= 0) {
        // The hits from the visible range on were searched first, and are stored after the earlier ones.
        const std::span<const EventRef> events = eventsOf(0);
        const EventRef shown = first_[static_cast<size_t>(firstStep_)];
        const int64_t timeNs = axisTime(0, shown);
        const auto from = events.begin() + countBefore(0, timeNs, false);
        current_ = std::find(from, events.end(), shown) - events.begin();
    }
    first_.clear();
    firstStep_ = -1;
    if (pendingStep_ != 0) {
        step(std::exchange(pendingStep_, 0));
    } else {
        emit changed();
    }
}

void HitNavigator::step(int direction) {
    if (isSearching()) {
        if (!stepThroughFirst(direction)) pendingStep_ = direction;
        return;
    }
    if (count() == 0) {
        emit changed();
        return;
    }
    qint64 next = current_ + direction;
    if (current_ < 0) next = direction > 0 ? firstVisible() : firstVisible() - 1;
    show((next + count()) % count());
}

bool HitNavigator::stepThroughFirst(int direction) {
    const int next = firstStep_ + direction;
    if (next < 0 || static_cast<size_t>(next) >= first_.size()) return false;
    firstStep_ = next;
    timelines_.front()->revealEvent(first_[static_cast<size_t>(next)]);
    emit changed();
    return true;
}

void HitNavigator::show(qint64 index) {
    if (isSearching() || index < 0 || index >= count()) return;
    current_ = index;
    const Hit shown = hit(index);
    if (shown.timeline) shown.timeline->revealEvent(shown.event);
    emit changed();
}

qint64 HitNavigator::count() const {
    if (isSearching()) return countSoFar_;
    qint64 sum = 0;
    for (size_t timeline = 0; timeline < timelines_.size(); ++timeline)
        sum += static_cast<qint64>(eventsOf(timeline).size());
    return sum;
}

HitNavigator::Hit HitNavigator::hit(qint64 index) const {
    // Within a timeline the rank among all hits is monotonic, so a binary search works.
    for (size_t timeline = 0; timeline < timelines_.size(); ++timeline) {
        const std::span<const EventRef> events = eventsOf(timeline);
        const auto places = std::views::iota(size_t{0}, events.size());
        const auto ranked = [&](size_t place) { return rankOf(timeline, place); };
        const auto found = std::ranges::lower_bound(places, index, {}, ranked);
        if (found != places.end() && ranked(*found) == index) return {timelines_[timeline], events[*found]};
    }
    return {};
}

std::span<const EventRef> HitNavigator::firstHits(size_t maxHits) const {
    const std::span<const EventRef> events = eventsOf(0);
    return events.first(std::min(maxHits, events.size()));
}

std::span<const EventRef> HitNavigator::eventsOf(size_t timeline) const {
    return hits_[timeline] ? std::span<const EventRef>(hits_[timeline]->events()) : std::span<const EventRef>();
}

int64_t HitNavigator::axisTime(size_t timeline, EventRef event) const {
    const views::TimelineView& view = *timelines_[timeline];
    return view.trace()->rangeOf(event).startNs - view.state().range().origin();
}

qint64 HitNavigator::countBefore(size_t timeline, int64_t timeNs, bool includesIt) const {
    const std::span<const EventRef> events = eventsOf(timeline);
    return std::partition_point(events.begin(), events.end(),
                                [&](EventRef event) {
                                    const int64_t startNs = axisTime(timeline, event);
                                    return includesIt ? startNs <= timeNs : startNs < timeNs;
                                }) -
           events.begin();
}

qint64 HitNavigator::rankOf(size_t timeline, size_t index) const {
    const int64_t timeNs = axisTime(timeline, eventsOf(timeline)[index]);
    auto rank = static_cast<qint64>(index);
    for (size_t other = 0; other < timelines_.size(); ++other)
        if (other != timeline) rank += countBefore(other, timeNs, other < timeline);
    return rank;
}

qint64 HitNavigator::firstVisible() const {
    const auto countUntil = [this](int64_t timeNs) {
        qint64 before = 0;
        for (size_t timeline = 0; timeline < timelines_.size(); ++timeline)
            before += countBefore(timeline, timeNs, false);
        return before;
    };
    const views::TimelineView& timeline = *timelines_.front();
    qint64 first = countUntil(searchStartNs(timeline));
    if (first < count()) return first;
    // After the last hit: wraps around, but skips the warm-up.
    if (const auto steadyNs = steadyStartNs(timeline)) first = countUntil(*steadyNs);
    return first < count() ? first : 0;
}

}  // namespace lanescope::viewer
