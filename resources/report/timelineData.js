"use strict";
// The data of a timeline, and every number that its page shows. Needs no document: tests run it alone.

const Kind = { kernel: 1, memcpy: 2, memset: 3, api: 4, nvtx: 6 };
const Category = { kernel: 0, waiting: 2, nvtx: 13, projection: 15, busy: 19, firstPart: 28 };
const isRun = 64, hasEvent = 128;

// Bytes of variable-length numbers.
class NumberReader {
  constructor(bytes, from, to) { this.bytes = bytes; this.at = from; this.end = to; }
  byte() { return this.at < this.end ? this.bytes[this.at++] : 0; }
  number() {
    let value = this.byte();
    if (value < 128) return value;
    value -= 128;
    for (let scale = 128, next = 128; next > 127; scale *= 128) value += ((next = this.byte()) & 127) * scale;
    return value;
  }
  signed() {
    const value = this.number();
    return value % 2 ? -(value + 1) / 2 : value / 2;
  }
  real() {
    const view = new DataView(new ArrayBuffer(8));
    for (let index = 0; index < 8; ++index) view.setUint8(index, this.byte());
    return view.getFloat64(0, true);
  }
}

async function unpack(base64) {
  const text = atob(base64), bytes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; ++at) bytes[at] = text.charCodeAt(at);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

// A trace as a page has it: `lanes` are ranges of the columns `start`, `end`, `name`, `flags`, ...
class PageTrace {
  constructor(bytes) {
    const sizes = new NumberReader(bytes, 0, bytes.length);
    const length = sizes.number();
    const lengths = Array.from({ length: 13 }, () => sizes.number());
    Object.assign(this, JSON.parse(new TextDecoder().decode(bytes.subarray(sizes.at, sizes.at + length))));
    let from = sizes.at + length;
    const readers = lengths.map(each => new NumberReader(bytes, from, from += each));
    const size = this.tracks.reduce((sum, track) => sum + track.lanes.reduce((all, each) => all + each, 0), 0);
    this.size = size;
    this.begin = new Float64Array(size);
    this.finish = new Float64Array(size);
    this.name = new Uint32Array(size);
    this.flags = new Uint8Array(size);
    this.count = new Uint32Array(size).fill(1);
    this.busyBefore = new Float64Array(size + 1);
    this.kind = new Uint8Array(size);
    this.row = new Uint32Array(size);
    this.detail = new Uint32Array(size);
    this.cause = new Uint32Array(size);
    this.color = this.colors ? new Uint32Array(size) : null;
    this.laneOf = new Uint32Array(size);
    this.lanes = [];
    this.readItems(readers);
    this.readCounters(readers[11], readers[12]);
  }

  readItems([starts, durations, names, flags, counts, busy, kinds, rows, details, causes, colors]) {
    let item = 0;
    this.tracks.forEach((track, trackIndex) => {
      track.lanes = track.lanes.map((size, index) => {
        const lane = { track: trackIndex, index, from: item, to: item + size, number: this.lanes.length };
        this.lanes.push(lane);
        const lastRows = new Float64Array(16);
        let time = 0, cause = 0;
        for (; item < lane.to; ++item) {
          this.begin[item] = time += starts.signed();
          this.finish[item] = time += durations.number();
          this.name[item] = names.number();
          this.laneOf[item] = lane.number;
          const flag = this.flags[item] = flags.byte();
          let busyNs = time - this.begin[item];
          if (flag & isRun) {
            this.count[item] = counts.number();
            busyNs = busy.number();
          }
          this.busyBefore[item + 1] = this.busyBefore[item] + busyNs;
          if (!(flag & hasEvent)) continue;
          const kind = this.kind[item] = kinds.byte();
          this.row[item] = lastRows[kind] += rows.signed();
          this.detail[item] = details.number();
          if (kind === Kind.kernel || kind === Kind.memcpy || kind === Kind.memset || kind === 8) this.cause[item] = cause += causes.signed();
          if (this.color) this.color[item] = colors.number();
        }
        return lane;
      });
    });
  }

  readCounters(values, parts) {
    for (const track of this.tracks) {
      const counter = track.counter;
      if (counter) {
        counter.time = new Float64Array(counter.count);
        counter.min = new Float64Array(counter.count);
        counter.max = new Float64Array(counter.count);
        let time = this.start, last = 0;
        for (let index = 0; index < counter.count; ++index) {
          counter.time[index] = time += values.signed();
          counter.min[index] = counter.whole ? last += values.signed() : values.real();
          counter.max[index] = counter.whole ? last + values.number() : values.real();
        }
      }
      const strip = track.parts;
      if (!strip) continue;
      const partCount = 13;
      strip.shares = parts.bytes.subarray(parts.at, parts.at += strip.columns * partCount);
      strip.time = new Float64Array(strip.pieces);
      strip.part = new Uint8Array(strip.pieces);
      let time = this.full[0];
      for (let index = 0; index < strip.pieces; ++index) {
        strip.time[index] = time += parts.number();
        strip.part[index] = parts.byte();
      }
    }
  }

