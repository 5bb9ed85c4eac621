#include "app/viewer/ComparePage.h"

#include <QVBoxLayout>

#include "app/viewer/AppSettings.h"
#include "app/viewer/HitNavigator.h"
#include "views/compare/CompareSide.h"
#include "views/compare/CompareView.h"
#include "views/details/DetailsPanel.h"
#include "views/summary/ReportView.h"
#include "views/text/toQString.h"
#include "views/timeline/TimelineView.h"

namespace lanescope {

ComparePage::ComparePage(TracePtr baseline, TracePtr candidate, QWidget* parent)
    : DocumentPage(parent),
      view_(new CompareView(this)),
      hits_(
          new HitNavigator({&view_->baseline().timeline(), &view_->candidate().timeline()}, this)) {
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(view_);
    view_->setTraces(std::move(baseline), std::move(candidate));
    connect(view_, &CompareView::nameActivated, this, [this](const QString& name) {
        hits_->search(name);
        hits_->step(+1);
    });
    setFocusProxy(&view_->candidate().timeline());
}

QString ComparePage::title() const {
    return tr("%1 against %2")
        .arg(toQString(view_->candidate().timeline().trace()->title),
             toQString(view_->baseline().timeline().trace()->title));
}

std::vector<TimelineView*> ComparePage::timelines() const {
    return {&view_->baseline().timeline(), &view_->candidate().timeline()};
}

ReportView* ComparePage::currentTable() const {
    return view_->differences().isVisible() ? &view_->differences() : nullptr;
}

void ComparePage::setTheme(const Theme& theme) {
    view_->setTheme(theme);
}

void ComparePage::setDetailsVisible(bool isVisible) {
    view_->details().setVisible(isVisible);
}

void ComparePage::setTablesVisible(bool isVisible) {
    view_->differences().setVisible(isVisible);
}

bool ComparePage::isBusy() const {
    return hits_->isSearching() || view_->isBusy();
}

void ComparePage::restoreLayout(const AppSettings& settings) {
    view_->restoreState(settings.splitterState("compare"));
}

void ComparePage::storeLayout(AppSettings& settings) const {
    settings.setSplitterState("compare", view_->saveState());
}

}  // namespace lanescope
