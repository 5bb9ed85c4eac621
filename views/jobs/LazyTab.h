// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QScrollArea>
#include <QWidget>
#include <functional>
#include <utility>

namespace lanescope::views {

/// A scroll area for a page with a minimum size. The page fills the window; in a smaller window it
/// is scrolled, so that nothing is clipped. Unlike a resizing QScrollArea it requests no more than
/// the minimum height, also for pages with wrapped text.
class PageArea : public QScrollArea {
    Q_OBJECT
  public:
    /// Takes ownership of `page`, which has a layout.
    explicit PageArea(QWidget* page, QWidget* parent = nullptr);

    /// Scrolls so that as much as possible of a part of the page is visible, its top first. Does
    /// not scroll if all of it is visible.
    void showPart(const QWidget& part);

    /// Returns that of the page.
    QSize sizeHint() const override { return widget()->sizeHint(); }
    /// Returns nearly nothing; the page's height if only scrolled sideways.
    QSize minimumSizeHint() const override;
    /// For a page in a page that scrolls vertically.
    void setOnlySideways() { isOnlySideways_ = true; }

  protected:
    bool eventFilter(QObject* watched, QEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

  private:
    void fit();
    QSize sizeIn(QSize room) const;

    bool isOnlySideways_ = false;
};

class ReportView;

/// A tab whose content is created when first shown or requested, so that a page opens equally fast with many tabs. A
/// shown tab creates it in the next turn of the event loop, after the rest of the page was painted.
class LazyTab : public QWidget {
    Q_OBJECT
  public:
    explicit LazyTab(QWidget* parent = nullptr);

    /// Null until created.
    QWidget* content() const { return content_; }
    /// Returns the table to copy and export, or null.
    virtual ReportView* table() const { return nullptr; }
    /// Returns true if the tab is visible and its content is still to be created or computed.
    bool isBusy() const { return isVisible() && (!content_ || isStale()); }

  protected:
    void showEvent(QShowEvent* event) override;
    QWidget& demand();
    virtual QWidget* make() = 0;
    /// Called once the content is in place and has its style.
    virtual void fill() = 0;
    virtual bool isStale() const = 0;

  private:
    QWidget* content_ = nullptr;
};

/// A `LazyTab` with one kind of panel. The creator sets the panel's data; from then on the panel
/// receives changes like any other.
template <class Content>
class PanelTab : public LazyTab {
  public:
    using Make = std::function<Content*()>;
    using TableOf = std::function<ReportView*(Content&)>;
    using Fill = std::function<void(Content&)>;

    /// `fill` sets style-dependent data of the panel, such as columns as wide as their content.
    explicit PanelTab(Make make, TableOf tableOf = {}, Fill fill = {})
        : make_(std::move(make)), tableOf_(std::move(tableOf)), fill_(std::move(fill)) {}

    /// Null until created.
    Content* panel() const { return static_cast<Content*>(content()); }
    /// Returns the panel; creates it if necessary.
    Content& demandPanel() { return static_cast<Content&>(demand()); }
    ReportView* table() const override { return panel() && tableOf_ ? tableOf_(*panel()) : nullptr; }

  protected:
    QWidget* make() override { return make_(); }
    void fill() override {
        if (fill_) fill_(*panel());
    }
    bool isStale() const override {
        if constexpr (requires(const Content& each) { each.isStale(); })
            return panel()->isStale();
        else
            return false;
    }

  private:
    Make make_;
    TableOf tableOf_;
    Fill fill_;
};

}  // namespace lanescope::views
