// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/viewer/DocumentTabs.h"

#include <QBoxLayout>
#include <QTimer>
#include <QToolButton>
#include <algorithm>
#include <chrono>
#include <utility>

#include "app/viewer/ComparePage.h"
#include "app/viewer/FleetPage.h"
#include "app/viewer/LiveFollower.h"
#include "app/viewer/LoadPage.h"
#include "app/viewer/TracePage.h"
#include "app/viewer/WatchPage.h"
#include "model/index/IndexFile.h"
#include "model/system/system.h"
#include "views/jobs/LatestJob.h"
#include "views/theme/layouts.h"
#include "views/timeline/TimelineView.h"

namespace lanescope::viewer {

OfferBar::OfferBar(QWidget* parent) : QWidget(parent) {
    auto* close = new QToolButton(this);
    close->setText(QStringLiteral("✕"));
    close->setAutoRaise(true);
    close->setToolTip(tr("Close"));
    auto* layout = views::rowIn(this, {14, 4, 6, 4}, -1);
    views::addTo(layout, views::Filling{label_}, accept_, other_);
    layout->addStretch();
    layout->addWidget(close);
    setAutoFillBackground(true);
    setBackgroundRole(QPalette::AlternateBase);
    connect(accept_, &QPushButton::clicked, this, [this] {
        hide();
        emit accepted();
    });
    connect(other_, &QPushButton::clicked, this, [this] {
        hide();
        emit otherAccepted();
    });
    connect(close, &QToolButton::clicked, this, &QWidget::hide);
    hide();
}

void OfferBar::offer(const QString& question, const QString& answer, const QString& other) {
    label_->setText(question);
    // In a wide window the answers are next to the question; in a narrow one the question wraps.
    label_->setMaximumWidth(label_->fontMetrics().horizontalAdvance(question) + 4);
    accept_->setText(answer);
    accept_->setVisible(!answer.isEmpty());
    other_->setText(other);
    other_->setVisible(!other.isEmpty());
    show();
}

void DocumentPage::showMessage(const QString& sentence) {
    auto* column = qobject_cast<QBoxLayout*>(layout());
    if (!column || sentence.isEmpty()) return;
    auto* bar = new OfferBar(this);
    column->insertWidget(0, bar);
    bar->offer(sentence, {});
}

namespace {

QString toQString(const std::filesystem::path& path) { return QString::fromStdString(path.string()); }

bool isSameFile(const std::filesystem::path& a, const std::filesystem::path& b) {
    std::error_code ignored;
    return a == b || std::filesystem::equivalent(a, b, ignored);
}

}  // namespace

MemoryKeeper::MemoryKeeper(std::function<bool()> isBusy, std::function<std::vector<TracePtr>()> traces, QObject* parent)
    : QObject(parent), isBusy_(std::move(isBusy)), traces_(std::move(traces)), job_(new views::LatestJob(this)) {
    constexpr std::chrono::milliseconds interval{250};
    auto* timer = new QTimer(this);
    connect(timer, &QTimer::timeout, this, &MemoryKeeper::check);
    timer->start(interval);
}

void MemoryKeeper::check() {
    const bool isBusy = isBusy_();
    if (!std::exchange(wasBusy_, isBusy) || isBusy) return;
    job_->start([this, traces = traces_()]() -> views::LatestJob::Publish {
        for (const TracePtr& trace : traces) unloadIndex(*trace);
        system::returnFreeMemory();
        return [this] { emit released(); };
    });
}

DocumentTabs::DocumentTabs(QWidget* parent) : QTabWidget(parent) {
    setDocumentMode(true);
    setTabsClosable(true);
    setMovable(true);
    setElideMode(Qt::ElideMiddle);
    connect(this, &QTabWidget::tabCloseRequested, this, &DocumentTabs::closeTab);
    const auto isBusy = [this] { return isLoading() || std::ranges::any_of(documents(), &DocumentPage::isBusy); };
    memory_ = new MemoryKeeper(
        isBusy, [this] { return traces(); }, this);
    // Opening a trace may end between two checks; closing frees one.
    connect(this, &DocumentTabs::documentAdded, memory_, &MemoryKeeper::noteWork);
    connect(this, &DocumentTabs::documentClosing, memory_, &MemoryKeeper::noteWork);
}

template <class Page>
std::vector<Page*> DocumentTabs::pages() const {
    std::vector<Page*> found;
    for (int index = 0; index < count(); ++index)
        if (auto* page = qobject_cast<Page*>(widget(index))) found.push_back(page);
    return found;
}

std::vector<TracePage*> DocumentTabs::tracePages() const { return pages<TracePage>(); }

std::vector<DocumentPage*> DocumentTabs::documents() const { return pages<DocumentPage>(); }

std::vector<TracePtr> DocumentTabs::traces() const {
    std::vector<TracePtr> traces;
    for (const DocumentPage* page : documents())
        for (const views::TimelineView* timeline : page->timelines())
            if (std::ranges::find(traces, timeline->trace()) == traces.end()) traces.push_back(timeline->trace());
    return traces;
}

TracePage* DocumentTabs::currentTrace() const { return qobject_cast<TracePage*>(currentWidget()); }

bool DocumentTabs::isLoading() const {
    return !waitingForLive_.empty() || std::ranges::any_of(pages<LoadPage>(), &LoadPage::isLoading);
}

void DocumentTabs::openTrace(const std::filesystem::path& path) {
    for (TracePage* page : tracePages())
        if (isSameFile(page->trace()->path, path)) return setCurrentWidget(page);
    for (FleetPage* page : pages<FleetPage>())
        if (isSameFile(page->report().path, path)) return setCurrentWidget(page);
    for (WatchPage* page : pages<WatchPage>())
        if (isSameFile(page->folder(), path)) return setCurrentWidget(page);
    if (isWatchFolder(path)) return followWatch(path);
    // A trace that is being loaded is not loaded a second time.
    for (LoadPage* page : pages<LoadPage>())
        if (page->paths().size() == 1 && page->isLoading() && isSameFile(page->paths().front(), path))
            return setCurrentWidget(page);
    if (const auto live = liveTraceAt(path))
        followTrace(*live);
    else
        load(new LoadPage({path}, {.ssh = ssh_}));
}

void DocumentTabs::followTrace(const LiveTrace& live) {
    for (TracePage* page : tracePages())
        if (page->trace()->path == live.finished) return setCurrentWidget(page);
    auto* waiting = new views::PlainLabel(this);
    waiting->setText(tr("Reading what has been recorded so far…"));
    waiting->setAlignment(Qt::AlignCenter);
    setCurrentIndex(addTab(waiting, toQString(live.finished.filename())));
    auto* follower = new LiveFollower(live, waiting);
    waitingForLive_.insert(waiting);
    connect(waiting, &QObject::destroyed, this, [this, waiting] { waitingForLive_.erase(waiting); });
    const auto show = [this, waiting, follower](const TracePtr& trace) {
        follower->disconnect(waiting);
        auto* page = new TracePage(trace);
        const int index = indexOf(waiting);
        const bool wasCurrent = currentIndex() == index;
        insertTab(index, page, page->title());
        page->setTheme(theme_);
        page->follow(follower);
        removeTab(indexOf(waiting));
        waiting->deleteLater();
        if (wasCurrent) setCurrentWidget(page);
        emit documentAdded(page);
        emit traceOpened(toQString(follower->live().finished));
        return page;
    };
    connect(follower, &LiveFollower::refreshed, waiting, show);
    connect(follower, &LiveFollower::finished, waiting,
            [show](const TracePtr& trace) { show(trace)->liveBar()->end({}); });
    connect(follower, &LiveFollower::failed, waiting, [this, waiting](const QString& sentence) {
        waiting->setText(sentence);
        waitingForLive_.erase(waiting);
    });
    follower->start();
}

void DocumentTabs::followWatch(const std::filesystem::path& folder) {
    auto* page = new WatchPage(std::filesystem::absolute(folder).lexically_normal());
    connect(page, &WatchPage::openRequested, this, &DocumentTabs::openTrace);
    setCurrentIndex(addTab(page, page->title()));
    page->setTheme(theme_);
    page->refresh();
    emit documentAdded(page);
    emit traceOpened(toQString(folder));
}

void DocumentTabs::openComparison(const std::vector<std::filesystem::path>& files, size_t baselineRuns) {
    load(new LoadPage(files, {.baselineRuns = baselineRuns, .ssh = ssh_}));
}

void DocumentTabs::openMerged(const std::vector<std::filesystem::path>& files, const TraceExcerpt& cut) {
    load(new LoadPage(files, {.areOneTrace = true, .cut = cut}));
}

void DocumentTabs::showComparison(TracePtr baseline, TracePtr candidate) {
    auto* page = new ComparePage(std::move(baseline), {std::move(candidate)});
    setCurrentIndex(addTab(page, page->title()));
    followTitle(page);
    emit documentAdded(page);
}

void DocumentTabs::setTheme(const views::Theme& theme) {
    theme_ = theme;
    for (DocumentPage* page : documents()) page->setTheme(theme);
    for (LoadPage* page : pages<LoadPage>()) page->setTheme(theme);
}

void DocumentTabs::load(LoadPage* page) {
    connect(page, &LoadPage::closeRequested, this, [this, page] { closeTab(indexOf(page)); });
    connect(page, &LoadPage::failed, this,
            [this, page](const QString& sentence) { emit loadFailed(toQString(page->paths().front()), sentence); });
    connect(page, &LoadPage::loaded, this, [this, page](const std::vector<TracePtr>& traces) {
        // The merged file is in a cache and may be deleted.
        if ((page->paths().size() == 1 && page->isWhole()) || traces.size() > 1)
            for (const auto& path : page->paths()) emit traceOpened(toQString(path));
        if (traces.size() >= 2) {
            QStringList files;
            for (const auto& path : page->paths()) files << toQString(path);
            emit comparisonOpened(files);
            const auto middle = traces.begin() + ptrdiff_t(std::max<size_t>(1, page->baselineRuns()));
            auto* comparison = page->baselineRuns() > 0
                                   ? new ComparePage(std::vector(traces.begin(), middle), {middle, traces.end()})
                                   : new ComparePage(traces[0], {middle, traces.end()});
            if (page->storedComparison()) comparison->showStored(*page->storedComparison());
            replace(page, comparison);
        } else {
            replace(page, new TracePage(traces[0], page->storedRun()));
        }
    });
    connect(page, &LoadPage::reportLoaded, this, [this, page](const fleet::FleetReportPtr& report) {
        emit traceOpened(toQString(page->paths().front()));
        auto* fleet = new FleetPage(report);
        connect(fleet, &FleetPage::openRequested, this, &DocumentTabs::openMerged);
        replace(page, fleet);
    });
    // First, so that a connection begins while the page is built.
    page->start();
    page->setTheme(theme_);
    setCurrentIndex(addTab(page, page->title()));
}

void DocumentTabs::replace(LoadPage* page, DocumentPage* document) {
    const int index = indexOf(page);
    const bool wasCurrent = currentIndex() == index;
    insertTab(index, document, document->title());
    followTitle(document);
    document->showMessage(page->skippedText());
    removeTab(indexOf(page));
    page->deleteLater();
    if (wasCurrent) setCurrentWidget(document);
    emit documentAdded(document);
}

void DocumentTabs::followTitle(DocumentPage* document) {
    connect(document, &DocumentPage::titleChanged, this, [this, document] {
        setTabText(indexOf(document), document->title());
        emit currentChanged(currentIndex());
    });
}

void DocumentTabs::closeTab(int index) {
    QWidget* page = widget(index);
    if (!page) return;
    // Its trace may still be loading; it must not arrive in a deleted page.
    if (auto* loading = qobject_cast<LoadPage*>(page)) loading->cancel();
    if (auto* document = qobject_cast<DocumentPage*>(page)) emit documentClosing(document);
    removeTab(index);
    page->deleteLater();
}

}  // namespace lanescope::viewer
