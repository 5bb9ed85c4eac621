// SPDX-License-Identifier: Apache-2.0
// Opens by path what a recording opens in a folder that it holds.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include "capture/collector/Collector.h"
#include "capture/log/LogFile.h"
#include "capture/log/LogReader.h"
#include "capture/sample/SampleLog.h"
#include "model/format/files.h"

namespace lanescope::test {

inline Result<std::shared_ptr<const Folder>> openFolder(const std::filesystem::path& path) {
    Result<Folder> folder = Folder::open(path);
    if (!folder) return fail(folder.error());
    return std::make_shared<const Folder>(std::move(*folder));
}

/// Returns the log of an absolute path without its suffix, in a folder without a session.
inline log::LogFile logFileAt(const std::string& pathWithoutSuffix) {
    const std::filesystem::path path = pathWithoutSuffix;
    return {log::LogFolder(path.parent_path().string()), path.filename().string()};
}

inline capture::SampleLog sampleLogAt(const std::string& pathWithoutSuffix, uint64_t maxBytes) {
    const std::filesystem::path path = pathWithoutSuffix;
    return {log::LogFolder(path.parent_path().string()), path.filename().string(), maxBytes};
}

inline Result<log::LogReader> openLog(const std::filesystem::path& path) {
    const auto folder = openFolder(path.has_parent_path() ? path.parent_path() : ".");
    if (!folder) return fail(folder.error());
    return log::LogReader::open(*folder, path.filename().string());
}

inline Result<std::unique_ptr<capture::Collector>> beginCollector(const std::filesystem::path& runFolder,
                                                                  std::filesystem::path output, capture::RunInfo info) {
    const auto folder = openFolder(runFolder);
    if (!folder) return fail(folder.error());
    return capture::Collector::begin(*folder, std::move(output), std::move(info));
}

}  // namespace lanescope::test
