// SPDX-License-Identifier: Apache-2.0
#include "model/importers/sqlite/ProfileContext.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "model/format/factNames.h"
#include "model/format/text.h"
#include "model/text/kernelNames.h"

namespace lanescope {

void ProfileContext::beginWith(const char* table, const char* column) {
    RowReader reader(context_, table, {column}, "times");
    while (reader.next())
        if (const std::optional<int64_t> timeNs = reader.integer(0); timeNs && *timeNs > 0)
            firstNs_ = std::min(firstNs_, *timeNs);
}

void ProfileContext::readTexts(const char* table, const char* numberColumn, const char* textColumn) {
    texts_.clear();
    demangled_.clear();
    RowReader reader(context_, table, {numberColumn, textColumn}, "strings");
    while (reader.next())
        if (const int64_t number = reader.integerOr(0, 0); number != 0)
            texts_[number] = builder().intern(reader.text(1));
}

StringIndex ProfileContext::text(int64_t number) const { return valueOr(texts_, number, StringIndex{0}); }

void ProfileContext::nameKernel(LaunchConfig& config, StringIndex name) {
    const auto [found, isNew] = demangled_.try_emplace(name, name);
    if (isNew) {
        std::string mangled(builder().text(name));
        // Suffix of kernel descriptors in code objects.
        constexpr std::string_view descriptor = ".kd";
        if (mangled.ends_with(descriptor)) mangled.resize(mangled.size() - descriptor.size());
        found->second = builder().intern(demangledName(mangled).value_or(mangled));
    }
    config.mangledName = name;
    config.demangledName = found->second;
    const std::string whole(builder().text(config.demangledName));
    config.shortName = builder().intern(kernelBaseName(whole));
}

void ProfileContext::noteOthers() {
    for (const auto& [name, count] : others_)
        builder().note(Severity::Info, HealthCode::NotShown,
                       fmt::format("Not shown here: {} GPU operations named \"{}\".", count, name), count);
}

MemcpyKind rocmCopyKind(std::string_view name) {
    std::string word;
    for (const char c : name)
        if (isLetter(c)) word += lowerCase(c);
    constexpr std::array<std::pair<std::string_view, MemcpyKind>, 4> words{{{"hosttodevice", MemcpyKind::HtoD},
                                                                            {"devicetohost", MemcpyKind::DtoH},
                                                                            {"devicetodevice", MemcpyKind::DtoD},
                                                                            {"hosttohost", MemcpyKind::HtoH}}};
    for (const auto& [ending, kind] : words)
        if (word.find("copy") != std::string::npos && word.ends_with(ending)) return kind;
    return MemcpyKind::Unknown;
}

}  // namespace lanescope
