// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/viewer/windowStyle.h"

#include <QFile>
#include <QIconEngine>
#include <QPainter>
#include <QPixmap>
#include <QSvgRenderer>
#include <utility>

// Q_INIT_RESOURCE declares a function, so it must be outside of any namespace.
static void initializeResources() { Q_INIT_RESOURCE(lanescope); }

namespace lanescope::viewer {
namespace {

/// Draws an icon again for every requested size, so that it is sharp on any screen.
class DrawnIcon : public QIconEngine {
  public:
    DrawnIcon(QByteArray enabled, QByteArray disabled) : enabled_(std::move(enabled)), disabled_(std::move(disabled)) {}

    void paint(QPainter* painter, const QRect& rect, QIcon::Mode mode, QIcon::State) override {
        QSvgRenderer renderer(mode == QIcon::Disabled ? disabled_ : enabled_);
        renderer.render(painter, rect);
    }
    /// `size` is in pixels of the screen.
    QPixmap pixmap(const QSize& size, QIcon::Mode mode, QIcon::State state) override {
        QPixmap pixmap(size);
        pixmap.fill(Qt::transparent);
        QPainter painter(&pixmap);
        paint(&painter, QRect(QPoint(), size), mode, state);
        return pixmap;
    }
    QIconEngine* clone() const override { return new DrawnIcon(*this); }

  private:
    QByteArray enabled_, disabled_;
};

// Names in braces are colours of the theme. An em is the line height, so clickable areas grow with it.
constexpr auto sheet = R"(
QMainWindow, QMenuBar, QToolBar, QStatusBar { background: {window}; }
QMenuBar { border: none; padding: 2px 4px; }
QMenuBar::item { padding: 8px 8px; border-radius: 4px; background: transparent; }
QMenuBar::item:selected { background: {raised}; color: {text}; }
QToolBar { border: none; padding: 2px; spacing: 2px; }
QToolBar::separator { width: 1px; background: {separator}; margin: 5px 6px; }
QToolBar QToolButton { border: none; border-radius: 5px; padding: 5px; }
QToolBar QToolButton#qt_toolbar_ext_button { padding: 0; }
QToolBar QToolButton:hover { background: {raised}; }
QToolBar QToolButton:checked { background: {tint}; }
QToolBar QToolButton:pressed { background: {separator}; }

QLineEdit { background: {canvas}; border: 1px solid {separator}; border-radius: 5px; padding: 3px 7px;
            selection-background-color: {accent}; selection-color: {accentText}; }
QLineEdit:focus { border-color: {accent}; }

QPushButton { background: {canvas}; border: 1px solid {separator}; border-radius: 5px; padding: 5px 14px; }
QPushButton:hover { border-color: {accent}; }
QPushButton:pressed { background: {tint}; }
QPushButton:checked { background: {tint}; border-color: {accent}; }
QPushButton:focus { border-color: {accent}; }
QPushButton:flat { background: transparent; border: none; }
QPushButton:flat:hover { background: {raised}; }
QPushButton#primary { background: {accent}; border-color: {accent}; color: {accentText}; }
QWidget#liveBar { background: {panel}; border-bottom: 1px solid {separator}; }
QWidget#liveBar QPushButton { padding: 1px 10px; }
QPushButton::menu-indicator, QToolButton::menu-indicator {
    image: url(:/icons/down.svg); subcontrol-origin: padding; subcontrol-position: right center;
    width: 1em; height: 1em; right: 2px; }
QToolButton[autoRaise="false"] { background: {canvas}; border: 1px solid {separator}; border-radius: 5px;
                                 padding: 3px 8px; }
QToolButton[autoRaise="false"]:hover, QToolButton[autoRaise="false"]:focus { border-color: {accent}; }
QToolButton[autoRaise="false"]:pressed { background: {tint}; }
QToolButton[autoRaise="false"]:disabled { color: {muted}; }
QToolButton[autoRaise="false"][popupMode="2"] { padding-right: 1.6em; }
QLineEdit QToolButton[autoRaise="false"] { background: transparent; border: none; padding: 0; }
QComboBox { background: {canvas}; border: 1px solid {separator}; border-radius: 5px; padding: 3px 7px;
            combobox-popup: 0; }
QComboBox QAbstractItemView { background: {canvas}; color: {text}; border: 1px solid {edge}; outline: 0;
                              selection-background-color: {accent}; selection-color: {accentText}; }
QComboBox:focus { border-color: {accent}; }
QComboBox::drop-down { border: none; width: 1.3em; }
QComboBox::down-arrow { image: url(:/icons/down.svg); width: 1em; height: 1em; }

QTabWidget::pane { border: none; }
QTabWidget::tab-bar { left: 0; }
QTabBar { background: {window}; }
QTabBar::tab { background: transparent; color: {muted}; border: none; padding: 7px 10px 6px 10px;
               border-bottom: 2px solid transparent; }
QTabBar::tab:hover { color: {text}; background: {raised}; }
QTabBar::tab:selected { color: {text}; border-bottom: 2px solid {accent}; }
QTabBar::close-button { image: url(:/icons/close.svg); subcontrol-position: right; margin: 2px; }
QTabBar::close-button:hover { image: url(:/icons/close-hover.svg); }
QTabBar::scroller { width: 2.8em; }
QTabBar QAbstractButton { min-width: 1em; min-height: 1em; }
QTabBar QToolButton, QTabBar QToolButton[autoRaise="false"] { background: {window}; border: none;
                                                               border-radius: 5px; padding: 0; }
QTabBar QToolButton:hover { background: {raised}; }
QTabBar QToolButton::left-arrow { image: url(:/icons/left.svg); width: 1em; height: 1em; }
QTabBar QToolButton::right-arrow { image: url(:/icons/right.svg); width: 1em; height: 1em; }

QHeaderView { background: {panel}; }
QHeaderView::section { background: {panel}; color: {muted}; border: none; padding: 4px 8px;
                       border-bottom: 1px solid {separator}; }
QHeaderView::section:vertical { padding: 0 8px; border-bottom: none; }
QHeaderView::section:hover { color: {text}; }
QHeaderView::up-arrow, QHeaderView::down-arrow { subcontrol-origin: padding; subcontrol-position: top center;
                                                 width: 0.7em; height: 0.5em; }
QHeaderView::up-arrow:vertical, QHeaderView::down-arrow:vertical { width: 0; height: 0; }
QHeaderView::down-arrow { image: url(:/icons/down.svg); }
QHeaderView::up-arrow { image: url(:/icons/up.svg); }
QTableView { border: none; background: {canvas}; alternate-background-color: {panel}; }
QTableView::item { padding: 0 8px; border: none; }
QTextBrowser { border: none; background: {canvas}; }

QScrollBar:vertical { background: transparent; width: 11px; margin: 0; }
QScrollBar:horizontal { background: transparent; height: 11px; margin: 0; }
QScrollBar::handle { background: {handle}; border-radius: 4px; margin: 2px; }
QScrollBar::handle:hover { background: {muted}; }
QScrollBar::handle:vertical { min-height: 28px; }
QScrollBar::handle:horizontal { min-width: 28px; }
QScrollBar::add-line, QScrollBar::sub-line { width: 0; height: 0; }
QScrollBar::add-page, QScrollBar::sub-page { background: transparent; }

QFrame#popupCard { background: {window}; border: 1px solid {edge}; border-radius: 8px; }
QMenu::separator { height: 1px; background: {separator}; margin: 4px 8px; }
QProgressBar { background: {separator}; border: none; border-radius: 4px; }
QProgressBar::chunk { background: {accent}; border-radius: 4px; }
)";

}  // namespace

