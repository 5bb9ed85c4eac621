// SPDX-License-Identifier: Apache-2.0
// Runs the script of a page without a document, and prints what it computes: numbers.mjs PAGE RANGES
import fs from "node:fs";

const html = fs.readFileSync(process.argv[2], "utf8");
const script = [...html.matchAll(/<script>([^]*?)<\/script>/g)][1][1];
// The part that needs no document ends where the colours begin.
const numbers = script.slice(0, script.indexOf("const themes="));
const { unpack, PageTrace, Kind } = new Function(numbers + "\nreturn { unpack, PageTrace, Kind };")();
const answers = [];
for (const data of html.matchAll(/<script type="application\/octet-stream" class="trace">([^<]*)</g)) {
  const trace = new PageTrace(await unpack(data[1]));
  const { tables, card, steps, full, start, end } = trace;
  const sums = JSON.parse(process.argv[3]).map(([from, to]) => ({ kernels: trace.sums(Kind.kernel, from, to), copies: trace.sums(Kind.memcpy, from, to), counters: trace.counters(from, to).map(each => [each.count, each.min, each.max]), busy: trace.busy(from, to) }));
  const gaps = trace.tracks.filter(track => track.kind === -1).flatMap(track => track.lanes.flatMap(lane => Array.from({ length: lane.to - lane.from },
    (_, at) => [trace.begin[lane.from + at], trace.finish[lane.from + at], trace.wholeText(trace.name[lane.from + at])])));
  const flows = Array.from({ length: trace.size }, (_, item) => trace.arrows(item)).flat().filter(each => each[3] === "Last rank")
    .map(([cause, effect]) => [trace.trackAt(cause), trace.trackAt(effect)].map(track => track.parent).concat(trace.begin[cause], trace.begin[effect]));
  answers.push({ flows, tables, card, steps, full, start, end, sums, gaps, size: trace.size, texts: trace.texts, tracks: trace.tracks.length });
}
console.log(JSON.stringify(answers));
