// SPDX-License-Identifier: Apache-2.0
// Takes operators of PyTorch, and the arrows between events.
#include "model/format/Fnv1a.h"
#include "model/load/json/EventTaker.h"
#include "model/load/json/decimalOf.h"

namespace lanescope {

void EventTaker::keepOperator(JsonSlice slice) {
    // Longer ones tell nobody anything.
    constexpr size_t longestShapes = 200;
    const JsonValue* shapes = nullptr;
    const JsonValue* operation = nullptr;
    const JsonValue* sequence = nullptr;
    const JsonValue* forwardThread = nullptr;
    for (const Argument& each : arguments_) {
        if (each.key == "Input Dims") shapes = &each.value;
        if (each.key == "Sequence number") sequence = &each.value;
        if (each.key == "Fwd thread id") forwardThread = &each.value;
        if (each.key == "Collective name") operation = &each.value;
        if (each.key == "Call stack") ++chunk_.tally.callStacks;
    }
    const auto saysSomething = [](std::string_view text) {
        return text.find_first_of("0123456789") != std::string_view::npos;
    };
    if (shapes != nullptr && shapes->text.size() <= longestShapes && saysSomething(shapes->text))
        slice.extra = chunk_.strings.add(*shapes);
    auto& operators = chunk_.slices[static_cast<size_t>(JsonEventKind::Operator)];
    if (sequence != nullptr) keepSequence(*sequence, forwardThread);
    operators.push_back(slice);
    if (operation == nullptr) return;
    JsonCollective said;
    said.slice = operators.size() - 1;
    said.operation = chunk_.strings.add(*operation);
    said.datatype = textOf("dtype");
    said.group = textOf(argument("Process Group Name") != nullptr ? "Process Group Name"
                                                                  : "Process Group ID");
    said.groupName = textOf("Process Group Description");
    said.ranks = textOf("Process Group Ranks");
    said.inElements = numberOr("In msg nelems", -1);
    said.outElements = numberOr("Out msg nelems", -1);
    said.groupSize = numberOr("Group size", -1);
    said.sequence = numberOr("Seq", -1);
    said.source = numberOr("Src Rank", -1);
    said.destination = numberOr("Dst Rank", -1);
    chunk_.collectives.push_back(said);
}

void EventTaker::keepSequence(const JsonValue& number, const JsonValue* forwardThread) {
    const std::optional<int64_t> sequence = decimalOf(number.text, 0);
    if (!sequence || *sequence < 0) return;
    JsonSequence said;
    said.sequence = *sequence;
    said.slice =
        static_cast<uint32_t>(chunk_.slices[static_cast<size_t>(JsonEventKind::Operator)].size());
    if (forwardThread != nullptr)
        said.forwardThread = static_cast<uint32_t>(decimalOf(forwardThread->text, 0).value_or(0));
    chunk_.sequences.push_back(said);
}

void EventTaker::keepFlow() {
    const std::string_view category = event_.category.text;
    const bool isMiddle = event_.phase == "t";
    if (!isMiddle &&
        (category == "fwdbwd" || category == "forward_backward" || category == "fwd_bwd"))
        keepArrowEnd();
    else if (category.starts_with("async") || category == "ac2g")
        ++chunk_.tally.flows;
    else
        ++chunk_.tally.otherFlows;
}

void EventTaker::keepArrowEnd() {
    const std::optional<int64_t> timeNs = startTime();
    if (!timeNs) return;
    JsonArrowEnd end;
    end.timeNs = *timeNs;
    // Numbers, as far as anybody writes them; a text need not stay for it.
    Fnv1a hash;
    hash.add(event_.id.text);
    end.id = hash.value();
    end.thread = thread();
    end.phase = event_.phase.front();
    chunk_.arrowEnds.push_back(end);
}

}  // namespace lanescope
