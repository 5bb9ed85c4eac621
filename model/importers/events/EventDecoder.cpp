// SPDX-License-Identifier: Apache-2.0
#include "model/importers/events/EventDecoder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "model/format/checksums.h"
#include "model/format/parseNumber.h"
#include "model/roofline/operatorWork.h"

namespace lanescope {

namespace {

/// Decimal places from microseconds of a file to nanoseconds.
constexpr int placesOfTime = 3;

/// Returns nullopt if the text is not a finite number.
std::optional<double> numberIn(std::string_view text) {
    const auto number = parseNumber<double>(text);
    return number && std::isfinite(*number) ? number : std::nullopt;
}

}  // namespace

JsonStatus EventDecoder::take(JsonCursor& cursor) {
    event_ = {};
    arguments_.clear();
    const JsonStatus status = cursor.members([&](std::string_view key) { return takeMember(key, cursor); });
    if (status == JsonStatus::Complete) keep();
    return status;
}

void EventDecoder::take(const Event& event, const std::vector<Argument>& arguments) {
    event_ = event;
    arguments_ = arguments;
    keep();
}

JsonStatus EventDecoder::takeMember(std::string_view key, JsonCursor& cursor) {
    JsonValue unused;
    if (key == "args") return takeArguments(cursor);
    if (key == "ph") {
        const JsonStatus status = cursor.value(unused);
        event_.phase = unused.text;
        return status;
    }
    if (key == "cat") return cursor.value(event_.category);
    if (key == "name") return cursor.value(event_.name);
    if (key == "pid") return cursor.value(event_.process);
    if (key == "tid") return cursor.value(event_.thread);
    if (key == "ts") return cursor.value(event_.time);
    if (key == "dur") return cursor.value(event_.duration);
    if (key == "id") return cursor.value(event_.id);
    return cursor.value(unused);
}

JsonStatus EventDecoder::takeArguments(JsonCursor& cursor) {
    arguments_.clear();
    cursor.skipSpace();
    if (cursor.isAtEnd()) return JsonStatus::Truncated;
    if (*cursor.at() == '{')
        return cursor.object([this](std::string_view key, const JsonValue& value) {
            arguments_.push_back({key, value});
        });
    JsonValue unused;
    return cursor.value(unused);
}

const JsonValue* EventDecoder::argument(std::string_view key) const {
    // The last of several arguments with one name counts.
    for (auto each = arguments_.rbegin(); each != arguments_.rend(); ++each)
        if (each->key == key) return &each->value;
    return nullptr;
}

std::optional<int64_t> EventDecoder::wholeNumber(std::string_view key) const {
    const JsonValue* const value = argument(key);
    return value != nullptr ? decimalOf(value->text, 0) : std::nullopt;
}

int64_t EventDecoder::numberOr(std::string_view key, int64_t otherwise) const {
    return wholeNumber(key).value_or(otherwise);
}

uint32_t EventDecoder::textOf(std::string_view key) {
    const JsonValue* const value = argument(key);
    return value != nullptr ? chunk_.strings.add(*value) : 0;
}

uint32_t EventDecoder::correlation() const { return static_cast<uint32_t>(numberOr("correlation", 0)); }

std::optional<int64_t> EventDecoder::timeOf(const JsonValue& value) {
    const std::optional<int64_t> timeNs = decimalOf(value.text, placesOfTime);
    if (timeNs && *timeNs % 1000 != 0) ++chunk_.tally.fractions;
    return timeNs;
}

std::optional<int64_t> EventDecoder::startTime() {
    const std::optional<int64_t> startNs = timeOf(event_.time);
    if (!startNs) ++chunk_.tally.untimed;
    return startNs;
}

ImportedEventKind EventDecoder::kindOfEvent() {
    const std::string_view category = event_.category.text;
    if (category != lastCategory_ || lastCategory_.empty()) {
        lastCategory_ = category;
        lastKind_ = eventKindOf(category);
    }
    const bool isMisfiled = lastKind_ == ImportedEventKind::Operator && isAnnotationName(event_.name.text);
    return isMisfiled ? ImportedEventKind::Annotation : lastKind_;
}

uint32_t EventDecoder::thread() {
    const ImportedThread found{chunk_.strings.kept(event_.process), chunk_.strings.kept(event_.thread)};
    if (chunk_.threads.empty() || found != lastThread_) {
        lastThread_ = found;
        lastThreadIndex_ = indexIn(threads_, chunk_.threads, found);
    }
    return lastThreadIndex_;
}

uint32_t EventDecoder::place(const ImportedPlace& place) { return indexIn(places_, chunk_.places, place); }

void EventDecoder::keep() {
    ++chunk_.tally.events;
    switch (event_.phase.size() == 1 ? event_.phase.front() : '\0') {
        case 'X': return keepComplete();
        case 'i':
        case 'I':
        case 'R':
        case 'n': return keepMark();
        case 'B':
        case 'E':
        case 'b':
        case 'e': return keepEdge(event_.phase.front());
        case 's':
        case 't':
        case 'f': return keepFlow();
        case 'M': return keepName();
        case 'C': return keepCounters();
        default: ++chunk_.tally.unknown;
    }
}

void EventDecoder::keepComplete() {
    Times times;
    const std::optional<int64_t> startNs = startTime();
    if (!startNs) return;
    times.startNs = *startNs;
    if (!event_.duration.text.empty()) {
        const std::optional<int64_t> durationNs = timeOf(event_.duration);
        if (!durationNs) {
            ++chunk_.tally.untimed;
            return;
        }
        if (*durationNs < 0) ++chunk_.tally.negative;
        times.durationNs = std::max<int64_t>(0, *durationNs);
    }
    const ImportedEventKind kind = kindOfEvent();
    if (kind == ImportedEventKind::Window) return;
    if (kind == ImportedEventKind::Overhead) {
        ++chunk_.tally.overheads;
        const int64_t room = std::numeric_limits<int64_t>::max() / 2 - chunk_.tally.overheadNs;
        chunk_.tally.overheadNs += std::min(times.durationNs, std::max<int64_t>(0, room));
        return;
    }
    if (kind <= ImportedEventKind::Other) return keepSlice(kind, times);
    if (!keepGpuWork(kind, times)) keepSlice(ImportedEventKind::Other, times);
}

void EventDecoder::keepSlice(ImportedEventKind kind, Times times) {
    ImportedSlice slice{
        .startNs = times.startNs, .durationNs = times.durationNs, .name = chunk_.strings.add(event_.name)};
    if (kind == ImportedEventKind::GpuAnnotation) {
        const int64_t device = decimalOf(event_.process.text, 0).value_or(-1);
        slice.extra = place({device, 0, streamNumberOf(event_.thread.text)});
    } else {
        slice.thread = thread();
    }
    if (kind == ImportedEventKind::Operator) return keepOperator(slice);
    if (kind == ImportedEventKind::RuntimeCall || kind == ImportedEventKind::DriverCall) slice.extra = correlation();
    if (kind == ImportedEventKind::Other) slice.category = chunk_.strings.add(event_.category);
    chunk_.slices[static_cast<size_t>(kind)].push_back(slice);
}

uint32_t EventDecoder::launch() {
    ImportedLaunch launch{.name = chunk_.strings.add(event_.name),
                          .registers = static_cast<uint32_t>(numberOr("registers per thread", 0)),
                          .sharedBytes = static_cast<uint32_t>(numberOr("shared memory", 0))};
    const auto take = [this](std::string_view key, std::array<uint32_t, 3>& sizes) {
        const JsonValue* const value = argument(key);
        if (value == nullptr || value->kind != JsonValue::Kind::Nested) return;
        JsonCursor cursor(value->text);
        if (!cursor.takes('[')) return;
        for (uint32_t& size : sizes) {
            JsonValue number;
            if (cursor.value(number) != JsonStatus::Complete) return;
            size = static_cast<uint32_t>(decimalOf(number.text, 0).value_or(0));
            if (!cursor.takes(',')) return;
        }
    };
    take("grid", launch.grid);
    take("block", launch.block);
    return indexIn(launches_, chunk_.launches, launch);
}

bool EventDecoder::keepGpuWork(ImportedEventKind kind, Times times) {
    // More than any machine has. A process may be called by a number, too.
    constexpr int64_t maxDevices = 1024;
    ImportedPlace where;
    // Without a process there is one GPU.
    where.device = event_.process.text.empty() ? 0 : decimalOf(event_.process.text, 0).value_or(-1);
    for (const std::string_view key : {std::string_view("inDevice"), std::string_view("device")})
        where.device = numberOr(key, where.device);
    where.context = std::max<int64_t>(0, numberOr("context", numberOr("inContext", 0)));
    where.stream = numberOr("stream", streamNumberOf(event_.thread.text));
    if (where.device < 0 || where.device >= maxDevices) return false;
    ImportedGpuWork work{.startNs = times.startNs,
                         .durationNs = times.durationNs,
                         .correlation = correlation(),
                         .place = place(where),
                         .kind = kind};
    switch (kind) {
        case ImportedEventKind::Kernel:
            work.config = launch();
            work.amount = numberOr("graph node id", 0);
            break;
        case ImportedEventKind::Memcpy:
        case ImportedEventKind::Memset: {
            const CopyName copy = copyNameOf(event_.name.text);
            work.copy = copy.kind;
            work.source = copy.source;
            work.destination = copy.destination;
            work.amount = std::max<int64_t>(0, numberOr("bytes", 0));
            const auto deviceIn = [this](std::string_view key) {
                const int64_t device = numberOr(key, -1);
                return static_cast<int16_t>(device < maxDevices ? device : -1);
            };
            work.sourceDevice = deviceIn("fromDevice");
            work.destinationDevice = deviceIn("toDevice");
            break;
        }
        case ImportedEventKind::Sync: {
            const JsonValue* const syncKind = argument("cuda_sync_kind");
            work.sync = syncTypeOf(syncKind != nullptr ? syncKind->text : event_.name.text);
            work.amount = numberOr("wait_on_cuda_event_record_corr_id", 0);
            work.config = static_cast<uint32_t>(numberOr("wait_on_stream", 0));
            break;
        }
        default: break;
    }
    // Profilers write 0 for times that the GPU did not report.
    const bool isTimed = work.startNs != 0 || work.durationNs != 0;
    (isTimed ? chunk_.gpuWork : chunk_.untimedWork).push_back(work);
    return true;
}

void EventDecoder::keepMark() {
    if (event_.name.text == "[memory]") {
        if (const std::optional<int64_t> timeNs = startTime()) keepMemory(*timeNs);
        return;
    }
    // The annotation of torch.profiler for its recording window.
    if (event_.name.text.starts_with("Iteration Start: PyTorch Profiler") || event_.name.text == "Record Window End")
        return;
    const std::optional<int64_t> timeNs = startTime();
    if (!timeNs) return;
    ImportedSlice mark{.startNs = *timeNs};
    mark.durationNs = ImportedSlice::mark;
    mark.name = chunk_.strings.add(event_.name);
    mark.thread = thread();
    mark.category = chunk_.strings.add(event_.category);
    chunk_.slices[static_cast<size_t>(ImportedEventKind::Other)].push_back(mark);
}

void EventDecoder::keepEdge(char phase) {
    const std::optional<int64_t> timeNs = startTime();
    if (!timeNs) return;
    ImportedEdge edge{.timeNs = *timeNs,
                      .name = chunk_.strings.add(event_.name),
                      .thread = thread(),
                      .category = chunk_.strings.add(event_.category),
                      .id = chunk_.strings.add(event_.id),
                      .phase = phase};
    chunk_.edges.push_back(edge);
}

void EventDecoder::keepName() {
    const bool isOfThread = event_.name.text == "thread_name";
    if (!isOfThread && event_.name.text != "process_name") return;
    ImportedThread owner{.process = chunk_.strings.kept(event_.process), .thread = {}};
    if (isOfThread) owner.thread = chunk_.strings.kept(event_.thread);
    chunk_.names.push_back({owner, isOfThread, textOf("name")});
}

void EventDecoder::keepOperator(ImportedSlice slice) {
    const JsonValue* shapes = nullptr;
    const JsonValue* types = nullptr;
    const JsonValue* values = nullptr;
    const JsonValue* operation = nullptr;
    const JsonValue* sequence = nullptr;
    const JsonValue* forwardThread = nullptr;
    for (const Argument& each : arguments_) {
        if (each.key == "Input Dims") shapes = &each.value;
        if (each.key == "Input type") types = &each.value;
        if (each.key == "Concrete Inputs") values = &each.value;
        if (each.key == "Sequence number") sequence = &each.value;
        if (each.key == "Fwd thread id") forwardThread = &each.value;
        if (each.key == "Collective name") operation = &each.value;
        if (each.key == "Call stack") ++chunk_.tally.callStacks;
    }
    if (shapes != nullptr) slice.extra = shapesOf(*shapes, types, values);
    auto& operators = chunk_.slices[static_cast<size_t>(ImportedEventKind::Operator)];
    if (sequence != nullptr) keepSequence(*sequence, forwardThread);
    operators.push_back(slice);
    if (operation == nullptr) return;
    chunk_.collectives.push_back(
        {.slice = operators.size() - 1,
         .operation = chunk_.strings.add(*operation),
         .datatype = textOf("dtype"),
         .group = textOf(argument("Process Group Name") != nullptr ? "Process Group Name" : "Process Group ID"),
         .groupName = textOf("Process Group Description"),
         .ranks = textOf("Process Group Ranks"),
         .inElements = numberOr("In msg nelems", -1),
         .outElements = numberOr("Out msg nelems", -1),
         .groupSize = numberOr("Group size", -1),
         .sequence = numberOr("Seq", -1),
         .source = numberOr("Src Rank", -1),
         .destination = numberOr("Dst Rank", -1)});
}

/// Returns the payload of an operator (`payloadLists`): types and values only if its work can be counted by them.
uint32_t EventDecoder::shapesOf(const JsonValue& shapes, const JsonValue* types, const JsonValue* values) {
    constexpr size_t maxShapesBytes = 200, maxPayloadBytes = 800;
    if (shapes.text.size() > maxShapesBytes || shapes.text.find_first_of("0123456789") == std::string_view::npos)
        return 0;
    if (types == nullptr || !hasFormula(event_.name.text)) return chunk_.strings.add(shapes);
    std::string payload = fmt::format("{} {}", shapes.text, types->text);
    if (values != nullptr) payload += fmt::format(" {}", values->text);
    return payload.size() <= maxPayloadBytes ? chunk_.strings.addMade(payload) : chunk_.strings.add(shapes);
}

void EventDecoder::keepSequence(const JsonValue& number, const JsonValue* forwardThread) {
    const std::optional<int64_t> sequence = decimalOf(number.text, 0);
    if (!sequence || *sequence < 0) return;
    ImportedSequence collective{
        .sequence = *sequence,
        .slice = static_cast<uint32_t>(chunk_.slices[static_cast<size_t>(ImportedEventKind::Operator)].size())};
    if (forwardThread != nullptr)
        collective.forwardThread = static_cast<uint32_t>(decimalOf(forwardThread->text, 0).value_or(0));
    chunk_.sequences.push_back(collective);
}

void EventDecoder::keepFlow() {
    const std::string_view category = event_.category.text;
    const bool isMiddle = event_.phase == "t";
    if (!isMiddle && (category == "fwdbwd" || category == "forward_backward" || category == "fwd_bwd"))
        keepFlowEnd();
    else if (!category.starts_with("async") && category != "ac2g")
        ++chunk_.tally.otherFlows;  // Flows from calls to work are replaced by correlations.
}

void EventDecoder::keepFlowEnd() {
    const std::optional<int64_t> timeNs = startTime();
    if (!timeNs) return;
    // Ids are numbers in known files. A text is hashed, so that it need not be kept.
    Fnv1a hash;
    hash.add(event_.id.text);
    chunk_.flowEnds.push_back({*timeNs, hash.value(), thread(), event_.phase.front()});
}

void EventDecoder::addSample(const ImportedCounter& counter, int64_t timeNs, double value) {
    const auto [found, isNew] = counters_.try_emplace(counter, static_cast<uint32_t>(chunk_.counters.size()));
    if (isNew) chunk_.counters.push_back(counter);
    chunk_.samples.push_back({timeNs, value, found->second});
}

void EventDecoder::keepMemory(int64_t timeNs) {
    ImportedCounter counter{.process = chunk_.strings.kept(event_.process),
                            .deviceType = numberOr("Device Type", 0),
                            .device = numberOr("Device Id", -1)};
    const auto add = [&](std::string_view key, ImportedCounter::Meaning meaning) {
        const std::optional<int64_t> bytes = wholeNumber(key);
        if (!bytes) return false;
        counter.meaning = meaning;
        addSample(counter, timeNs, static_cast<double>(*bytes));
        return true;
    };
    const bool hasTotal = add("Total Allocated", ImportedCounter::Meaning::Allocated);
    if (!hasTotal) add("Bytes", ImportedCounter::Meaning::Change);
    add("Total Reserved", ImportedCounter::Meaning::Reserved);
}

void EventDecoder::keepCounters() {
    const std::optional<int64_t> timeNs = startTime();
    if (!timeNs) return;
    ImportedCounter counter{.process = chunk_.strings.kept(event_.process), .name = chunk_.strings.add(event_.name)};
    for (const Argument& each : arguments_) {
        const std::optional<double> value = numberIn(each.value.text);
        if (!value) continue;
        counter.part = chunk_.strings.add(each.key);
        addSample(counter, *timeNs, *value);
    }
}

}  // namespace lanescope
