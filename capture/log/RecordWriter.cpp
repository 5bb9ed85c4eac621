// SPDX-License-Identifier: Apache-2.0
#include "capture/log/RecordWriter.h"

#include <algorithm>

#include "capture/log/clocks.h"

namespace lanescope::log {

namespace {

constexpr size_t longestString = 32u << 10;
constexpr size_t mostStringBytes = 256u
                                   << 20;  // what we may take of the process's memory for names

}  // namespace

uint32_t RecordWriter::string(std::string_view text) {
    if (text.empty() || isStopped_) return 0;
    if (text.size() > longestString) text = text.substr(0, longestString);
    if (const auto found = idOf_.find(text); found != idOf_.end()) return found->second;
    if (stringBytes_ > mostStringBytes) text = "(one of too many different names)";
    if (const auto found = idOf_.find(text); found != idOf_.end()) return found->second;

    const std::string& kept = strings_.emplace_back(text);
    stringBytes_ += kept.size();
    const uint32_t id = ++lastId_;
    idOf_.emplace(kept, id);
    log::StringRecord record{};
    record.id = id;
    record.length = static_cast<uint32_t>(kept.size());
    writeWithTail(record.header, sizeof record, log::RecordKind::String, kept, 0);
    return id;
}

void RecordWriter::writeNvtx(log::NvtxRecord& record, std::string_view extended) {
    extended = extended.substr(0, UINT16_MAX);
    record.extendedBytes = static_cast<uint16_t>(extended.size());
    writeWithTail(record.header, sizeof record, log::RecordKind::Nvtx, extended,
                  record.timestampNs);
}

void RecordWriter::startAgain() {
    idOf_.clear();
    strings_.clear();
    stringBytes_ = 0;
    ++generation_;
    file_.resume();
}

void RecordWriter::stop() {
    startAgain();
    file_.finish();
    isStopped_ = true;
}

void RecordWriter::property(std::string_view name, std::string_view value) {
    log::PropertyRecord record{};
    record.name = string(name);
    record.value = string(value);
    write(log::RecordKind::Property, record);
}

void RecordWriter::note(Severity severity, HealthCode code, std::string_view sentence,
                        uint64_t count) {
    log::NoteRecord record{};
    record.timestampNs = eventTimeNs();
    record.severity = severity;
    record.code = string(identifier(code));
    record.sentence = string(sentence);
    record.count = static_cast<uint32_t>(std::min<uint64_t>(count, UINT32_MAX));
    write(log::RecordKind::Note, record, record.timestampNs);
}

void RecordWriter::dropped(Loss what, uint64_t count) {
    log::DroppedRecord record{};
    record.timestampNs = eventTimeNs();
    record.count = count;
    record.what = what;
    write(log::RecordKind::Dropped, record, record.timestampNs);
}

void RecordWriter::writeWithTail(log::RecordHeader& header, size_t structBytes,
                                 log::RecordKind kind, std::string_view tail, int64_t timeNs) {
    const size_t padded = (structBytes + tail.size() + 7) & ~size_t{7};
    header = {static_cast<uint16_t>(kind), header.flags, static_cast<uint32_t>(padded)};
    // The header is the first member, so the record begins where it does.
    scratch_.assign(reinterpret_cast<const char*>(&header), structBytes);
    scratch_.append(tail);
    scratch_.resize(padded, '\0');
    file_.append(scratch_.data(), scratch_.size(), timeNs);
}

}  // namespace lanescope::log
