// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>

#include "model/export/traceFile.h"
#include "model/format/checksums.h"
#include "model/format/tables/Schema.h"
#include "model/importers/TraceFormat.h"
#include "model/index/checkTrace.h"
#include "tests/fuzz/sealIndex.h"
#include "tests/fuzz/targets/Scratch.h"
#include "tests/fuzz/targets/targets.h"
#include "tests/fuzz/useTrace.h"
#include "tests/support/files.h"
#include "tests/support/openForWriting.h"
#include "tests/support/simulatedMemory.h"
#include "tests/support/simulatedTraining.h"

namespace lanescope::fuzz {

namespace {

constexpr SourceKey source{1, 2, 3};

std::string indexOf(const TracePtr& trace, const Scratch& scratch, const SourceKey& key = source) {
    const auto path = scratch / "whole";
    require(writeIndex(*trace, key, path).has_value(), "No index could be written.");
    return contentOf(path);
}

/// Overwrites parts of `index` as the input specifies: position in three bytes, length in one, and the bytes.
void edit(std::string& index, Bytes edits) {
    while (edits.size() > 4) {
        const size_t at = (edits[0] | edits[1] << 8 | edits[2] << 16) % index.size();
        const size_t count = std::min<size_t>({edits[3] % 16u + 1, edits.size() - 4, index.size() - at});
        std::memcpy(index.data() + at, edits.data() + 4, count);
        edits = edits.subspan(4 + count);
    }
}

void edit(std::string& index, uint8_t kind, Bytes edits) {
    edit(index, edits);
    if (kind > 2) sealIndex(index);  // always long enough
}

/// A trace next to its index, as read by `lanescope check`.
class CheckedTrace {
  public:
    explicit CheckedTrace(const TracePtr& trace) {
        require(writeTraceFile(*trace, path_).has_value(), "No trace could be written.");
        {
            Result<Database> database = openForWriting(path_);
            require(database && announceSeal(*database), "A trace could not be changed.");
        }
        require(sealPages(path_).has_value(), "A trace could not be sealed.");
        trace_ = contentOf(path_);
        write(trace_);
        const auto key = sourceKeyOf(path_);
        require(key.has_value(), "A trace has no key.");
        // It is compared with the read trace.
        const Result<TracePtr> read = loadTrace(path_);
        require(read.has_value(), "A trace cannot be read.");
        index_ = indexOf(*read, scratch_, *key);
    }

    const std::string& index() const { return index_; }
    const std::string& trace() const { return trace_; }

    void check(const std::string& trace, const std::string& index) const {
        if (trace != trace_) write(trace);
        scratch_.write(indexPaths(path_).front().filename().string(), index);
        const std::vector<Finding> findings = checkTrace(path_);
        require(!findings.empty(), "Nothing was found out.");
        for (const Finding& finding : findings) {
            require(!finding.sentence.empty(), "Something was found without a word.");
            require(finding.isGood || trace != trace_ || index != index_, "A complete index is reported as corrupt.");
        }
        if (trace != trace_) write(trace_);
    }

    /// Reads the index of another user next to the trace of a second one. This user is root.
    void checkUntrusted(const std::string& index) const {
        const std::filesystem::path name = indexPaths(path_).front();
        scratch_.write(name.filename().string(), index);
        giveFile(path_, OtherUser::Owner, 0644);
        const auto key = sourceKeyOf(path_);
        require(key.has_value(), "A trace has no key.");
        for (const unsigned mode : {0600U, 0644U, 0666U}) {
            giveFile(name, OtherUser::Neighbour, mode);
            require(!readIndex(name, *key, path_), "The index of another user is believed.");
        }
        giveFile(name, OtherUser::Owner, 0664);
        require(!readIndex(name, *key, path_), "An index is believed that others can write to.");
        giveFile(name, OtherUser::Owner, 0644);
        const TracePtr trace = readIndex(name, *key, path_);
        require(trace || index != index_, "The index of the owner of the trace is not believed.");
        if (trace) (void)countCorruptBlocks(*trace);
    }

  private:
    /// The index identifies its trace also by its write time.
    void write(const std::string& trace) const {
        scratch_.write("run.sqlite", trace);
        std::filesystem::last_write_time(path_, std::filesystem::file_time_type{});
    }

    const Scratch scratch_;
    const std::filesystem::path path_ = scratch_ / "run.sqlite";
    std::string trace_, index_;
};

/// Applies the edits to the trace or to its index.
void checkEdited(uint8_t kind, bool isTrace, Bytes edits) {
    static const CheckedTrace checked(simulatedTraining({.steps = 2, .layers = 1, .ncclPlugin = true}));
    std::string trace = checked.trace(), index = checked.index();
    if (isTrace)
        edit(trace, edits);
    else
        edit(index, kind, edits);
    checked.check(trace, index);
}

/// Returns the trace read from the input in the format of `openIndex`; null if unreadable.
TracePtr openEdited(Bytes bytes) {
    static const Scratch scratch;
    static const std::string training =
        indexOf(simulatedTraining({.steps = 2, .layers = 1, .ncclPlugin = true}), scratch);
    static const std::string memory = indexOf(simulatedMemory(), scratch);
    if (bytes.empty()) return nullptr;
    const uint8_t kind = bytes[0] % 8;
    bytes = bytes.subspan(1);
    std::string index;
    if (kind == 0) {
        index = textOf(bytes);
    } else {
        index = kind % 2 == 0 ? memory : training;
        edit(index, kind, bytes);
    }
    return readIndex(scratch.write("index", index), source, "trace");
}

}  // namespace

/// The first byte selects the edited file: a separate file (0), or the index of one of two traces, either as it is or
/// with all checksums corrected, like an attacker. So the corpus is small, and does not depend on the format version.
void openIndex(Bytes bytes) {
    const TracePtr trace = openEdited(bytes);
    if (trace) (void)countCorruptBlocks(*trace);
}

void useIndexedTrace(Bytes bytes) {
    const TracePtr trace = openEdited(bytes);
    if (trace) usePartOf(*trace, bytes.size() - 1);
}

/// Reads an index, edited as by `openIndex`, next to a trace, each of another user. Only as root.
void indexOfAnotherUser(Bytes bytes) {
    if (bytes.empty() || !canGiveFiles()) return;
    static const CheckedTrace checked(simulatedTraining({.steps = 2, .layers = 1, .ncclPlugin = true}));
    const uint8_t kind = bytes[0] % 8;
    bytes = bytes.subspan(1);
    std::string index(textOf(bytes));
    if (kind != 0) {
        index = checked.index();
        edit(index, kind, bytes);
    }
    checked.checkUntrusted(index);
}

/// Checks a trace next to its index: with 16 in the first byte the trace is edited, otherwise the
/// index, in the way of the first three bits.
void checkIndexedTrace(Bytes bytes) {
    if (!bytes.empty()) checkEdited(bytes[0] % 8, (bytes[0] & 16) != 0, bytes.subspan(1));
}

}  // namespace lanescope::fuzz
