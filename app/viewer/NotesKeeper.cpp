// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/viewer/NotesKeeper.h"

#include <memory>

#include "model/notes/mergeNotes.h"
#include "views/jobs/LatestJob.h"
#include "views/notes/MarkStore.h"
#include "views/text/toQString.h"

namespace lanescope::viewer {

using namespace views;

NotesKeeper::NotesKeeper(MarkStore& store, const std::filesystem::path& trace,
                         const std::filesystem::path& userFolder, QObject* parent)
    : QObject(parent),
      store_(store),
      file_(NotesFile::forTrace(trace, userFolder)),
      job_(new LatestJob(this)) {
    connect(job_, &LatestJob::ranOutOfMemory, this, [this] {
        isBusy_ = false;
        // Tried again with the next edit, or at closing.
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
    // What a job is writing now comes before, as both wait for the same lock, or is merged in. If
    // it fails, nobody is there any more to be told; who edited was told of every failure before.
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
            // Tried again with the next edit, or at closing.
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
    // The user may have gone on meanwhile.
    store_.setNotes(mergeNotes(sent, store_.notes(), found->notes));
    if (!found->remark.empty()) {
        emit remarked(toQString(found->remark), true);
    } else if (!file_.isBesideTrace()) {
        emit remarked(tr("The folder of the trace cannot be written: marks are kept in %1.")
                          .arg(toQString(file_.path().string())),
                      false);
    } else {
        emit remarked({}, false);
    }
    if (isDirty_) save();
}

}  // namespace lanescope::viewer
