#pragma once

#include <QWidget>
#include <filesystem>
#include <vector>

#include "model/trace/Trace.h"

class QLabel;
class QProgressBar;
class QPushButton;

namespace lanescope {

class TraceLoader;

/// Stands in for a document while its traces are read: progress and a way out. If a file cannot be
/// read, the page stays and says why.
class LoadPage : public QWidget {
    Q_OBJECT
  public:
    /// One path for a timeline; for a comparison the baseline and then the candidates.
    explicit LoadPage(std::vector<std::filesystem::path> paths, QWidget* parent = nullptr);

    void start();
    /// Nothing is reported from now on.
    void cancel();
    bool isLoading() const { return isLoading_; }
    QString title() const;
    /// Why it failed; empty while it has not.
    QString errorText() const;
    const std::vector<std::filesystem::path>& paths() const { return paths_; }

  signals:
    /// All traces, in the order of the paths.
    void loaded(const std::vector<lanescope::TracePtr>& traces);
    void failed(const QString& sentence);
    /// The user wants this page to go away.
    void closeRequested();

  private:
    void build();
    void loadNext();
    void showError(const QString& sentence);

    std::vector<std::filesystem::path> paths_;
    std::vector<TracePtr> traces_;
    TraceLoader* loader_ = nullptr;
    bool isLoading_ = false;
    QLabel* heading_;
    QLabel* text_;
    QProgressBar* bar_;
    QPushButton* button_;
};

}  // namespace lanescope
