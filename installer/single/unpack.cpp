// SPDX-License-Identifier: Apache-2.0
#include "installer/single/unpack.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <string_view>
#include <vector>

#include "installer/single/XzReader.h"

namespace lanescope::single {

namespace {

namespace fs = std::filesystem;

// As installer/viewer writes it: "\nLANESCOPE-VIEWER SIZE SHA256\n", the size with 12 digits.
constexpr std::string_view trailerName = "\nLANESCOPE-VIEWER ";
constexpr size_t sizeDigits = 12;
constexpr size_t hashDigits = 64;
constexpr size_t trailerSize = trailerName.size() + sizeDigits + 1 + hashDigits + 1;

constexpr const char* listName = "unpacked";  // "SIZE SECONDS PATH" of each file
constexpr size_t blockSize = 512;
using Block = std::array<uint8_t, blockSize>;

std::string textAt(const Block& header, size_t start, size_t size) {
    const auto* const text = reinterpret_cast<const char*>(header.data()) + start;
    return {text, strnlen(text, size)};
}

uint64_t octalAt(const Block& header, size_t start, size_t size) {
    const std::string text = textAt(header, start, size);
    uint64_t number = 0;
    std::from_chars(text.data(), text.data() + text.size(), number, 8);
    return number;
}

struct Entry {
    std::string path;  ///< Relative.
    uint64_t size = 0;
    mode_t mode = 0;
    int64_t seconds = 0;
    char type = 0;
};

Entry entryOf(const Block& header) {
    const std::string before = textAt(header, 345, 155);
    const std::string name = textAt(header, 0, 100);
    return {before.empty() ? name : before + "/" + name, octalAt(header, 124, 12),
            static_cast<mode_t>(octalAt(header, 100, 8)), static_cast<int64_t>(octalAt(header, 136, 12)),
            static_cast<char>(header[156])};
}

bool staysInside(const fs::path& path) {
    if (path.empty() || path.is_absolute()) return false;
    for (const fs::path& part : path)
        if (part == "..") return false;
    return true;
}

std::string systemProblem(const fs::path& path) {
    return path.string() + " cannot be written: " + std::strerror(errno);
}

/// Copies an entry's content, with what fills its last block.
std::string writeFile(XzReader& reader, const Entry& entry, const fs::path& path) {
    const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, entry.mode & 0700);
    if (file < 0) return systemProblem(path);
    std::vector<uint8_t> piece(256 * blockSize);
    std::string problem;
    for (uint64_t left = entry.size; left > 0 && problem.empty();) {
        const size_t content = std::min<uint64_t>(left, piece.size());
        const size_t padded = (content + blockSize - 1) / blockSize * blockSize;
        if (!reader.read({piece.data(), padded})) problem = "it is damaged";
        for (size_t done = 0; done < content && problem.empty();) {
            const ssize_t written = ::write(file, piece.data() + done, content - done);
            if (written < 0)
                problem = systemProblem(path);
            else
                done += static_cast<size_t>(written);
        }
        left -= content;
    }
    const timespec date{entry.seconds, 0};
    const timespec dates[2] = {date, date};
    if (problem.empty() && ::futimens(file, dates) != 0) problem = systemProblem(path);
    if (::close(file) != 0 && problem.empty()) problem = systemProblem(path);
    return problem;
}

}  // namespace

Payload findPayload(std::string& problem) {
    Payload payload;
    const int file = ::open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    const off_t size = file < 0 ? 0 : ::lseek(file, 0, SEEK_END);
    std::array<char, trailerSize> trailer{};
    const auto length = static_cast<off_t>(trailerSize);
    const bool isRead = size > length && ::pread(file, trailer.data(), trailerSize, size - length) == length;
    const std::string_view text(trailer.data(), trailer.size());
    if (isRead && text.starts_with(trailerName) && text.back() == '\n') {
        const std::string_view digits = text.substr(trailerName.size(), sizeDigits);
        std::from_chars(digits.data(), digits.data() + digits.size(), payload.size);
    }
    payload.start = size - length - payload.size;
    if (payload.size <= 0 || payload.start <= 0) {
        problem = "this file is not whole; copy it again";
        if (file >= 0) ::close(file);
        return payload;
    }
    payload.identifier = text.substr(trailerName.size() + sizeDigits + 1, 16);
    payload.file = file;
    return payload;
}

std::string unpack(const Payload& payload, const fs::path& folder) {
    XzReader reader(payload);
    std::string list;
    for (;;) {
        Block header;
        if (!reader.read(header)) return "it is damaged";
        if (header[0] == 0) break;
        const Entry entry = entryOf(header);
        const fs::path path = folder / entry.path;
        if (!staysInside(entry.path)) return "it is damaged";
        if (entry.type == '5') {
            if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) return systemProblem(path);
            continue;
        }
        if (entry.type != '0') return "it is damaged";
        if (const std::string problem = writeFile(reader, entry, path); !problem.empty()) return problem;
        list += std::to_string(entry.size) + " " + std::to_string(entry.seconds) + " " + entry.path + "\n";
    }
    if (!reader.isAtSoundEnd()) return "it is damaged";
    std::ofstream file(folder / listName);
    if (!file.write(list.data(), static_cast<std::streamsize>(list.size())).flush())
        return systemProblem(folder / listName);
    return {};
}

bool isUnpacked(const fs::path& folder) {
    std::ifstream list(folder / listName);
    int64_t size = 0;
    int64_t seconds = 0;
    std::string path;
    int files = 0;
    while (list >> size >> seconds && list.ignore() && std::getline(list, path)) {
        struct stat found {};
        if (::lstat((folder / path).c_str(), &found) != 0 || !S_ISREG(found.st_mode)) return false;
        if (found.st_size != size || found.st_mtime != seconds) return false;
        ++files;
    }
    return files > 0;
}

}  // namespace lanescope::single
