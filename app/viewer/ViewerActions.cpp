// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/viewer/ViewerActions.h"

#include <QAction>
#include <QActionGroup>
#include <QMenu>
#include <QMenuBar>
#include <QToolBar>

#include "app/viewer/icons.h"

namespace lanescope::viewer {

using namespace views;

ViewerActions::ViewerActions(QObject* parent)
    : QObject(parent),
      commands_(timelineCommands()),
      themes_(new QActionGroup(this)),
      choices_(new QActionGroup(this)) {
    makeFileActions();
    makeGoActions();
    makeViewActions();
    makeTimelineActions();
    makeThemeActions();
}

QAction* ViewerActions::make(const QString& text, const QList<QKeySequence>& keys,
                             const QString& icon) {
    auto* action = new QAction(text, this);
    action->setShortcuts(keys);
    action->setProperty("iconName", icon);
    QString tip = QString(text).remove('&').remove(QStringLiteral("…"));
    if (!keys.isEmpty()) tip += " (" + keys.front().toString(QKeySequence::NativeText) + ")";
    action->setToolTip(tip);
    return action;
}

void ViewerActions::makeFileActions() {
    open = make(tr("&Open…"), {Qt::CTRL | Qt::Key_O}, "open");
    compare = make(tr("Co&mpare with…"), {Qt::CTRL | Qt::SHIFT | Qt::Key_O}, "compare");
    exportPicture = make(tr("Export &picture…"), {Qt::CTRL | Qt::SHIFT | Qt::Key_P}, "picture");
    exportTable = make(tr("Export &table…"), {Qt::CTRL | Qt::Key_E});
    closeTab = make(tr("&Close tab"), {Qt::CTRL | Qt::Key_W});
    quit = make(tr("&Quit"), {Qt::CTRL | Qt::Key_Q});
}

void ViewerActions::makeGoActions() {
    find = make(tr("&Find…"), {Qt::CTRL | Qt::Key_F, Qt::Key_Slash});
    findNext = make(tr("Find &next"), {Qt::Key_F3});
    findPrevious = make(tr("Find &previous"), {Qt::SHIFT | Qt::Key_F3});
    finder = make(tr("&Command or track…"), {Qt::CTRL | Qt::Key_P});
    goTo = make(tr("Go to a &time…"), {Qt::CTRL | Qt::Key_G});
}

void ViewerActions::makeViewActions() {
    showDetails = make(tr("&Details beside the timeline"), {Qt::Key_F9}, "details");
    showTables = make(tr("&Tables under the timeline"), {Qt::Key_F10}, "tables");
    showDetails->setCheckable(true);
    showTables->setCheckable(true);
    manual = make(tr("&Manual"), {Qt::Key_F1});
    shortcuts = make(tr("&Keyboard and mouse"), {Qt::Key_Question});
    about = make(tr("&About Lanescope"));
}

void ViewerActions::makeTimelineActions() {
    for (const TimelineCommand& command : commands_) {
        QAction* action = make(command.text, command.keys, command.icon);
        // Letters and arrows mean something else in tables; there the timeline leaves them alone.
        if (!command.isEverywhere) action->setShortcutContext(Qt::WidgetWithChildrenShortcut);
        connect(action, &QAction::triggered, this,
                [this, run = command.run] { emit timelineCommand(run); });
        action->setCheckable(static_cast<bool>(command.isOn));
        if (command.isChoice) choices_->addAction(action);
        timelineActions_ << action;
    }
}

void ViewerActions::makeThemeActions() {
    const std::pair<QString, ThemeChoice> choices[] = {{tr("As the &desktop"), ThemeChoice::System},
                                                       {tr("&Light"), ThemeChoice::Light},
                                                       {tr("D&ark"), ThemeChoice::Dark}};
    for (const auto& [text, choice] : choices) {
        QAction* action = themes_->addAction(text);
        action->setCheckable(true);
        action->setData(static_cast<int>(choice));
        connect(action, &QAction::triggered, this,
                [this, choice = choice] { emit themeChosen(choice); });
    }
    colorBlindSafe = make(tr("For &colour-blind eyes"));
    colorBlindSafe->setCheckable(true);
    connect(colorBlindSafe, &QAction::triggered, this, [this](bool isOn) {
        emit paletteChosen(isOn ? Palette::ColorBlindSafe : Palette::Standard);
    });
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
    file->addAction(open);
    recentMenu_ = file->addMenu(tr("Open &recent"));
    file->addAction(compare);
    file->addSeparator();
    file->addActions({exportPicture, exportTable});
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
        connect(action, &QObject::destroyed, this,
                [this, action] { documentActions_.removeAll(action); });
        analyseMenu_->addAction(action);
    }
    analyseMenu_->menuAction()->setEnabled(!actions.isEmpty());
}

void ViewerActions::fillToolBar(QToolBar* bar) {
    bar->addActions({open, compare});
    bar->addSeparator();
    for (size_t i = 0; i < commands_.size(); ++i)
        if (!commands_[i].icon.isEmpty())
            bar->addAction(timelineActions_[static_cast<qsizetype>(i)]);
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
    for (QAction* action :
         QList<QAction*>{exportPicture, find, findNext, findPrevious, goTo} + timelineActions_)
        action->setEnabled(hasDocument);
    exportTable->setEnabled(hasTable);
}

void ViewerActions::setPalette(Palette palette) {
    colorBlindSafe->setChecked(palette == Palette::ColorBlindSafe);
}

void ViewerActions::showStateOf(const TimelineView* timeline) {
    for (size_t i = 0; i < commands_.size(); ++i) {
        if (!commands_[i].isOn) continue;
        timelineActions_[static_cast<qsizetype>(i)]->setChecked(timeline &&
                                                                commands_[i].isOn(*timeline));
    }
}

void ViewerActions::setThemeChoice(ThemeChoice choice) {
    for (QAction* action : themes_->actions()) {
        action->setChecked(action->data().toInt() == static_cast<int>(choice));
    }
}

}  // namespace lanescope::viewer