  laneAt(item) { return this.lanes[this.laneOf[item]]; }
  trackAt(item) { return this.tracks[this.laneAt(item).track]; }
  category(item) { return this.flags[item] & 63; }
  isRun(item) { return (this.flags[item] & isRun) !== 0; }
  // Names with a short form are stored as both.
  text(name) { const text = this.texts[name]; return Array.isArray(text) ? text[0] : text; }
  wholeText(name) { const text = this.texts[name]; return Array.isArray(text) ? text[1] : text; }
  fullName(item) { return this.wholeText(this.details[this.detail[item]][0] || this.name[item]); }
  bytesOf(item) { return this.details[this.detail[item]][1]; }

  // The first item of a lane that ends after a time.
  firstAfter(lane, time) {
    let low = lane.from, high = lane.to;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.finish[middle] > time || (this.finish[middle] === time && this.begin[middle] === time)) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  // Items by row of their call, and by the call that launched them.
  links() {
    if (this.made) return this.made;
    const calls = new Map(), work = new Map(), ranks = new Map(), moving = new Map();
    for (const rows of this.ranks) for (const row of rows) ranks.set(row, rows);
    for (let item = 0; item < this.size; ++item) {
      if (this.kind[item] === Kind.api) calls.set(this.row[item] + 1, item);
      if (this.kind[item] === Kind.kernel && ranks.has(this.row[item])) moving.set(this.row[item], item);
      if (!this.cause[item]) continue;
      if (work.has(this.cause[item])) work.get(this.cause[item]).push(item);
      else work.set(this.cause[item], [item]);
    }
    return this.made = { calls, work, ranks, moving };
  }
  // Cause, effect, the other one of both and its meaning, of each arrow of an item.
  arrows(item) {
    const { calls, work, ranks, moving } = this.links(), row = this.row[item];
    if (this.kind[item] === Kind.api) return (work.get(row + 1) || []).map(each => [item, each, each, "Launches"]);
    const call = this.cause[item] ? calls.get(this.cause[item]) : undefined, list = call === undefined ? [] : [[call, item, call, "Launched by"]];
    const rows = this.kind[item] === Kind.kernel && ranks.get(row);
    if (rows) {
      const last = rows.at(-1), own = moving.get(row), other = moving.get(row === last ? rows[0] : last);
      list.push(row === last ? [own, other, other, "Longest wait"] : [other, own, other, "Last rank"]);
    }
    return list;
  }

  isInFull(from, to) { return from >= this.full[0] && to <= this.full[1]; }

  // Sums of the events in a range within the full part, as `stats --range` counts: an event that overlaps the range
  // counts once, its total and bytes are the part inside, all other figures are of whole events.
  sums(kind, from, to) {
    const groups = new Map();
    for (const lane of this.lanes) {
      if (this.tracks[lane.track].kind !== 1) continue;
      for (let item = this.firstAfter(lane, from); item < lane.to && this.begin[item] < to; ++item) {
        if (this.kind[item] !== kind) continue;
        // The waiting of a collective and its transfer are one kernel.
        let begin = item, end = item;
        const isSame = other => this.kind[other] === kind && this.row[other] === this.row[item];
        while (begin > lane.from && isSame(begin - 1)) --begin;
        while (end + 1 < lane.to && isSame(end + 1)) ++end;
        this.addTo(groups, this.fullName(item), this.begin[begin], this.finish[end], Math.max(0, this.bytesOf(item)), from, to);
        item = end;
      }
    }
    return [...groups.values()].sort((one, other) => other.total - one.total || (one.name < other.name ? -1 : 1));
  }
  addTo(groups, name, begin, end, bytes, from, to) {
    const duration = end - begin;
    if (end <= from && !(duration === 0 && begin >= from)) return;
    let group = groups.get(name);
    if (!group) groups.set(name, group = { name, count: 0, total: 0, sum: 0, min: Infinity, max: 0, bytes: 0 });
    ++group.count;
    const inside = Math.min(end, to) - Math.max(begin, from);
    group.total += inside;
    group.sum += duration;
    group.min = Math.min(group.min, duration);
    group.max = Math.max(group.max, duration);
    group.bytes += Math.round(bytes * inside / duration || bytes);
  }

  // Extremes of the counter values in effect in a range within the full part.
  counters(from, to) {
    return this.tracks.flatMap(track => {
      const { counter } = track;
      let count = 0, min = Infinity, max = -Infinity;
      for (let each = 0; counter && each < counter.count && counter.time[each] < to; ++each) {
        if (counter.time[each + 1] <= from || !(counter.max[each] >= counter.min[each])) continue;
        ++count;
        min = Math.min(min, counter.min[each]);
        max = Math.max(max, counter.max[each]);
      }
      return count ? [{ track, count, min, max }] : [];
    });
  }

