// SPDX-License-Identifier: Apache-2.0
#include "model/format/checksums.h"

#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

#include "model/format/ReadWatch.h"
#include "model/format/UniqueFd.h"
#include "model/format/files.h"

namespace lanescope {

namespace {

uint64_t littleEndian64(std::span<const std::byte> bytes) {
    uint64_t word = 0;
    for (size_t at = 0; at < 8; ++at) word |= uint64_t{std::to_integer<uint8_t>(bytes[at])} << 8 * at;
    return word;
}

constexpr std::array<char, 8> sealMagic{'L', 'S', 'C', 'P', 'S', 'E', 'A', 'L'};
constexpr uint32_t sealVersion = 1;

/// Trailer of a sealed file, after the checksums of its pages.
struct SealEnd {
    uint32_t version = sealVersion;
    uint32_t pageBytes = 0;
    uint32_t pageCount = 0;
    uint32_t changeCounter = 0;
    uint32_t checksumOfList = 0;
    uint32_t checksum = 0;  ///< Checksum of the members above.
    std::array<char, 8> magic = sealMagic;
};
static_assert(sizeof(SealEnd) == 32);

using Bytes = std::span<const std::byte>;

uint32_t checksumOfEnd(const SealEnd& end) {
    return checksumOf(std::as_bytes(std::span(&end, 1)).first(offsetof(SealEnd, checksum)));
}

/// Returns 0 or an errno value. A file that ends early is an I/O error.
int readAll(int file, std::span<std::byte> to, uint64_t at) {
    if (readAllAt(file, to.data(), to.size(), at) == to.size()) return 0;
    return errno != 0 ? errno : EIO;
}

int writeAll(int file, Bytes bytes, uint64_t at) {
    return writeAllAt(file, bytes.data(), bytes.size(), at) ? 0 : errno;
}

struct Header {
    uint32_t pageBytes = 0, pageCount = 0, changeCounter = 0;
};

/// Returns nullopt if the header has no valid page count.
std::optional<Header> headerOf(std::span<const std::byte, sqliteHeaderBytes> bytes) {
    const auto* from = reinterpret_cast<const unsigned char*>(bytes.data());
    const uint64_t whole = sqliteFileBytes({from, bytes.size()});
    Header header{.pageBytes = uint32_t{from[16]} << 8 | from[17]};
    if (header.pageBytes == 1) header.pageBytes = 65536;
    if (whole == 0 || header.pageBytes < 512 || whole / header.pageBytes > UINT32_MAX) return std::nullopt;
    header.pageCount = static_cast<uint32_t>(whole / header.pageBytes);
    header.changeCounter = changeCounterIn(bytes);
    return header;
}

int checksumPages(int file, const Header& header, std::vector<uint32_t>& checksums) {
    constexpr size_t bytesAtOnce = size_t{1} << 20;
    std::vector<std::byte> part(bytesAtOnce);
    const size_t pagesAtOnce = bytesAtOnce / header.pageBytes;
    for (size_t first = 0; first < header.pageCount; first += pagesAtOnce) {
        const size_t count = std::min(pagesAtOnce, header.pageCount - first);
        const std::span<std::byte> pages(part.data(), count * header.pageBytes);
        if (const int error = readAll(file, pages, uint64_t{first} * header.pageBytes); error != 0) return error;
        for (size_t page = 0; page < count; ++page)
            checksums.push_back(checksumOf(pages.subspan(page * header.pageBytes, header.pageBytes)));
    }
    return 0;
}

/// Returns 0 or an errno value. After a failure no bytes remain after the pages.
int seal(int file, const Header& header) {
    std::vector<uint32_t> checksums;
    if (const int error = checksumPages(file, header, checksums); error != 0) return error;
    const Bytes list = std::as_bytes(std::span(checksums));
    SealEnd end{.pageBytes = header.pageBytes,
                .pageCount = header.pageCount,
                .changeCounter = header.changeCounter,
                .checksumOfList = checksumOf(list)};
    end.checksum = checksumOfEnd(end);
    const uint64_t behindPages = uint64_t{header.pageBytes} * header.pageCount;
    if (::ftruncate(file, static_cast<off_t>(behindPages)) != 0) return errno;
    int error = writeAll(file, list, behindPages);
    if (error == 0) error = writeAll(file, std::as_bytes(std::span(&end, 1)), behindPages + list.size());
    if (error != 0) static_cast<void>(::ftruncate(file, static_cast<off_t>(behindPages)) == 0);
    return error;
}

PageSeal sealBefore(const SealEnd& end, uint64_t fileBytes, const ReadAt& read) {
    PageSeal found{.state = SealState::Broken};
    std::array<std::byte, sqliteHeaderBytes> header{};
    const uint64_t listBytes = uint64_t{end.pageCount} * sizeof(uint32_t);
    if (end.checksum != checksumOfEnd(end) || end.version != sealVersion || listBytes > fileBytes - sizeof end ||
        !read(header, 0))
        return found;
    found.pageBytes = end.pageBytes;
    found.changeCounter = end.changeCounter;
    std::vector<uint32_t> checksums(end.pageCount);
    const std::span<std::byte> list = std::as_writable_bytes(std::span(checksums));
    const bool isListGood = read(list, fileBytes - sizeof end - listBytes) && checksumOf(list) == end.checksumOfList;
    if (!isListGood) return found;
    found.state = changeCounterIn(header) == end.changeCounter ? SealState::Whole : SealState::Changed;
    found.checksums = std::move(checksums);
    return found;
}

}  // namespace

SipHash::SipHash(const Key& key) {
    const uint64_t first = littleEndian64(key), second = littleEndian64(std::span(key).subspan(8));
    v0_ = first ^ 0x736f6d6570736575;
    v1_ = second ^ 0x646f72616e646f6d ^ 0xee;
    v2_ = first ^ 0x6c7967656e657261;
    v3_ = second ^ 0x7465646279746573;
}

void SipHash::mix(int rounds) {
    for (int round = 0; round < rounds; ++round) {
        v0_ += v1_, v2_ += v3_;
        v1_ = std::rotl(v1_, 13) ^ v0_, v3_ = std::rotl(v3_, 16) ^ v2_;
        v0_ = std::rotl(v0_, 32);
        v2_ += v1_, v0_ += v3_;
        v1_ = std::rotl(v1_, 17) ^ v2_, v3_ = std::rotl(v3_, 21) ^ v0_;
        v2_ = std::rotl(v2_, 32);
    }
}

void SipHash::addWord(uint64_t word) {
    v3_ ^= word;
    mix(2);
    v0_ ^= word;
}

void SipHash::add(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
        if (count_ % 8 == 0 && bytes.size() >= 8) {
            addWord(littleEndian64(bytes));
            count_ += 8;
            bytes = bytes.subspan(8);
            continue;
        }
        word_ |= uint64_t{std::to_integer<uint8_t>(bytes.front())} << 8 * (count_ % 8);
        bytes = bytes.subspan(1);
        if (++count_ % 8 == 0) addWord(std::exchange(word_, 0));
    }
}

