// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "model/assemble/TraceBuilder.h"
#include "model/format/Result.h"
#include "model/importers/events/ImportedEvents.h"
#include "model/importers/events/ProtoCursor.h"
#include "model/importers/events/emitEvents.h"

namespace lanescope {

/// The facts of a trace other than its events, by name. Values are JSON text, strings are unescaped.
using TopLevelFacts = std::map<std::string, std::string, std::less<>>;

struct ImportedFile {
    TopLevelFacts facts = {};
    bool isClosed = false;           ///< The trace ends as it should, and is not truncated.
    bool isTopLevelCorrupt = false;  ///< Members other than events are corrupt.
    bool areEventsComplete = false;  ///< The end of the events was read.
    bool isTooLong = false;          ///< The rest was not read.
    uint64_t bytes = 0;              ///< Decompressed.
    std::optional<Error> readError;  ///< The reason for a premature end.
};

/// Returns how the read of a file of messages has ended, and adds its corruption to `events`.
ImportedFile endOf(const ProtoStream& stream, ImportedEvents& events);

/// Notes that `what` is missing at the end of a file that is truncated after `bytes`, or unreadable from there on.
void noteTruncation(TraceBuilder& builder, uint64_t bytes, std::string_view what,
                    const std::optional<Error>& readError);
/// Notes that the file is longer than the maximum, and only its first `bytes` were read.
void noteTooLong(TraceBuilder& builder, uint64_t bytes);

/// Returns the rank in the facts of the file, or in its name ("rank3_trace.json"), or -1.
int rankOf(const TopLevelFacts& facts, const std::filesystem::path& path);

/// Sets the description of the trace: recorder, time, GPUs, ranks. Requires that GPUs and processes are known.
void describeImportedFile(const ImportedFile& file, EmitContext& output);

/// Adds health notes on unreadable, inconsistent and skipped contents. `corruption` is the code for a corrupt file.
void noteImportedFile(const ImportedFile& file, const EmitFindings& findings, EmitContext& output,
                      HealthCode corruption = HealthCode::JsonDamaged);

/// Notes the number of corrupt parts of a file that were skipped. `what` is their name in the plural.
void noteCorruptParts(std::string_view what, int64_t count, TraceBuilder& builder);

}  // namespace lanescope
