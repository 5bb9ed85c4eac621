// SPDX-License-Identifier: Apache-2.0
#include "model/notes/mergeNotes.h"

#include <map>
#include <set>
#include <string_view>

namespace lanescope {

namespace {

using ById = std::map<std::string_view, const Mark*>;

ById byId(const Notes& notes) {
    ById found;
    for (const Mark& mark : notes.marks) found.emplace(mark.id, &mark);
    return found;
}

const Mark* find(const ById& marks, std::string_view id) {
    const auto found = marks.find(id);
    return found != marks.end() ? found->second : nullptr;
}

bool areEqual(const Mark* one, const Mark* other) {
    return one && other ? *one == *other : one == other;
}

/// Null if the mark is to go.
const Mark* chosen(const Mark* base, const Mark* mine, const Mark* theirs) {
    if (areEqual(mine, base)) return theirs;
    if (areEqual(theirs, base)) return mine;
    if (!mine || !theirs) return mine ? mine : theirs;
    return theirs->changedUtcNs > mine->changedUtcNs ? theirs : mine;
}

}  // namespace

Notes mergeNotes(const Notes& base, const Notes& mine, const Notes& theirs) {
    const ById baseMarks = byId(base), myMarks = byId(mine), theirMarks = byId(theirs);
    std::set<std::string_view> ids;
    for (const ById* marks : {&myMarks, &theirMarks})
        for (const auto& [id, mark] : *marks) ids.insert(id);
    Notes merged;
    merged.foreign = theirs.foreign;
    for (const std::string_view id : ids) {
        const Mark* mark = chosen(find(baseMarks, id), find(myMarks, id), find(theirMarks, id));
        if (mark) merged.marks.push_back(*mark);
    }
    sortMarks(merged.marks);
    return merged;
}

}  // namespace lanescope
