// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/viewer/ViewerActions.h"

#include <QPointer>
#include <QStandardPaths>
#include <QUndoStack>
#include <memory>

#include "app/viewer/TracePage.h"
#include "app/viewer/windowStyle.h"
#include "model/text/formatValue.h"
#include "views/notes/TimelineMarks.h"
#include "views/text/shownText.h"
#include "views/timeline/SliceColors.h"
#include "views/timeline/TimelineNavigator.h"
#include "views/timeline/TimelineView.h"

namespace lanescope::viewer {

using namespace views;

namespace {

constexpr double zoomStep = 1.6;
constexpr double panStep = 0.2;  // of the visible range

QString tr(const char* text) { return ViewerActions::tr(text); }

void zoomMiddle(TimelineView& timeline, double factor) {
    const TimeRange range = timeline.state().range().axis().range();
    timeline.state().range().axis().zoomAt(range.startNs + range.durationNs() / 2, factor);
}

void pan(TimelineView& timeline, double screens) {
    const double visibleNs = double(timeline.state().range().axis().range().durationNs());
    timeline.state().range().axis().pan(static_cast<int64_t>(visibleNs * screens));
}

void stepRowHeight(TimelineView& timeline, int step) {
    const int next = static_cast<int>(timeline.state().tracks().rowHeight()) + step;
    if (next < 0 || next > static_cast<int>(RowHeight::Tall)) return;
    timeline.state().tracks().setRowHeight(static_cast<RowHeight>(next));
}

using Menu = TimelineCommand::Menu;
using View = TimelineView;
using Commands = TimelineCommands;

/// Returns a call of a function of the timeline's commands.
template <class... Parameters, class... Arguments>
std::function<void(View&)> call(void (Commands::*function)(Parameters...), Arguments... arguments) {
    return [=](View& view) { (view.commands().*function)(arguments...); };
}

/// Returns a call of a move of the timeline.
template <class... Parameters, class... Arguments>
std::function<void(View&)> call(void (TimelineNavigator::*function)(Parameters...), Arguments... arguments) {
    return [=](View& view) { (view.commands().navigator().*function)(arguments...); };
}

/// Returns the command with a separator before it.
TimelineCommand grouped(TimelineCommand command) {
    command.startsGroup = true;
    return command;
}

/// Returns the command with keys that work in the whole window.
TimelineCommand everywhere(TimelineCommand command) {
    command.isEverywhere = true;
    return command;
}

/// Returns a command with a check mark that switches something on and off.
TimelineCommand toggle(const QString& text, const QList<QKeySequence>& keys, bool (*isOn)(const View&),
                       void (*setOn)(View&, bool)) {
    TimelineCommand command{text, keys, [=](View& view) { setOn(view, !isOn(view)); }};
    command.isOn = isOn;
    return command;
}

TimelineCommand colorBy(const QString& text, Qt::Key key, ColorMode mode) {
    TimelineCommand command{text, {Qt::CTRL | key}, call(&Commands::setColorMode, mode)};
    command.isChoice = true;
    command.isOn = [mode](const View& view) { return view.state().options().colorMode() == mode; };
    return command;
}

std::vector<TimelineCommand> editCommands() {
    return {
        grouped({tr("&Copy what is selected"), {Qt::CTRL | Qt::Key_C}, call(&Commands::copySelected)}),
        {tr("Select the event's time as &range"), {Qt::Key_R}, call(&Commands::selectTimeOfEvent)},
    };
}

std::vector<TimelineCommand> viewCommands() {
    return {
        everywhere({tr("Show the &whole trace"), {Qt::CTRL | Qt::Key_0, Qt::Key_0}, call(&Commands::fit), "fit"}),
        everywhere({tr("&Reset to initial view"),
                    {Qt::ALT | Qt::Key_Home},
                    [](View& view) { view.state().range().showDefaultRange(); }}),
        {tr("Zoom &in"), {Qt::Key_W}, [](View& view) { zoomMiddle(view, zoomStep); }, "zoom-in"},
        {tr("Zoom &out"), {Qt::Key_S}, [](View& view) { zoomMiddle(view, 1 / zoomStep); }, "zoom-out"},
        {tr("Zoom to the &selection"),
         {Qt::Key_F, Qt::CTRL | Qt::Key_Return},
         call(&TimelineNavigator::zoomToSelection),
         "zoom-selection"},
        {tr("Zoom to the selected &event"), {Qt::Key_Return}, call(&TimelineNavigator::zoomToEvent)},
        grouped({tr("&Back to the view before"),
                 {Qt::Key_Z, Qt::Key_Backspace},
                 [](View& view) { view.history().back(); }}),
        {tr("For&ward again"),
         {Qt::SHIFT | Qt::Key_Z, Qt::SHIFT | Qt::Key_Backspace},
         [](View& view) { view.history().forward(); }},
        grouped({tr("Pan &left"), {Qt::Key_A}, [](View& view) { pan(view, -panStep); }}),
        {tr("Pan &right"), {Qt::Key_D}, [](View& view) { pan(view, panStep); }},
        {tr("&Clear the selection"), {Qt::Key_Escape}, call(&Commands::clearSelection)},
        grouped(toggle(
            tr("&Wheel scrolls the tracks"), {},
            [](const View& view) { return view.state().options().isWheelScrolling(); },
            [](View& view, bool isOn) { view.state().options().setWheelScrolling(isOn); })),
    };
}

std::vector<TimelineCommand> goCommands() {
    return {
        {tr("Slice to the &right"), {Qt::Key_Right}, call(&Commands::selectNeighbour, 1, SliceStep::Visible)},
        {tr("Slice to the &left"), {Qt::Key_Left}, call(&Commands::selectNeighbour, -1, SliceStep::Visible)},
        {tr("Ne&xt slice (including sub-pixel)"),
         {Qt::Key_Period},
         call(&Commands::selectNeighbour, 1, SliceStep::Single)},
        {tr("&Previous slice (including sub-pixel)"),
         {Qt::Key_Comma},
         call(&Commands::selectNeighbour, -1, SliceStep::Single)},
        {tr("&First slice of the lane"), {Qt::Key_Home}, call(&TimelineNavigator::selectEndOfLane, -1)},
        {tr("L&ast slice of the lane"), {Qt::Key_End}, call(&TimelineNavigator::selectEndOfLane, 1)},
        {tr("Lane &above"), {Qt::Key_Up}, call(&TimelineNavigator::selectAdjacentLane, -1)},
        {tr("Lane &below"), {Qt::Key_Down}, call(&TimelineNavigator::selectAdjacentLane, 1)},
        grouped({tr("Go to the work it laun&ched"), {Qt::Key_E}, call(&TimelineNavigator::followFlow, 1)}),
        {tr("Go to &its launch"), {Qt::Key_Q}, call(&TimelineNavigator::followFlow, -1)},
        {tr("Same place in the &other run"), {Qt::Key_B}, call(&Commands::selectCounterpart)},
        grouped({tr("A page of tracks &up"), {Qt::Key_PageUp}, call(&Commands::scrollPages, -1)}),
        {tr("A page of tracks &down"), {Qt::Key_PageDown}, call(&Commands::scrollPages, 1)},
        {tr("First track"), {Qt::CTRL | Qt::Key_Home}, call(&Commands::scrollToTop)},
        {tr("Last track"), {Qt::CTRL | Qt::Key_End}, call(&Commands::scrollToBottom)},
    };
}

std::vector<TimelineCommand> colourCommands() {
    return {
        colorBy(tr("By &name"), Qt::Key_1, ColorMode::Name),
        colorBy(tr("By &kind"), Qt::Key_2, ColorMode::Kind),
        colorBy(tr("By &stream"), Qt::Key_3, ColorMode::Stream),
        colorBy(tr("By NCCL &operation"), Qt::Key_4, ColorMode::NcclOperation),
        colorBy(tr("By Python &line"), Qt::Key_5, ColorMode::PythonLine),
        colorBy(tr("By Python &function"), Qt::Key_6, ColorMode::PythonFunction),
        grouped(toggle(
            tr("&Highlight slices of one name"), {Qt::Key_X},
            [](const View& view) { return view.state().selection().isHighlighting(); },
            [](View& view, bool isOn) { view.commands().setHighlighting(isOn); })),
    };
}

std::vector<TimelineCommand> trackCommands() {
    return {
        {tr("&Filter by name…"),
         {Qt::Key_T, Qt::CTRL | Qt::SHIFT | Qt::Key_T},
         [](View& view) { view.filterTracks(); }},
        grouped({tr("&Pin or unpin"), {Qt::Key_P}, call(&Commands::togglePinnedTrack)}),
        {tr("&Hide"), {Qt::Key_H}, call(&Commands::hideTrack)},
        {tr("Hide all tracks &empty in view"), {Qt::CTRL | Qt::Key_H}, call(&Commands::hideEmptyTracks)},
        toggle(
            tr("Hide empty tracks aut&omatically"), {}, [](const View& view) { return view.emptyTracks().isOn(); },
            [](View& view, bool isOn) { view.emptyTracks().setOn(isOn); }),
        {tr("&Show all hidden tracks"), {Qt::SHIFT | Qt::Key_H}, call(&Commands::showAllTracks)},
        {tr("Move &up"), {Qt::ALT | Qt::Key_Up}, call(&Commands::moveTrack, -1)},
        {tr("Move &down"), {Qt::ALT | Qt::Key_Down}, call(&Commands::moveTrack, 1)},
        grouped({tr("Fold or &unfold"), {Qt::Key_Space}, call(&Commands::toggleFold, false)}),
        {tr("Fold or unfold with every&thing in it"), {Qt::SHIFT | Qt::Key_Space}, call(&Commands::toggleFold, true)},
        everywhere({tr("Fold &all tracks"),
                    {Qt::CTRL | Qt::SHIFT | Qt::Key_F},
                    [](View& view) { view.state().tracks().setAllFolded(true); }}),
        everywhere({tr("U&nfold all tracks"),
                    {Qt::CTRL | Qt::SHIFT | Qt::Key_E},
                    [](View& view) { view.state().tracks().setAllFolded(false); }}),
        grouped({tr("Un&do track changes"), {Qt::Key_U}, call(&Commands::undoArrangement)}),
        {tr("Reset the arran&gement"), {}, call(&Commands::restoreDefaults)},
        grouped(everywhere({tr("&Taller rows"),
                            {Qt::CTRL | Qt::Key_Plus, Qt::CTRL | Qt::Key_Equal},
                            [](View& view) { stepRowHeight(view, 1); }})),
        everywhere({tr("S&horter rows"), {Qt::CTRL | Qt::Key_Minus}, [](View& view) { stepRowHeight(view, -1); }}),
    };
}

std::vector<TimelineCommand> timelineCommands() {
    std::vector<TimelineCommand> commands;
    for (auto& [menu, part] : {std::pair(Menu::Edit, editCommands()), std::pair(Menu::View, viewCommands()),
                               std::pair(Menu::Go, goCommands()), std::pair(Menu::Tracks, trackCommands()),
                               std::pair(Menu::Colour, colourCommands())})
        for (const TimelineCommand& command : part) commands.emplace_back(command).menu = menu;
    return commands;
}

std::filesystem::path userNotesFolder() {
    const QString data = QStandardPaths::writableLocation(QStandardPaths::AppDataLocation);
    return std::filesystem::path(data.toStdString()) / "notes";
}

}  // namespace

ViewerActions::ViewerActions(QObject* parent) : QObject(parent), commands_(timelineCommands()) {
    showDetails->setCheckable(true);
    showTables->setCheckable(true);
    colorBlindSafe->setCheckable(true);
    makeTimelineActions();
    makeThemeActions();
}

QAction* ViewerActions::make(const QString& text, const QList<QKeySequence>& keys, const QString& icon) {
    auto* action = new QAction(text, this);
    action->setShortcuts(keys);
    action->setProperty("iconName", icon);
    QString tip = QString(text).remove('&').remove(QStringLiteral("…"));
    if (!keys.isEmpty()) tip += " (" + keys.front().toString(QKeySequence::NativeText) + ")";
    action->setToolTip(tip);
    return action;
}

void ViewerActions::makeTimelineActions() {
    for (const TimelineCommand& command : commands_) {
        QAction* action = make(command.text, command.keys, command.icon);
        // Letters and arrows have another meaning in tables; there the timeline ignores them.
        if (!command.isEverywhere) action->setShortcutContext(Qt::WidgetWithChildrenShortcut);
        connect(action, &QAction::triggered, this, [this, run = command.run] { emit timelineCommand(run); });
        action->setCheckable(static_cast<bool>(command.isOn));
        if (command.isChoice) choices_->addAction(action);
        timelineActions_ << action;
    }
}

void ViewerActions::makeThemeActions() {
    const std::pair<QString, ThemeChoice> choices[] = {{tr("Theme: s&ystem"), ThemeChoice::System},
                                                       {tr("Theme: &light"), ThemeChoice::Light},
                                                       {tr("Theme: d&ark"), ThemeChoice::Dark}};
    for (const auto& [text, choice] : choices) {
        QAction* action = themes_->addAction(text);
        action->setCheckable(true);
        action->setData(static_cast<int>(choice));
        connect(action, &QAction::triggered, this, [this, choice = choice] { emit themeChosen(choice); });
    }
    connect(colorBlindSafe, &QAction::triggered, this,
            [this](bool isOn) { emit paletteChosen(isOn ? Palette::ColorBlindSafe : Palette::Standard); });
}

void ViewerActions::addTimelineActions(QMenu* menu, TimelineCommand::Menu of) {
    for (size_t i = 0; i < commands_.size(); ++i) {
        if (commands_[i].menu != of) continue;
        if (commands_[i].startsGroup) menu->addSeparator();
        menu->addAction(timelineActions_[static_cast<qsizetype>(i)]);
    }
}

void ViewerActions::fillMenus(QMenuBar* bar) {
    bar_ = bar;
    const auto add = [&](const QString& title) { return bar->addMenu(title); };
    QMenu* file = add(tr("&File"));
    file->addActions({open, openFolder, openRemote});
    recentMenu_ = file->addMenu(tr("Open &recent"));
    file->addAction(compare);
    file->addSeparator();
    file->addActions({exportPicture, exportTable, exportReport, share, copyCommand});
    file->addSeparator();
    file->addActions({closeTab, quit});

    QMenu* edit = add(tr("&Edit"));
    edit->addActions({find, findNext, findPrevious});
    addTimelineActions(edit, TimelineCommand::Menu::Edit);

    QMenu* view = add(tr("&View"));
    addTimelineActions(view, TimelineCommand::Menu::View);
    view->addSeparator();
    view->addActions({showDetails, showTables});

    QMenu* go = add(tr("&Go"));
    go->addActions({finder, goTo});
    go->addSeparator();
    addTimelineActions(go, TimelineCommand::Menu::Go);

    addTimelineActions(add(tr("&Tracks")), TimelineCommand::Menu::Tracks);

    QMenu* colour = add(tr("&Colour"));
    addTimelineActions(colour, TimelineCommand::Menu::Colour);
    colour->addSeparator();
    colour->addAction(colorBlindSafe);
    colour->addSeparator();
    colour->addActions(themes_->actions());

    analyseMenu_ = add(tr("&Analyse"));
    setDocumentActions({});

    add(tr("&Help"))->addActions({manual, shortcuts, about});
}

QList<QMenu*> ViewerActions::menus() const {
    QList<QMenu*> menus;
    if (!bar_) return menus;
    for (const QAction* action : bar_->actions())
        if (action->menu()) menus << action->menu();
    return menus;
}

void ViewerActions::setDocumentActions(const QList<QAction*>& actions) {
    for (QAction* action : documentActions_) analyseMenu_->removeAction(action);
    documentActions_ = actions;
    for (QAction* action : actions) {
        // A document may close with its commands still in the menu.
        connect(action, &QObject::destroyed, this, [this, action] { documentActions_.removeAll(action); });
        analyseMenu_->addAction(action);
    }
    analyseMenu_->menuAction()->setEnabled(!actions.isEmpty());
}

void ViewerActions::fillToolBar(QToolBar* bar) {
    bar->addActions({open, compare});
    bar->addSeparator();
    for (size_t i = 0; i < commands_.size(); ++i)
        if (!commands_[i].icon.isEmpty()) bar->addAction(timelineActions_[static_cast<qsizetype>(i)]);
    bar->addSeparator();
    bar->addActions({showTables, showDetails, exportPicture});
}

void ViewerActions::setTheme(const Theme& theme) {
    for (QAction* action : findChildren<QAction*>(Qt::FindDirectChildrenOnly)) {
        const QString name = action->property("iconName").toString();
        if (!name.isEmpty()) action->setIcon(themedIcon(name, theme));
    }
}

void ViewerActions::setAvailable(bool hasDocument, bool hasTable) {
    for (QAction* action : QList<QAction*>{exportPicture, find, findNext, findPrevious, goTo} + timelineActions_)
        action->setEnabled(hasDocument);
    exportTable->setEnabled(hasTable);
    exportReport->setEnabled(hasDocument);
    share->setEnabled(hasTable);
    copyCommand->setEnabled(hasTable);
}

void ViewerActions::showStateOf(const TimelineView* timeline) {
    for (size_t i = 0; i < commands_.size(); ++i) {
        if (!commands_[i].isOn) continue;
        timelineActions_[static_cast<qsizetype>(i)]->setChecked(timeline && commands_[i].isOn(*timeline));
    }
}

void ViewerActions::setThemeChoice(ThemeChoice choice) {
    for (QAction* action : themes_->actions()) action->setChecked(action->data().toInt() == static_cast<int>(choice));
}

NotesKeeper::NotesKeeper(MarkStore& store, const std::filesystem::path& trace, const std::filesystem::path& userFolder,
                         QObject* parent)
    : QObject(parent), store_(store), file_(NotesFile::forTrace(trace, userFolder)) {
    connect(job_, &LatestJob::ranOutOfMemory, this, [this] {
        isBusy_ = false;
        // Repeated with the next edit, or on closing.
        isDirty_ = isDirty_ || isSaving_;
        emit remarked(tr("There is not enough memory to read or write the marks."), true);
    });
    connect(&store_, &MarkStore::edited, this, [this] {
        isDirty_ = true;
        if (!isBusy_) save();
    });
    read();
}

NotesKeeper::~NotesKeeper() {
    // A running write comes first, as both wait for the same lock, or is merged. An error here can
    // no longer be shown; earlier errors were shown to the user.
    if (isDirty_) static_cast<void>(file_.store(base_, store_.notes()));
}

void NotesKeeper::read() {
    isBusy_ = true;
    job_->start([this, file = file_]() -> LatestJob::Publish {
        auto found = std::make_shared<Result<FoundNotes>>(file.read());
        return [this, found] { take(*found, {}); };
    });
}

void NotesKeeper::save() {
    isBusy_ = isSaving_ = true;
    isDirty_ = false;
    job_->start([this, file = file_, base = base_, mine = store_.notes()]() -> LatestJob::Publish {
        auto stored = std::make_shared<Result<FoundNotes>>(file.store(base, mine));
        return [this, stored, mine] {
            // Repeated with the next edit, or on closing.
            if (!*stored) isDirty_ = true;
            take(*stored, mine);
        };
    });
}

void NotesKeeper::take(const Result<FoundNotes>& found, const Notes& sent) {
    isBusy_ = isSaving_ = false;
    if (!found) {
        emit remarked(toQString(found.error().sentence), true);
        return;
    }
    base_ = found->notes;
    // The user may have made further edits meanwhile.
    store_.setNotes(mergeNotes(sent, store_.notes(), found->notes));
    if (!found->remark.empty()) {
        emit remarked(toQString(found->remark), true);
    } else if (!file_.isNextToTrace()) {
        emit remarked(tr("Marks are kept in %1: another user owns the trace, or its folder cannot be written.")
                          .arg(toQString(file_.path().string())),
                      false);
    } else {
        emit remarked({}, false);
    }
    if (isDirty_) save();
}

PageMarks::PageMarks(const std::filesystem::path& trace, TimelineView& timeline, QObject* parent)
    : QObject(parent),
      onTimeline_(new TimelineMarks(*store_, timeline, this)),
      keeper_(new NotesKeeper(*store_, trace, userNotesFolder(), this)) {
    connect(keeper_, &NotesKeeper::remarked, this, [this](const QString& text, bool isTrouble) {
        remark_ = text;
        isRemarkTrouble_ = isTrouble;
        emit remarked(text, isTrouble);
    });
}

PageMarks::~PageMarks() {
    delete keeper_;  // It saves pending marks, so it is deleted before them.
}

std::vector<FinderEntry> PageMarks::entries() const {
    std::vector<FinderEntry> entries;
    for (const Mark& mark : store_->marks()) {
        const QString text = toQString(mark.text).simplified();
        QString detail = tr("mark at %1").arg(toQString(formatTimestamp(mark.range.startNs)));
        if (!mark.range.isEmpty()) detail += QStringLiteral(", ") + toQString(formatDuration(mark.range.durationNs()));
        entries.push_back({text.isEmpty() ? tr("Mark without text") : text,
                           detail,
                           {},
                           [marks = QPointer<TimelineMarks>(onTimeline_), id = mark.id] {
                               if (marks) marks->show(id);
                           }});
    }
    return entries;
}

MarkActions::MarkActions(QObject* parent) : QObject(parent) {
    const auto make = [this](const QString& text, const QList<QKeySequence>& keys, auto act) {
        auto* action = new QAction(text, this);
        action->setShortcuts(keys);
        connect(action, &QAction::triggered, this, act);
        return action;
    };
    const auto marks = [this]() -> TimelineMarks& { return page_->marks().onTimeline(); };
    const auto edits = [this]() -> QUndoStack& { return page_->marks().store().undoStack(); };
    add = make(tr("&Mark the selection"), {Qt::Key_M}, [marks] { marks().addMark(); });
    edit = make(tr("&Edit the mark"), {Qt::CTRL | Qt::Key_M}, [marks] { marks().editMark(); });
    remove = make(tr("&Remove the mark"), {Qt::Key_Delete}, [marks] { marks().removeMark(); });
    next = make(tr("&Next mark"), {Qt::SHIFT | Qt::Key_M}, [marks] { marks().step(true); });
    previous = make(tr("&Previous mark"), {Qt::CTRL | Qt::SHIFT | Qt::Key_M}, [marks] { marks().step(false); });
    // The keys of the manual on every desktop.
    undo = make(tr("&Undo change of marks"), {Qt::CTRL | Qt::Key_Z}, [edits] { edits().undo(); });
    redo = make(tr("Re&do change of marks"), {Qt::CTRL | Qt::SHIFT | Qt::Key_Z, Qt::CTRL | Qt::Key_Y},
                [edits] { edits().redo(); });
    list = make(tr("&List of marks"), {}, [this] { page_->showPanel(QStringLiteral("marks")); });
    setPage(nullptr);
}

void MarkActions::fillMenu(QMenuBar* bar) {
    auto* menu = new QMenu(tr("&Marks"), bar);
    menu->addActions({add, edit, remove});
    menu->addSeparator();
    menu->addActions({next, previous, list});
    menu->addSeparator();
    menu->addActions({undo, redo});
    bar->insertMenu(bar->actions().isEmpty() ? nullptr : bar->actions().last(), menu);
}

void MarkActions::setPage(TracePage* page) {
    if (page_) {
        disconnect(page_, nullptr, this, nullptr);
        disconnect(&page_->marks().store(), nullptr, this, nullptr);
    }
    page_ = page;
    if (page_) {
        views::MarkStore& store = page_->marks().store();
        connect(page_, &QObject::destroyed, this, [this] {
            page_ = nullptr;
            updateEnabled();
        });
        connect(&store, &views::MarkStore::changed, this, &MarkActions::updateEnabled);
        connect(&store, &views::MarkStore::selectionChanged, this, &MarkActions::updateEnabled);
    }
    updateEnabled();
}

void MarkActions::updateEnabled() {
    const views::MarkStore* store = page_ ? &page_->marks().store() : nullptr;
    const bool hasMarks = store && !store->marks().empty();
    const bool hasSelected = store && !store->selected().empty();
    add->setEnabled(store);
    list->setEnabled(store);
    edit->setEnabled(hasSelected);
    remove->setEnabled(hasSelected);
    next->setEnabled(hasMarks);
    previous->setEnabled(hasMarks);
    undo->setEnabled(store && store->undoStack().canUndo());
    redo->setEnabled(store && store->undoStack().canRedo());
}

}  // namespace lanescope::viewer
