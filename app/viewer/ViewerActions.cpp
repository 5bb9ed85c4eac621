#include "app/viewer/ViewerActions.h"

#include <QAction>
#include <QActionGroup>
#include <QMenu>
#include <QMenuBar>
#include <QToolBar>

#include "app/viewer/icons.h"

namespace lanescope {

ViewerActions::ViewerActions(QObject* parent) : QObject(parent), themes_(new QActionGroup(this)) {
    makeFileActions();
    makeViewActions();
    makeThemeActions();
}

QAction* ViewerActions::make(const QString& text, const QKeySequence& keys, const QString& icon) {
    auto* action = new QAction(text, this);
    action->setShortcut(keys);
    action->setProperty("iconName", icon);
    QString tip = QString(text).remove('&').remove(QStringLiteral("…"));
    if (!keys.isEmpty()) tip += " (" + keys.toString(QKeySequence::NativeText) + ")";
    action->setToolTip(tip);
    return action;
}

void ViewerActions::makeFileActions() {
    open = make(tr("&Open…"), QKeySequence::Open, "open");
    compare = make(tr("Co&mpare with…"), QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_O), "compare");
    exportPicture = make(tr("Export &picture…"), QKeySequence(Qt::CTRL | Qt::Key_P), "picture");
    exportTable = make(tr("Export &table…"), QKeySequence(Qt::CTRL | Qt::Key_E));
    closeTab = make(tr("&Close tab"), QKeySequence(Qt::CTRL | Qt::Key_W));
    quit = make(tr("&Quit"), QKeySequence(Qt::CTRL | Qt::Key_Q));
    find = make(tr("&Find…"), QKeySequence::Find);
    findNext = make(tr("Find &next"), QKeySequence(Qt::Key_F3));
    findPrevious = make(tr("Find &previous"), QKeySequence(Qt::SHIFT | Qt::Key_F3));
}

void ViewerActions::makeViewActions() {
    fit = make(tr("Show the &whole trace"), QKeySequence(Qt::CTRL | Qt::Key_0), "fit");
    zoomIn = make(tr("Zoom &in"), QKeySequence(Qt::CTRL | Qt::Key_Plus), "zoom-in");
    zoomIn->setShortcuts(
        {QKeySequence(Qt::CTRL | Qt::Key_Plus), QKeySequence(Qt::CTRL | Qt::Key_Equal)});
    zoomOut = make(tr("Zoom &out"), QKeySequence(Qt::CTRL | Qt::Key_Minus), "zoom-out");
    zoomSelection = make(tr("Zoom to the &selection"), QKeySequence(Qt::CTRL | Qt::Key_Return),
                         "zoom-selection");
    zoomSelection->setShortcuts(
        {QKeySequence(Qt::CTRL | Qt::Key_Return), QKeySequence(Qt::CTRL | Qt::Key_Enter)});
    // Letters: Ctrl with plus is typed with Shift on many keyboards and means to zoom.
    foldAll = make(tr("&Fold all tracks"), QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_F));
    unfoldAll = make(tr("&Unfold all tracks"), QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_E));
    showDetails = make(tr("&Details beside the timeline"), QKeySequence(Qt::Key_F9), "details");
    showTables = make(tr("&Tables under the timeline"), QKeySequence(Qt::Key_F10), "tables");
    showDetails->setCheckable(true);
    showTables->setCheckable(true);
    shortcuts = make(tr("&Keyboard shortcuts"), QKeySequence(Qt::Key_F1));
    about = make(tr("&About Lanescope"));
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
}

void ViewerActions::fillMenus(QMenuBar* bar) {
    QMenu* file = bar->addMenu(tr("&File"));
    file->addAction(open);
    recentMenu_ = file->addMenu(tr("Open &recent"));
    file->addAction(compare);
    file->addSeparator();
    file->addActions({exportPicture, exportTable});
    file->addSeparator();
    file->addActions({closeTab, quit});

    QMenu* search = bar->addMenu(tr("&Search"));
    search->addActions({find, findNext, findPrevious});

    QMenu* view = bar->addMenu(tr("&View"));
    view->addActions({fit, zoomIn, zoomOut, zoomSelection});
    view->addSeparator();
    view->addActions({foldAll, unfoldAll});
    view->addSeparator();
    view->addActions({showDetails, showTables});
    view->addSeparator();
    view->addMenu(tr("&Colours"))->addActions(themes_->actions());

    QMenu* help = bar->addMenu(tr("&Help"));
    help->addActions({shortcuts, about});
}

void ViewerActions::fillToolBar(QToolBar* bar) {
    bar->addActions({open, compare});
    bar->addSeparator();
    bar->addActions({fit, zoomIn, zoomOut, zoomSelection});
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
    for (QAction* action : {exportPicture, find, findNext, findPrevious, fit, zoomIn, zoomOut,
                            zoomSelection, foldAll, unfoldAll}) {
        action->setEnabled(hasDocument);
    }
    exportTable->setEnabled(hasTable);
}

void ViewerActions::setThemeChoice(ThemeChoice choice) {
    for (QAction* action : themes_->actions()) {
        action->setChecked(action->data().toInt() == static_cast<int>(choice));
    }
}

}  // namespace lanescope
