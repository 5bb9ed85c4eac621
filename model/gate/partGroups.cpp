// SPDX-License-Identifier: Apache-2.0
#include "model/gate/partGroups.h"

#include <array>

#include "model/values/lowerCase.h"

namespace lanescope::gate {

using namespace compare;

namespace {

/// Lower case, with '_' between words: so all ways to write a name are one.
std::string normalized(std::string_view name) {
    std::string result = lowerCase(std::string(name));
    for (char& letter : result)
        if (letter == ' ' || letter == '-') letter = '_';
    return result;
}

bool isExposedCopy(StepPart part) {
    return groupOf(part) == PartGroup::Copies && part != StepPart::Memset;
}

bool isCommunication(StepPart part) {
    return groupOf(part) == PartGroup::Collectives;
}

struct Group {
    std::string_view name;
    bool (*holds)(StepPart);
};

constexpr std::array<Group, 3> groups{
    {{"communication", isCommunication}, {"copies", isExposedCopy}, {"idle", isIdle}}};

std::vector<StepPart> allParts() {
    std::vector<StepPart> parts;
    for (size_t index = 0; index < stepPartCount; ++index)
        parts.push_back(static_cast<StepPart>(index));
    return parts;
}

}  // namespace

std::vector<StepPart> partsCalled(std::string_view name) {
    const std::string wanted = normalized(name);
    std::vector<StepPart> found;
    for (const Group& group : groups) {
        if (group.name != wanted) continue;
        for (const StepPart part : allParts())
            if (group.holds(part)) found.push_back(part);
        return found;
    }
    for (const StepPart part : allParts())
        if (normalized(compare::name(part)) == wanted || normalized(identifier(part)) == wanted)
            return {part};
    return found;
}

std::string partNames() {
    std::string text;
    for (const StepPart part : allParts()) text += std::string(identifier(part)) + ", ";
    return text +
           "communication (exposed or waiting), copies (all that are exposed) and idle (all that "
           "is)";
}

}  // namespace lanescope::gate
