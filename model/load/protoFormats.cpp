// SPDX-License-Identifier: Apache-2.0
#include "model/load/protoFormats.h"

#include <algorithm>
#include <string>

#include "model/format/perfettoFields.h"
#include "model/format/protoFields.h"
#include "model/load/json/readJsonTrace.h"
#include "model/load/proto/perfettoAsJson.h"
#include "model/load/proto/xplaneAsJson.h"

namespace lanescope {

namespace {

/// An XPlane is one message, which is read as a whole.
constexpr size_t largestXplane = size_t{4} << 30;

Result<bool> isXplane(TraceSource& source) {
    return source.path().filename().string().ends_with(".xplane.pb") && !source.startsLikeSqlite();
}

/// The first message in what the file begins with, as far as that reaches.
std::string_view firstMessage(std::string_view start) {
    constexpr size_t longestLength = 10;
    size_t at = 1;
    while (at < start.size() && at < longestLength && (start[at] & 0x80) != 0) ++at;
    return start.substr(std::min(at + 1, start.size()));
}

/// A list of packets, the first of which says or refers to what packets of events do.
Result<bool> isPerfetto(TraceSource& source) {
    constexpr char listOfMessages = 0x0a;
    const std::string_view start = source.start();
    if (start.empty() || start.front() != listOfMessages) return false;
    const std::string name = source.path().filename().string();
    if (name.ends_with(".xplane.pb")) return false;
    if (name.ends_with(".pftrace") || name.ends_with(".perfetto-trace")) return true;
    namespace pf = perfetto::packet;
    using Kind = ProtoFields::Kind;
    for (ProtoFields fields(firstMessage(start)); fields.next();) {
        const uint32_t number = fields.number();
        const bool isNumber = fields.kind() == Kind::Number;
        if (isNumber && (number == pf::sequence || number == pf::sequenceFlags)) return true;
        if (!isNumber && (number == pf::trackDescriptor || number == pf::defaults)) return true;
        if (fields.kind() != Kind::Number && fields.kind() != Kind::Bytes) return false;
    }
    return false;
}

Result<void> readPerfetto(TraceSource& source, TraceBuilder& builder,
                          const LoadProgress& progress) {
    PerfettoAsJson events([&source](std::span<char> bytes) { return source.read(bytes); });
    const Result<void> read =
        readJsonTrace([&events](std::span<char> bytes) { return events.read(bytes); }, builder,
                      source.threads(), [&source] { return source.fractionRead(); }, progress);
    builder.description().producer = "Perfetto";
    return read;
}

Result<void> readXplane(TraceSource& source, TraceBuilder& builder, const LoadProgress& progress) {
    std::string space;
    constexpr size_t readAtOnce = size_t{1} << 20;
    while (true) {
        const size_t before = space.size();
        if (before > largestXplane)
            return fail("{} is larger than {} GiB, which no profile of JAX is.",
                        source.path().string(), largestXplane >> 30);
        space.resize(before + readAtOnce);
        const Result<size_t> got = source.read(std::span(space).subspan(before));
        if (!got) return fail(got.error());
        space.resize(before + *got);
        if (*got == 0) break;
    }
    XplaneAsJson events(space);
    const auto next = [&events](std::span<char> bytes) -> Result<size_t> {
        return events.read(bytes);
    };
    const auto fraction = [&events] { return events.fractionRead(); };
    const Result<void> read = readJsonTrace(next, builder, source.threads(), fraction, progress);
    builder.description().producer = "XLA";
    return read;
}

}  // namespace

const TraceFormat perfettoFormat{
    "perfetto", "a Perfetto trace", {".pftrace", ".perfetto-trace"}, isPerfetto, readPerfetto};
const TraceFormat xplaneFormat{
    "xplane", "an XPlane profile of JAX or TensorFlow", {".xplane.pb"}, isXplane, readXplane};

}  // namespace lanescope