void registerIcons() { initializeResources(); }

QIcon themedIcon(const QString& name, const views::Theme& theme) {
    QFile file(":/icons/" + name + ".svg");
    if (!file.open(QIODevice::ReadOnly)) return {};
    const QByteArray drawing = file.readAll();
    const auto inColor = [&](const QColor& color) {
        return QByteArray(drawing).replace("#000000", color.name().toLatin1());
    };
    return QIcon(new DrawnIcon(inColor(theme.text), inColor(views::Theme::mix(theme.window, theme.mutedText, 0.45))));
}

QIcon applicationIcon() { return QIcon(":/lanescope.svg"); }

QString windowStyle(const views::Theme& theme) {
    const std::pair<const char*, QColor> colors[] = {
        {"{window}", theme.window},
        {"{canvas}", theme.canvas},
        {"{panel}", theme.panel},
        {"{raised}", views::Theme::mix(theme.window, theme.text, 0.07)},
        {"{tint}", views::Theme::mix(theme.window, theme.accent, 0.22)},
        {"{separator}", theme.separator},
        {"{edge}", views::Theme::mix(theme.separator, theme.mutedText, 0.5)},
        {"{handle}", views::Theme::mix(theme.panel, theme.mutedText, 0.4)},
        {"{text}", theme.text},
        {"{muted}", theme.mutedText},
        {"{accentText}", theme.accentText},
        {"{accent}", theme.accent},
    };
    QString style = QString::fromUtf8(sheet);
    for (const auto& [name, color] : colors) style.replace(QLatin1String(name), color.name());
    return style;
}

}  // namespace lanescope::viewer
