// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/viewer/TraceTables.h"

#include <QAction>
#include <QApplication>
#include <QPointer>
#include <QTabBar>
#include <algorithm>
#include <utility>

namespace lanescope::viewer {

using namespace views;

TraceTables::TraceTables(QWidget* parent) : QTabWidget(parent) {
    setDocumentMode(true);
    tabBar()->setExpanding(false);
    tabBar()->setDrawBase(false);
}

// The focused widget loses the focus while its children are destroyed, when the other members are gone.
TraceTables::~TraceTables() { disconnect(qApp, nullptr, this, nullptr); }

void TraceTables::addPanels(std::vector<PanelKind> kinds, TracePtr trace, const QString& first) {
    trace_ = std::move(trace);
    for (PanelKind& kind : kinds) {
        auto* tab =
            new PanelTab<Panel>([this, kind] { return make(kind); }, [](Panel& panel) { return panel.table(); });
        tab->setObjectName(kind.name);
        addTab(tab, kind.title);
        tabs_.push_back({std::move(kind), tab});
    }
    setCurrentWidget(&tab(first));
    removeUseless();
    updateTitles();
    const auto choose = [this] { hasChosen_ = true; };
    connect(this, &QTabWidget::currentChanged, this, choose);
    connect(this, &QTabWidget::tabBarClicked, this, choose);
    connect(qApp, &QApplication::focusChanged, this, [this](QWidget*, QWidget* now) {
        if (currentWidget() && now && currentWidget()->isAncestorOf(now)) hasChosen_ = true;
    });
}

Panel* TraceTables::make(const PanelKind& kind) {
    Panel* panel = kind.make();
    connect(panel, &Panel::nameActivated, this, &TraceTables::nameActivated);
    connect(panel, &Panel::eventActivated, this, &TraceTables::eventActivated);
    connect(panel, &Panel::rangeActivated, this, &TraceTables::rangeActivated);
    panel->setTheme(theme_);
    panel->setTrace(trace_);
    panel->setRange(range_);
    panel->setVisibleRange(visible_);
    panel->setEvent(event_);
    return panel;
}

void TraceTables::removeUseless() {
    for (const auto& [kind, tab] : tabs_)
        if (kind.isUseful) setTabVisible(indexOf(tab), kind.isUseful(*trace_) || tab == currentWidget());
}

void TraceTables::setTrace(TracePtr trace) {
    trace_ = std::move(trace);
    event_ = {};
    // In a followed run the user has been reading for a while.
    hasChosen_ = true;
    setAll(&Panel::setTrace, trace_);
    setAll(&Panel::setVisibleRange, visible_);
    removeUseless();
    updateTitles();
}

void TraceTables::setRange(std::optional<TimeRange> range) {
    range_ = range;
    setAll(&Panel::setRange, range);
}

void TraceTables::setVisibleRange(TimeRange range) {
    visible_ = range;
    setAll(&Panel::setVisibleRange, range);
}

void TraceTables::setEvent(EventRef event) {
    event_ = event;
    setAll(&Panel::setEvent, event);
}

void TraceTables::setTheme(const Theme& theme) {
    theme_ = theme;
    setAll(&Panel::setTheme, theme);
}

void TraceTables::updateTitles() {
    for (const auto& [kind, tab] : tabs_) {
        const QString remark = kind.remark ? kind.remark(*trace_) : QString();
        const QString title = remark.isEmpty() ? kind.title : QStringLiteral("%1 (%2)").arg(kind.title, remark);
        if (tabText(indexOf(tab)) != title) setTabText(indexOf(tab), title);
    }
}

void TraceTables::suggest(const QString& name) {
    if (!hasChosen_) setCurrentWidget(&tab(name));
}

LazyTab* TraceTables::currentTab() const { return qobject_cast<LazyTab*>(currentWidget()); }

PanelTab<Panel>& TraceTables::tab(const QString& name) const {
    const auto found = std::ranges::find_if(tabs_, [&](const Tab& each) { return each.kind.name == name; });
    Q_ASSERT(found != tabs_.end());
    return *found->tab;
}

TableCommands::TableCommands(QTabWidget& tables, QObject* parent) : QObject(parent), tables_(tables) {
    for (int index = 0; index < tables.count(); ++index) {
        auto* action = new QAction(tables.tabText(index), this);
        const QPointer<QWidget> page(tables.widget(index));
        connect(action, &QAction::triggered, this, [this, page] {
            if (page) show(page);
        });
        actions_ << action;
    }
    auto* line = new QAction(this);
    line->setSeparator(true);
    auto* next = new QAction(tr("Ne&xt table"), this);
    next->setShortcut(Qt::Key_F8);
    connect(next, &QAction::triggered, this, [this] { step(+1); });
    auto* previous = new QAction(tr("&Previous table"), this);
    previous->setShortcut(Qt::SHIFT | Qt::Key_F8);
    connect(previous, &QAction::triggered, this, [this] { step(-1); });
    actions_ << line << next << previous;
}

void TableCommands::show(QWidget* page) {
    emit shown();
    tables_.setTabVisible(tables_.indexOf(page), true);  // it may be hidden for lack of content
    tables_.setCurrentWidget(page);
}

void TableCommands::step(int direction) {
    const int count = tables_.count();
    int index = tables_.currentIndex();
    for (int tries = 0; tries < count; ++tries) {
        index = (index + direction + count) % count;
        if (!tables_.isTabVisible(index)) continue;
        show(tables_.widget(index));
        return;
    }
}

}  // namespace lanescope::viewer