  // Share of a range in which each GPU was busy, by its summary lane.
  busy(from, to) {
    return this.tracks.filter(track => track.kind === 0 && track.lanes.length).map(track => {
      const lane = track.lanes[0];
      let ns = 0;
      for (let item = this.firstAfter(lane, from); item < lane.to && this.begin[item] < to; ++item)
        ns += Math.min(this.finish[item], to) - Math.max(this.begin[item], from);
      return { title: track.title, ns };
    });
  }
}

// The texts of numbers: those of the command line.

const withThousands = text => text.replace(/^(-?\d+)/, digits => digits.replace(/\B(?=(\d{3})+$)/g, ","));
function shortNumber(value) {
  const size = Math.abs(value);
  return size < 9.9995 ? value.toFixed(3) : size < 99.995 ? value.toFixed(2) : size < 999.95 ? value.toFixed(1) : withThousands(value.toFixed(0));
}
function scaled(value, units) {
  let index = 0;
  while (index + 1 < units.length && Math.abs(value) >= units[index + 1][0] * 0.99995) ++index;
  return [value / units[index][0], units[index][1], index];
}
function durationText(ns) {
  const [value, unit, index] = scaled(ns, [[1, "ns"], [1e3, "\u00b5s"], [1e6, "ms"], [1e9, "s"]]);
  return index === 0 && Number.isInteger(ns) ? ns + " ns" : shortNumber(value) + " " + unit;
}
function bytesText(bytes) {
  const [value, unit, index] = scaled(bytes, ["B", "KiB", "MiB", "GiB", "TiB"].map((name, power) => [1024 ** power, name]));
  return index === 0 ? bytes.toFixed(0) + " B" : withThousands(value.toFixed(2)) + " " + unit;
}
const countText = count => withThousands(Number.isInteger(count) ? String(count) : count.toFixed(1));
function rateText(rate) {
  const size = Math.abs(rate);
  return size >= 0.0005 || size === 0 ? shortNumber(rate) + " GB/s" : size >= 1e-6 ? shortNumber(rate * 1e6) + " kB/s" : shortNumber(rate * 1e9) + " B/s";
}
const sizeText = (bytes, ns) => bytesText(bytes) + (ns > 0 ? ", " + rateText(bytes / ns) : "");
function cellText(value, unit) {
  if (value === null) return "";
  if (typeof value === "string") return value;
  switch (unit) {
    case 1: return countText(value);
    case 2: return durationText(value);
    case 3: return bytesText(value);
    case 4: return rateText(value);
    case 5: return value.toFixed(1) + " TFLOP/s";
    case 6: return value.toFixed(1) + " %";
    case 8: return (value / 1e9).toFixed(9) + " s";
    default: return String(value);
  }
}
function counterText(value, unit) {
  if (Number.isNaN(value)) return "unknown";
  const four = number => String(Number(number.toPrecision(4)));
  const prefixed = unit => { const [number, prefix] = scaled(value, [[1, ""], [1e3, "k"], [1e6, "M"], [1e9, "G"]]); return four(number) + " " + prefix + unit; };
  switch (unit) {
    case 1: return bytesText(value);
    case 2: return prefixed("B/s");
    case 3: return value.toFixed(1) + " %";
    case 4: return four(value) + " W";
    case 5: return four(value) + " \u00b0C";
    case 6: return prefixed("Hz");
    case 7: return four(value) + " J";
    default: return countText(Number(four(value)));
  }
}
// A time with all its digits and one unit: "10.943 s".
function timeText(ns) {
  const size = Math.abs(ns), [unit, name] = size >= 1e9 ? [1e9, "s"] : size >= 1e6 ? [1e6, "ms"] : size >= 1e3 ? [1e3, "\u00b5s"] : [1, "ns"];
  const digits = (size / unit).toFixed(Math.round(Math.log10(unit))).replace(/\.?0+$/, "") || "0";
  return (ns < 0 ? "\u2212" : "") + (unit === 1 ? String(size) : digits) + " " + name;
}
// "10.94s-11.02s" as nanoseconds; null for other text.
function timesOf(text) {
  const match = /^(-?[\d.]+)(ns|us|ms|s)?-(-?[\d.]+)(ns|us|ms|s)?$/.exec(text);
  if (!match) return null;
  const units = { ns: 1, us: 1e3, ms: 1e6, s: 1e9 };
  const from = Math.round(match[1] * units[match[2] || "s"]), to = Math.round(match[3] * units[match[4] || "s"]);
  return to > from ? [from, to] : null;
}
