// SPDX-License-Identifier: Apache-2.0
#include "model/explain/inputDataSentence.h"

#include <fmt/format.h>

#include <optional>
#include <string_view>

#include "model/compare/IdleCauses.h"
#include "model/compare/StateWords.h"
#include "model/compare/shownNumbers.h"

namespace lanescope::explain {

using namespace compare;

namespace {

constexpr double leastShareTold = 0.03;
/// Of the time in which the GPU waits for data, so that nothing else is worth telling.
constexpr double mostlyGuessed = 0.9;

/// Whether it was not seen to wait for what may bring data.
bool isGuessed(std::string_view cause) {
    if (cause.find(IdleCauses::beforeBatchCopy) == std::string_view::npos) return false;
    const std::optional<ThreadState> state = stateTold(cause);
    return state != ThreadState::Poll && state != ThreadState::Disk && state != ThreadState::Lock;
}

/// Of that time, as far as it is known for what.
double guessedShare(const WorkerSummary& worker) {
    int64_t guessedNs = 0, allNs = 0;
    for (const Contributor& each : worker.contributors) {
        if (each.part != StepPart::DataLoading || each.kind == ContributorKind::Others) continue;
        allNs += each.exposedNs;
        if (isGuessed(each.name)) guessedNs += each.exposedNs;
    }
    return allNs > 0 ? static_cast<double>(guessedNs) / static_cast<double>(allNs) : 0;
}

}  // namespace

std::string inputDataSentence(const WorkerSummary& worker, const std::string& time,
                              const std::string& mostly) {
    const double guessed = guessedShare(worker);
    if (guessed >= mostlyGuessed)
        return fmt::format(
            "The GPU waits {} for the copy of the batch, mostly {}. That the CPU got data "
            "meanwhile "
            "is a guess: it was not seen to wait for any.",
            time, mostly);
    std::string text = fmt::format("The GPU waits {} for data: mostly {}.", time, mostly);
    if (guessed >= leastShareTold)
        text += fmt::format(
            " For {} % of it that is a guess: the CPU was not seen to wait for any data.",
            percentText(100 * guessed));
    return text;
}

}  // namespace lanescope::explain