SipHash::Value SipHash::value() {
    addWord(count_ << 56 | word_);
    v2_ ^= 0xee;
    Value value;
    for (size_t half = 0; half < 2; ++half) {
        if (half == 1) v1_ ^= 0xdd;
        mix(4);
        const uint64_t word = v0_ ^ v1_ ^ v2_ ^ v3_;
        for (size_t at = 0; at < 8; ++at) value[half * 8 + at] = static_cast<std::byte>(word >> 8 * at);
    }
    return value;
}

uint32_t checksumOf(std::span<const std::byte> bytes, uint32_t before) {
    const auto* from = reinterpret_cast<const Bytef*>(bytes.data());
    return static_cast<uint32_t>(::crc32_z(before, from, bytes.size()));
}

bool PageSeal::isAsSealed(size_t number, std::span<const std::byte> page) const {
    if (page.size() != pageBytes) return true;
    if (number >= checksums.size()) return state != SealState::Changed;
    return checksumOf(page) == checksums[number];
}

uint32_t changeCounterIn(std::span<const std::byte> header) {
    uint32_t counter = 0;
    for (size_t at = 24; at < 28 && at < header.size(); ++at)
        counter = counter << 8 | std::to_integer<uint32_t>(header[at]);
    return counter;
}

Result<void> sealPages(const std::filesystem::path& path) {
    const UniqueFd file = openToChange(path);
    int error = file < 0 ? errno : 0;
    std::array<std::byte, sqliteHeaderBytes> bytes{};
    struct stat status {};
    if (error == 0) error = readAll(file, bytes, 0);
    if (error == 0 && ::fstat(file, &status) != 0) error = errno;
    const std::optional<Header> header = error == 0 ? headerOf(bytes) : std::nullopt;
    const bool isWhole =
        header && uint64_t{header->pageBytes} * header->pageCount <= static_cast<uint64_t>(status.st_size);
    if (isWhole) error = seal(file, *header);
    if (error != 0) return fail("{}: the checksums could not be written: {}.", path.string(), std::strerror(error));
    if (!isWhole) return fail("{}: the checksums could not be written, the file is truncated.", path.string());
    return {};
}

PageSeal readSeal(uint64_t fileBytes, const ReadAt& read) {
    SealEnd end;
    if (fileBytes < sqliteHeaderBytes + sizeof end ||
        !read(std::as_writable_bytes(std::span(&end, 1)), fileBytes - sizeof end) || end.magic != sealMagic)
        return {};
    return sealBefore(end, fileBytes, read);
}

}  // namespace lanescope
