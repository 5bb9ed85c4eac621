// SPDX-License-Identifier: Apache-2.0
#include "model/load/sqlite/CallchainStacks.h"

#include <algorithm>
#include <vector>

#include "model/load/sqlite/TableReader.h"

namespace lanescope {

namespace {

struct Frame {
    int64_t id;
    int64_t depth;
    StringIndex function, module;
    uint32_t line;
};

}  // namespace

CallchainStacks::CallchainStacks(LoadContext& context, FileDirectory& directory,
                                 const tables::Callchains& table) {
    TableReader reader(context, table,
                       {table.id, table.symbol, table.module, table.stackDepth, table.line},
                       "call stacks");
    std::vector<Frame> frames;
    while (reader.next()) {
        const auto id = reader.integer(table.id);
        const auto function = reader.string(table.symbol, directory.strings);
        if (!id || !function) {
            reader.skipRow();
            continue;
        }
        frames.push_back({*id, reader.integerOr(table.stackDepth, 0), *function,
                          reader.string(table.module, directory.strings).value_or(0),
                          reader.unsigned32(table.line)});
    }
    // Of each stack the outermost first.
    std::ranges::stable_sort(frames, [](const Frame& a, const Frame& b) {
        return a.id != b.id ? a.id < b.id : a.depth > b.depth;
    });
    std::map<std::tuple<uint32_t, StringIndex, StringIndex, uint32_t>, uint32_t> known;
    uint32_t stack = noIndex;
    for (size_t at = 0; at < frames.size(); ++at) {
        const Frame& frame = frames[at];
        if (at == 0 || frames[at - 1].id != frame.id) stack = noIndex;
        const auto [place, isNew] =
            known.try_emplace({stack, frame.function, frame.module, frame.line}, 0);
        if (isNew)
            place->second =
                context.builder().stack(stack, frame.function, frame.module, frame.line);
        stack = place->second;
        stacks_.insert_or_assign(frame.id, stack);
    }
}

}  // namespace lanescope
