// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QScrollArea>
#include <QWidget>
#include <functional>
#include <utility>

namespace lanescope::views {

/// Holds a page that needs some room. It gets all that the window has; where that is less than the
/// page needs it is scrolled, so that the smallest window cuts nothing off. Unlike a QScrollArea
/// that resizes its widget it asks for no more height than the least, also of pages with lines that
/// wrap.
class PageArea : public QScrollArea {
    Q_OBJECT
  public:
    /// Takes over `page`, which has a layout.
    explicit PageArea(QWidget* page, QWidget* parent = nullptr);

    /// Scrolls so that as much as possible of a part of the page can be seen, its top first. If all
    /// of it is seen already, nothing moves.
    void showPart(const QWidget& part);

    /// The page's.
    QSize sizeHint() const override;
    /// Almost nothing; as high as the page needs if that is only scrolled sideways.
    QSize minimumSizeHint() const override;
    /// For a page in a page, which scrolls both of them up and down.
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

/// A tab whose content is made when it is first shown or asked for: a page with many tabs opens as
/// quickly as one with none. Shown, it is made in the next turn of the event loop, after the rest
/// of the page was painted.
class LazyTab : public QWidget {
    Q_OBJECT

  public:
    explicit LazyTab(QWidget* parent = nullptr);

    /// Null until it is made.
    QWidget* content() const { return content_; }
    /// The table that is copied and exported; null while there is none.
    virtual ReportView* table() const { return nullptr; }
    /// On the screen, and what it shows is still to be made or computed.
    bool isBusy() const { return isVisible() && (!content_ || isStale()); }

  protected:
    void showEvent(QShowEvent* event) override;
    QWidget& demand();
    virtual QWidget* make() = 0;
    /// Called once the content stands in its place and has its style.
    virtual void fill() = 0;
    virtual bool isStale() const = 0;

  private:
    QWidget* content_ = nullptr;
};

/// A `LazyTab` with one kind of panel. What the panel is to show is set by whoever makes it: from
/// then on it is told of changes like any other.
template <class Panel>
class PanelTab : public LazyTab {
  public:
    using Make = std::function<Panel*()>;
    using TableOf = std::function<ReportView*(Panel&)>;
    using Fill = std::function<void(Panel&)>;

    /// `fill` gives the panel what depends on its style, as columns do that are as wide as their
    /// content.
    explicit PanelTab(Make make, TableOf tableOf = {}, Fill fill = {})
        : make_(std::move(make)), tableOf_(std::move(tableOf)), fill_(std::move(fill)) {}

    /// Null until it is made.
    Panel* panel() const { return static_cast<Panel*>(content()); }
    /// Makes it if nobody has.
    Panel& demandPanel() { return static_cast<Panel&>(demand()); }
    ReportView* table() const override {
        return panel() && tableOf_ ? tableOf_(*panel()) : nullptr;
    }

  protected:
    QWidget* make() override { return make_(); }
    void fill() override {
        if (fill_) fill_(*panel());
    }
    bool isStale() const override {
        if constexpr (requires(const Panel& each) { each.isStale(); })
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
