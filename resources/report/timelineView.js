// The picture of a timeline on a canvas, and its keys, mouse and touches.

const darkQuery = matchMedia("(prefers-color-scheme: dark)");
let chosenTheme = null;
const isDark = () => chosenTheme ?? darkQuery.matches;
function setDark(dark) {
  chosenTheme = dark;
  document.documentElement.style.colorScheme = dark ? "dark" : "light";
  for (const sheet of document.styleSheets)
    for (const rule of sheet.cssRules)
      if (rule.media && (rule.isTheme ||= rule.media.mediaText.includes("prefers-color-scheme"))) rule.media.mediaText = dark ? "all" : "not all";
  for (const view of views) view.resetColors();
}
const views = [];
// The last of ascending times that is not after a time, or the first.
function lastBefore(times, time) {
  let low = 0;
  for (let high = times.length; low < high;) { const middle = low + high >> 1; if (times[middle] <= time) low = middle + 1; else high = middle; }
  return Math.max(0, low - 1);
}

class TimelineView {
  constructor(trace, canvas, panels) {
    Object.assign(this, { trace, canvas, panels });
    this.context = canvas.getContext("2d", { alpha: false });
    this.hidden = new Set();
    this.folded = new Set();
    this.labels = new Map();
    this.history = [];
    this.scroll = 0;
    this.selected = this.range = this.hover = this.hits = null;
    const ranks = trace.tracks.filter(track => track.kind === 0).length;
    trace.tracks.forEach((track, index) => {
      track.index = index;
      track.depth = track.parent === undefined ? 0 : trace.tracks[track.parent].depth + 1;
      track.hasChildren = false;
      if (track.parent !== undefined) trace.tracks[track.parent].hasChildren = true;
      if (track.folded || ranks > 4 && !track.depth) this.folded.add(index);
    });
    const margin = (trace.full[1] - trace.full[0]) * 0.02 || 1;
    const isWhole = trace.full[0] <= trace.start && trace.full[1] >= trace.end, first = trace.card.findings.find(each => each.view);
    this.initial = isWhole && first ? first.view : [trace.full[0] - margin, trace.full[1] + margin];
    [this.from, this.to] = this.initial;
    views.push(this);
    this.resetColors();
    this.listen();
    // A new size makes the canvas black; a frame requested here would come after that was shown.
    new ResizeObserver(() => { this.layOut(); this.paint(); }).observe(canvas.parentElement);
  }

  // Colours and layout.

  resetColors() {
    this.theme = themes[isDark() ? 1 : 0];
    this.fills = new Map();
    this.draw();
  }
  fillOf(item) {
    const { trace, theme } = this, category = trace.category(item);
    if (category !== Category.kernel && category !== Category.nvtx && category !== Category.projection) return theme.fills[category];
    if (trace.color?.[item]) return pixelOf((trace.color[item] & 0xffffff).toString(16));
    const name = trace.name[item], key = name * 2 + (category === Category.kernel ? 1 : 0);
    let fill = this.fills.get(key);
    if (fill === undefined) {
      const isKernel = category === Category.kernel, list = isKernel ? theme.kernelFills : theme.rangeFills;
      this.fills.set(key, fill = list[hashOf(trace.wholeText(name), !isKernel) % list.length]);
    }
    return fill;
  }
  isSummary(track) { return track.lanes.length > 0 && this.trace.category(track.lanes[0].from) === Category.busy; }
  layOut() {
    const box = this.canvas.parentElement.getBoundingClientRect();
    this.width = Math.max(200, box.width);
    this.height = Math.max(120, box.height);
    this.ratio = Math.min(3, window.devicePixelRatio || 1);
    this.canvas.width = Math.round(this.width * this.ratio);
    this.canvas.height = Math.round(this.height * this.ratio);
    this.left = this.width < 560 ? 112 : 254;
    this.overview = 34;
    this.top = this.overview + 24;
    this.pixels = null;
    const first = this.rows?.find(row => row.y + row.height > this.scroll), inFirst = first ? this.scroll - first.y : 0;
    this.rows = [];
    let y = 0;
    // Tracks without items in the visible time are left out, as in the viewer.
    const { tracks } = this.trace, hasItems = tracks.map(track => track.counter || track.lanes.some(lane => {
      const item = this.trace.firstAfter(lane, this.from);
      return item < lane.to && this.trace.begin[item] < this.to;
    }));
    for (let index = tracks.length; index-- > 0;) if (hasItems[index] && tracks[index].depth) hasItems[tracks[index].parent] = true;
    const isShown = track => track.parent === undefined || (!this.folded.has(track.parent) && !this.hidden.has(track.parent) && isShown(this.trace.tracks[track.parent]));
    for (const track of this.trace.tracks) {
      if (this.hidden.has(track.index) || !hasItems[track.index] || !isShown(track)) continue;
      const isFolded = this.folded.has(track.index), lanes = track.lanes.filter(lane => lane.to > lane.from);
      const row = { track, y, lanes, isFolded, isHeader: false, laneHeight: 20, laneTop: 4 };
      row.canFold = track.hasChildren || lanes.length > 1;
      if (track.counter) row.height = 44;
      else if (track.hasChildren && (this.isSummary(track) || lanes.length === 0)) {
        row.isHeader = true;
        row.height = 28;
        row.laneHeight = isFolded ? 18 : 8;
        row.laneTop = isFolded ? 5 : 10;
        row.lanes = lanes.slice(0, 1);
      } else {
        if (isFolded && lanes.length > 1) row.laneHeight = 4;
        row.height = Math.max(28, 8 + lanes.length * row.laneHeight);
        if (track.more && lanes.length < 2) row.height = Math.max(row.height, this.left > 200 ? 38 : 28);
      }
      y += row.height;
      this.rows.push(row);
    }
    this.total = y + 24;
    const anchor = first && this.rowOf(first.track);
    this.setScroll(anchor ? anchor.y + inFirst : this.scroll);
  }
  setScroll(scroll) {
    this.scroll = Math.max(0, Math.min(scroll, this.total - (this.height - this.top)));
    this.draw();
  }
  rowAt(y) {
    const at = y - this.top + this.scroll;
    return y < this.top ? undefined : this.rows.find(row => at >= row.y && at < row.y + row.height);
  }
  rowOf(track) { return this.rows.find(row => row.track === track); }
  reveal(track) {
    for (let each = track; each; each = each.parent === undefined ? null : this.trace.tracks[each.parent]) {
      this.hidden.delete(each.index);
      if (each !== track) this.folded.delete(each.index);
    }
    this.layOut();
    const row = this.rowOf(track), bottom = this.height - this.top;
    if (row && row.y < this.scroll) this.setScroll(row.y - 28);
    if (row && row.y + row.height > this.scroll + bottom) this.setScroll(row.y + row.height - bottom + 28);
  }

  // The visible time.

  xOf(time) { return this.left + (time - this.from) / (this.to - this.from) * (this.width - this.left); }
  timeAt(x) { return this.from + (x - this.left) / (this.width - this.left) * (this.to - this.from); }
  show(from, to, isRemembered = true, isFollowed = false) {
    const whole = this.trace.end - this.trace.start || 1, span = Math.min(Math.max(to - from, 20), whole * 1.04);
    from += (to - from - span) / 2;
    from = Math.max(this.trace.start - whole * 0.02, Math.min(from, this.trace.end + whole * 0.02 - span));
    const now = performance.now();
    if (isRemembered && now - (this.remembered || -1e9) > 600) this.history.push([this.from, this.to]);
    this.remembered = now;
    [this.from, this.to] = [from, from + span];
    this.draw();
    // Rows change only after a movement.
    clearTimeout(this.settling);
    this.settling = setTimeout(() => this.layOut(), 200);
    if (!isFollowed) this.panels.moved?.(this);
  }
  zoom(factor, x = (this.left + this.width) / 2) {
    const at = this.timeAt(x), span = (this.to - this.from) / factor, share = (at - this.from) / (this.to - this.from);
    this.show(at - span * share, at + span * (1 - share));
  }
  pan(share) { const by = (this.to - this.from) * share; this.show(this.from + by, this.to + by); }
  back() { const last = this.history.pop(); if (last) this.show(...last, false); }
  fit() { this.show(this.trace.start, this.trace.end); }
  showAround(item) { const { begin, finish } = this.trace, margin = Math.max((finish[item] - begin[item]) * 0.6, 200); this.show(begin[item] - margin, finish[item] + margin); }

  // Painting.

  draw() {
    if (this.isDue || !this.rows) return;
    this.isDue = true;
    requestAnimationFrame(() => { this.isDue = false; this.paint(); });
  }
  paint() {
    const { context, theme, ratio, canvas } = this;
    if (!this.pixels || this.pixels.width !== canvas.width || this.pixels.height !== canvas.height) {
      this.pixels = context.createImageData(canvas.width, canvas.height);
      this.words = new Uint32Array(this.pixels.data.buffer);
    }
    this.words.fill(pixelOf(theme.canvas));
    this.texts = [];
    const top = Math.round(this.top * ratio);
    this.clipTop = top;
    const ticks = this.ticks();
    const bottom = this.scroll + this.height - this.top, shown = this.rows.filter(row => row.y + row.height > this.scroll && row.y < bottom);
    for (const row of shown) {
      const y = this.top + row.y - this.scroll;
      if (row.isHeader) this.fill(0, this.width, y, y + row.height, pixelOf(row.track.depth ? theme.band2 : theme.band));
      for (const tick of ticks.marks) this.fill(this.xOf(tick), this.xOf(tick) + 1 / ratio, y, y + row.height, pixelOf(theme.grid));
      this.paintUnknown(row, y);
      if (row.track.counter) this.paintCounter(row, y);
      else if (row.track.parts) this.paintParts(row, y);
      else row.lanes.forEach((lane, index) => this.paintLane(lane, y + row.laneTop + index * row.laneHeight, row.laneHeight, row));
      this.fill(0, this.width, y + row.height - 1, y + row.height, pixelOf(theme.separator));
    }
    this.clipTop = 0;
    this.paintOverview();
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.putImageData(this.pixels, 0, 0);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.textBaseline = "middle";
    this.paintNames();
    this.paintMarks();
    this.paintLabels(shown);
    this.paintRuler(ticks);
  }
  // Fills a rectangle in CSS pixels, right of the names.
  fill(x0, x1, y0, y1, pixel) {
    const { ratio, words } = this, width = this.pixels.width;
    const left = Math.max(Math.round(this.left * ratio), Math.round(x0 * ratio)), right = Math.min(width, Math.max(Math.round(x1 * ratio), Math.round(x0 * ratio) + 1));
    if (right <= left) return;
    const top = Math.max(this.clipTop, Math.round(y0 * ratio)), bottom = Math.min(this.pixels.height, Math.round(y1 * ratio));
    if (right - left === 1) {
      for (let at = top * width + left, end = bottom * width; at < end; at += width) words[at] = pixel;
      return;
    }
    for (let y = top; y < bottom; ++y) words.fill(pixel, y * width + left, y * width + right);
  }
  isHit(item) { return this.hits?.names[this.trace.name[item]]; }
  paintLane(lane, y, height, row) {
    const { trace, ratio, theme } = this, { begin, finish, busyBefore } = trace;
    const perNs = (this.width - this.left) / (this.to - this.from), bottom = y + height - (height >= 8 ? 1 : 0.5);
    const background = pixelOf(row.isHeader ? (row.track.depth ? theme.band2 : theme.band) : theme.canvas);
    const mark = (x0, x1) => this.fill(x0, x1, bottom - Math.max(1, Math.min(3, height / 4)), bottom, pixelOf(theme.hit));
    const isActivity = trace.category(lane.from) === Category.busy;
    const activity = pixelOf(row.track.kind <= 2 ? theme.busyGpu : theme.busyCpu);
    for (let item = trace.firstAfter(lane, this.from); item < lane.to && begin[item] < this.to;) {
      const x0 = this.left + (begin[item] - this.from) * perNs, x1 = this.left + (finish[item] - this.from) * perNs;
      const isSingle = !(trace.flags[item] & isRun);
      if (isSingle && x1 - x0 >= 3 && !isActivity) {
        const fill = this.fillOf(item);
        this.fill(x0, x1, y, bottom, fill);
        if (x1 - x0 >= 5 && x0 > this.left) this.fill(x0, x0 + 1 / ratio, y, bottom, darker(fill));
        if (this.isHit(item)) mark(x0, x1);
        if (height >= 14 && x1 - x0 >= 20) this.texts.push([item, Math.max(x0, this.left), Math.min(x1, this.width), y + height / 2, fill]);
        ++item;
        continue;
      }
      // All that start in this pixel, or one run.
      const pixel = Math.floor(x0 * ratio), edge = this.from + ((pixel + 1) / ratio - this.left) / perNs;
      let next = item + 1;
      if (x1 * ratio - pixel < 1) {
        for (let step = 1; next < lane.to && begin[next] < edge; step *= 2) next = Math.min(next + step, lane.to);
        if (next > item + 1) {
          let low = item + 1;
          while (low < next) { const middle = low + next >> 1; if (begin[middle] < edge) low = middle + 1; else next = middle; }
        }
      }
      let widest = item, isAny = this.isHit(item);
      for (let each = item + 1; each < Math.min(next, item + 24); ++each) {
        if (finish[each] - begin[each] > finish[widest] - begin[widest]) widest = each;
        isAny ||= this.isHit(each);
      }
      const from = Math.max(x0, pixel / ratio), to = Math.max(x1, from + 1 / ratio);
      const busy = busyBefore[next] - busyBefore[item], isRest = next === item + 1 && trace.count[item] === 0;
      const coverage = isRest ? 1 : Math.min(1, busy * perNs / Math.max(to - from, 1e-9));
      if (isActivity) {
        this.fill(from, to, bottom - Math.max(1, (bottom - y) * coverage), bottom, activity);
      } else {
        const fill = isSingle && next === item + 1 ? this.fillOf(item) : theme.fills[trace.category(widest)];
        const level = Math.max(1, Math.ceil(coverage * 8));
        if (height >= 12) {
          if (level < 8) this.fill(from, to, y, bottom, mixed(background, fill, 0.35));
          this.fill(from, to, bottom - (bottom - y) * level / 8, bottom, fill);
        } else this.fill(from, to, y, bottom, mixed(background, fill, 0.35 + 0.65 * level / 8));
        if (isAny) mark(from, to);
      }
      item = next;
    }
  }
  paintParts(row, y) {
    const strip = row.track.parts, { theme, ratio, trace } = this;
    const top = y + row.laneTop, height = row.laneHeight, [fullFrom, fullTo] = trace.full;
    const perPixel = (this.to - this.from) / ((this.width - this.left) * ratio);
    let piece = -1;
    for (let pixel = 0; pixel < (this.width - this.left) * ratio; ++pixel) {
      const from = this.from + pixel * perPixel, to = from + perPixel, x = this.left + pixel / ratio;
      let y1 = top + height;
      const add = (part, share) => {
        const y0 = share >= 0.999 ? top : Math.max(top, y1 - height * share);
        this.fill(x, x + 1 / ratio, y0, y1, theme.fills[Category.firstPart + part]);
        y1 = y0;
      };
      if (from >= fullFrom && to <= fullTo && strip.pieces > 0) {
        if (to <= strip.time[0] || from >= strip.piecesEnd) continue;
        if (piece < 0) piece = lastBefore(strip.time, from);
        while (piece + 1 < strip.pieces && strip.time[piece + 1] <= from) ++piece;
        if (piece + 1 >= strip.pieces || strip.time[piece + 1] >= to) { add(strip.part[piece], 1); continue; }
        const shares = new Float64Array(13);
        for (let each = piece; each < strip.pieces && strip.time[each] < to; ++each)
          shares[strip.part[each]] += Math.min(to, each + 1 < strip.pieces ? strip.time[each + 1] : strip.piecesEnd) - Math.max(from, strip.time[each]);
        shares.forEach((ns, part) => { if (ns > 0) add(part, ns / perPixel); });
        continue;
      }
      const column = Math.floor((from - strip.start) / (strip.end - strip.start) * strip.columns);
      if (column < 0 || column >= strip.columns) continue;
      for (let part = 0; part < 13; ++part) {
        const share = strip.shares[column * 13 + part];
        if (share > 0) add(part, share / 255);
      }
    }
  }
  paintCounter(row, y) {
    const { counter } = row.track, { theme } = this, perNs = (this.width - this.left) / (this.to - this.from);
    const index = lastBefore(counter.time, this.from);
    let most = 0;
    for (let each = index; each < counter.count && counter.time[each] < this.to; ++each) if (counter.max[each] > most) most = counter.max[each];
    if (counter.unit === 3 && most <= 100) most = [1, 2, 5, 10, 20, 50, 100].find(each => each >= most) || 100;
    row.most = most;
    const top = y + 6, height = row.height - 10, line = theme.fills[18], area = mixed(pixelOf(theme.canvas), line, 0.3);
    for (let each = index; each < counter.count && counter.time[each] < this.to; ++each) {
      if (!(counter.max[each] >= 0)) continue;
      const x0 = this.left + (counter.time[each] - this.from) * perNs;
      const x1 = this.left + ((each + 1 < counter.count ? counter.time[each + 1] : this.trace.end) - this.from) * perNs;
      const high = top + height * (1 - counter.max[each] / (most || 1)), low = top + height * (1 - counter.min[each] / (most || 1));
      this.fill(x0, x1, high, top + height, area);
      this.fill(x0, x1, high, Math.max(low, high + 1), line);
    }
  }
  paintUnknown(row, y) {
    const stripe = mixed(pixelOf(this.theme.canvas), pixelOf(this.theme.muted), 0.18);
    for (const [from, to] of row.track.unrecorded || [])
      for (let x = Math.max(this.left, this.xOf(from)); x < Math.min(this.width, this.xOf(to)); x += 6) this.fill(x, x + 1, y, y + row.height, stripe);
    for (const [from, to] of row.track.lossy || []) this.fill(this.xOf(from), this.xOf(to), y, y + 2, pixelOf("e6b450"));
  }
  // The whole run, painted once for each size, theme and set of tracks.
  paintOverview() {
    const { trace, theme, ratio, words } = this, width = this.pixels.width, size = width * Math.round(this.top * ratio);
    const saved = [this.from, this.to];
    [this.from, this.to] = [trace.start, Math.max(trace.end, trace.start + 1)];
    if (this.overviewTheme !== theme || this.overviewWords?.length !== size) {
      this.fill(0, this.width, 0, this.top, pixelOf(theme.panel));
      const gpus = trace.tracks.filter(track => track.kind === 0 && track.lanes.length);
      const shown = (gpus.length ? gpus : trace.tracks.filter(track => track.depth === 0 && track.lanes.length)).slice(0, 4);
      const height = (this.overview - 8) / Math.max(1, shown.length);
      shown.forEach((track, index) => {
        const row = { track, isHeader: false, laneTop: 0, laneHeight: height - 1 };
        if (track.parts) this.paintParts(row, 4 + index * height);
        else this.paintLane(track.lanes[0], 4 + index * height, height, row);
      });
      this.fill(0, this.width, this.overview, this.overview + 1, pixelOf(theme.separator));
      this.fill(0, this.width, this.top - 1, this.top, pixelOf(theme.separator));
      this.overviewTheme = theme;
      this.overviewWords = words.slice(0, size);
      const panel = pixelOf(theme.panel), veiled = new Map();
      this.veiledWords = this.overviewWords.map((word, at) => {
        if (at >= width * this.overview * ratio) return word;
        if (!veiled.has(word)) veiled.set(word, mixed(word, panel, 0.55));
        return veiled.get(word);
      });
    }
    const from = this.xOf(saved[0]), to = Math.max(from + 3, this.xOf(saved[1])), full = trace.full.map(time => this.xOf(time));
    words.set(this.veiledWords);
    const left = Math.max(0, Math.round(from * ratio)), right = Math.min(width, Math.round(to * ratio));
    for (let at = 0; right > left && at < width * this.overview * ratio; at += width) words.set(this.overviewWords.subarray(at + left, at + right), at + left);
    const accent = pixelOf(theme.accent);
    this.fill(full[0], full[1], this.overview - 3, this.overview - 1, accent);
    for (const x of [from, to - 1.5]) this.fill(x, x + 1.5, 0, this.overview, accent);
    for (const y of [0, this.overview - 1]) this.fill(from, to, y, y + 1, accent);
    [this.from, this.to] = saved;
  }
  font(weight = "", size = 12) { return weight + " " + size + "px system-ui,'Segoe UI',Roboto,'DejaVu Sans',sans-serif"; }
  // A text cut to a width; a number at its end stays.
  fitted(text, width) {
    const key = text + "\n" + (width >> 3) + this.context.font;
    let found = this.labels.get(key);
    if (found !== undefined) return found;
    if (this.labels.size > 20000) this.labels.clear();
    const room = (width >> 3) * 8, measure = part => this.context.measureText(part).width;
    found = text.length > 600 ? text.slice(0, 600) : text;
    if (measure(found) > room) {
      const number = /[ _#:=./-](\d{1,6})$/.exec(found), tail = number ? number[1] : "";
      let low = 0, high = found.length - tail.length;
      while (low < high) { const middle = low + high + 1 >> 1; if (measure(found.slice(0, middle) + "\u2026" + tail) <= room) low = middle; else high = middle - 1; }
      found = low > 2 ? found.slice(0, low) + "\u2026" + tail : tail && measure(tail) <= room ? tail : "";
    }
    this.labels.set(key, found);
    return found;
  }
  paintNames() {
    const { context, trace } = this;
    this.clip(this.left, this.top);
    context.font = this.font();
    for (const [item, x0, x1, y, fill] of this.texts) {
      const label = this.fitted(trace.text(trace.name[item]), x1 - x0 - 8);
      if (!label) continue;
      this.say(label, x0 + 4, y, inkOn(fill));
    }
    context.restore();
  }
  // Limits drawing to what is right of and below a place until `restore`.
  clip(left, top, bottom = this.height) {
    const area = new Path2D();
    area.rect(left, top, this.width - left, bottom - top);
    this.context.save();
    this.context.clip(area);
  }
  box(color, x, y, width, height, radius = 0) {
    this.context.fillStyle = color;
    this.context.beginPath();
    this.context.roundRect(x, y, width, height, radius);
    this.context.fill();
  }
  say(text, x, y, color) {
    this.context.fillStyle = color;
    this.context.fillText(text, x, y);
  }
  line(path, color, width) {
    this.context.strokeStyle = color;
    this.context.lineWidth = width;
    this.context.stroke(new Path2D(path));
  }
  boxOf(item) {
    const lane = this.trace.laneAt(item), row = this.rowOf(this.trace.trackAt(item));
    if (!row) return null;
    const index = row.lanes.indexOf(lane), y = this.top + row.y - this.scroll + row.laneTop + Math.max(0, index) * row.laneHeight;
    return { x0: this.xOf(this.trace.begin[item]), x1: this.xOf(this.trace.finish[item]), y0: y, y1: y + row.laneHeight - 1 };
  }
  paintMarks() {
    const { context, theme, trace } = this;
    this.clip(this.left, this.top);
    if (this.range) {
      const [x0, x1] = this.range.map(time => this.xOf(time));
      this.box(theme.selection, x0, this.top, x1 - x0, this.height);
      for (const edge of [x0, x1]) this.box(theme.accent, edge - 0.5, this.top, 1, this.height);
      context.font = this.font("600");
      const label = durationText(this.range[1] - this.range[0]), width = context.measureText(label).width + 16;
      const x = Math.max(this.left + 4, Math.min(this.width - width - 4, (Math.max(x0, this.left) + Math.min(x1, this.width)) / 2 - width / 2));
      this.box(theme.accent, x, this.top + 6, width, 20, 10);
      this.say(label, x + 8, this.top + 16.5, theme.accentText);
    }
    for (const [item, color, line] of [[this.hover, theme.muted, 1], [this.selected, theme.text, 2]]) {
      const box = item === null ? null : this.boxOf(item);
      if (!box) continue;
      const x0 = Math.max(box.x0, this.left - 2), x1 = Math.min(Math.max(box.x1, box.x0 + 2), this.width + 2);
      this.line(`M${x0} ${box.y0}H${x1}V${box.y1}H${x0}Z`, color, line);
    }
    if (this.selected !== null) for (const [cause, effect] of trace.arrows(this.selected).slice(0, 48)) this.paintArrow(cause, effect);
    context.restore();
  }
  paintArrow(cause, effect) {
    const from = this.boxOf(cause), to = this.boxOf(effect), { context, theme } = this;
    if (!from || !to) return;
    const x0 = Math.min(from.x1, Math.max(from.x0, to.x0)), y0 = (from.y0 + from.y1) / 2, x1 = to.x0, y1 = (to.y0 + to.y1) / 2;
    const bend = Math.max(16, Math.min(160, Math.abs(x1 - x0) / 2));
    this.line(`M${x0} ${y0}C${x0 + bend} ${y0} ${x1 - bend} ${y1} ${x1 - 6} ${y1}`, theme.flow, 1.25);
    context.fillStyle = theme.flow;
    context.fill(new Path2D(`M${x1} ${y1}l-7 -4v8Z`));
    this.box(theme.flow, x0 - 2.5, y0 - 2.5, 5, 5, 2.5);
  }
  paintLabels(shown) {
    const { context, theme } = this;
    this.clip(0, this.top);
    this.box(theme.panel, 0, this.top, this.left, this.height);
    const narrow = this.left < 200;
    for (const row of shown) {
      const y = this.top + row.y - this.scroll, track = row.track, x = 8 + track.depth * (narrow ? 8 : 14);
      if (row.isHeader) this.box(track.depth ? theme.band2 : theme.band, 0, y, this.left, row.height);
      this.box(theme.separator, 0, y + row.height - 1, this.left, 1);
      if (row.canFold) this.line(row.isFolded ? `M${x + 2} ${y + 10}l4 4l-4 4` : `M${x} ${y + 12}l4 4l4 -4`, theme.muted, 1.5);
      const at = x + 16, room = this.left - at - 10;
      context.font = this.font(track.depth === 0 ? "600" : "", narrow ? 11 : 12);
      const title = this.fitted(track.title, room + 8), used = context.measureText(title).width;
      this.say(title, at, y + 14, theme.text);
      context.font = this.font("", 11);
      const isBelow = row.height >= 38, more = track.counter ? counterText(row.most || 0, track.counter.unit) : track.more;
      if (more && isBelow) this.say(this.fitted(more, room + 8), at, y + 29, theme.muted);
      else if (more && room - used > 40) this.say(this.fitted(more, room - used - 8), at + used + 8, y + 14, theme.muted);
    }
    const room = this.height - this.top, { trace, left } = this;
    this.box(theme.separator, left - 1, this.top, 1, this.height);
    if (this.total > room) this.box(theme.muted + "77", this.width - 8, this.top + 2 + this.scroll / this.total * room, 6, Math.max(24, room / this.total * room - 4), 3);
    context.restore();
    this.box(theme.panel, 0, 0, left, this.top);
    this.box(theme.separator, left - 1, 0, 1, this.top);
    this.box(theme.separator, 0, this.top - 1, left, 1);
    context.font = this.font("", 11);
    const plural = (count, name, many) => count + " " + (count === 1 ? name : many);
    const facts = [durationText(trace.end - trace.start), plural(trace.gpus, "GPU", "GPUs"), plural(trace.processes, "process", "processes")].join(" \u00b7 ");
    this.say(this.fitted(facts, left - 8), 10, 17, theme.muted);
    this.say(this.fitted("in full: " + trace.what.split(",")[0], left - 8), 10, this.overview + 12, theme.muted);
  }
  ticks() {
    const width = this.width - this.left, span = this.to - this.from, atLeast = span / width * 110;
    let step = 10 ** Math.floor(Math.log10(atLeast));
    step = Math.max(1, [1, 2, 5, 10].map(each => each * step).find(each => each >= atLeast));
    const marks = [];
    for (let time = Math.ceil(this.from / step) * step; time < this.to; time += step) marks.push(time);
    // Times that would be too long count from a round one.
    let anchor = null;
    if (Math.max(Math.abs(this.from), Math.abs(this.to)) / step > 1e5) {
      const digits = 10 ** Math.ceil(Math.log10(span));
      anchor = Math.floor(this.from / digits) * digits;
    }
    const largest = anchor === null ? Math.max(Math.abs(this.from), Math.abs(this.to)) : this.to - anchor;
    const [unit, name] = [[1e9, "s"], [1e6, "ms"], [1e3, "\u00b5s"], [1, "ns"]].find(([size]) => Math.max(step, largest / 1000) >= size) || [1, "ns"];
    const decimals = Math.max(0, Math.ceil(Math.log10(unit / step) - 1e-9));
    const label = time => (anchor === null ? "" : "+") + ((time - (anchor || 0)) / unit).toFixed(decimals) + " " + name;
    return { step, marks, label, anchor };
  }
  paintRuler(ticks) {
    const { context, theme } = this, y = this.overview;
    this.clip(this.left, y, this.top);
    context.font = this.font("", 11);
    context.fillStyle = theme.muted;
    let used = this.left;
    if (ticks.anchor !== null) {
      const text = timeText(ticks.anchor);
      context.fillText(text, this.left + 6, y + 12);
      used += context.measureText(text).width + 16;
    }
    for (const tick of ticks.marks) {
      const x = this.xOf(tick);
      context.fillRect(x, this.top - 6, 1, 6);
      for (let part = 1; part < 5; ++part) context.fillRect(this.xOf(tick + ticks.step * part / 5), this.top - 3, 0.5, 3);
      if (x + 4 >= used) context.fillText(ticks.label(tick), x + 4, y + 12);
    }
    context.restore();
  }

  // Places and selection.

  itemAt(x, y) {
    const row = this.rowAt(y);
    if (!row || x < this.left || row.track.counter) return null;
    const index = Math.floor((y - this.top + this.scroll - row.y - row.laneTop) / row.laneHeight), lane = row.lanes[index];
    if (!lane || this.trace.category(lane.from) === Category.busy) return null;
    const near = 2 * (this.to - this.from) / (this.width - this.left), time = this.timeAt(x);
    const item = this.trace.firstAfter(lane, time - near);
    return item < lane.to && this.trace.begin[item] <= time + near ? item : null;
  }
  select(item, isShown) {
    this.selected = item;
    if (item !== null && isShown) {
      const { begin, finish } = this.trace, half = (this.to - this.from) / 2;
      if (finish[item] < this.from || begin[item] > this.to) this.show(begin[item] - half, begin[item] + half);
      this.reveal(this.trace.trackAt(item));
    }
    this.draw();
    this.panels.selected(this);
  }
  setRange(range) {
    this.range = range && range[1] > range[0] ? range : null;
    this.draw();
    this.panels.selected(this);
  }
  neighbour(direction, isVisible) {
    if (this.selected === null) return;
    const lane = this.trace.laneAt(this.selected), perPixel = (this.to - this.from) / (this.width - this.left);
    let item = this.selected + direction;
    while (isVisible && item >= lane.from && item < lane.to && this.trace.finish[item] - this.trace.begin[item] < perPixel) item += direction;
    if (item >= lane.from && item < lane.to) this.select(item, true);
  }
  adjacent(direction) {
    if (this.selected === null) return;
    const lanes = this.rows.flatMap(row => row.track.counter ? [] : row.lanes).filter(lane => this.trace.category(lane.from) !== Category.busy);
    const lane = lanes[lanes.indexOf(this.trace.laneAt(this.selected)) + direction];
    if (lane) this.select(Math.min(this.trace.firstAfter(lane, this.trace.begin[this.selected]), lane.to - 1), true);
  }
  follow(direction) {
    if (this.selected === null) return;
    const found = this.trace.arrows(this.selected).find(each => each[direction > 0 ? 1 : 0] === each[2]);
    if (found) this.select(found[2], true);
  }
  // Marks the names that contain a text, and returns their number of slices.
  search(text) {
    const asked = text.trim().toLowerCase();
    this.hits = null;
    if (asked) {
      const names = Uint8Array.from(this.trace.texts, each => (Array.isArray(each) ? each.join(" ") : each).toLowerCase().includes(asked) ? 1 : 0), items = [];
      for (let item = 0; item < this.trace.size; ++item)
        if (names[this.trace.name[item]] && !this.trace.isRun(item) && this.trace.category(item) !== Category.busy) items.push(item);
      items.sort((one, other) => this.trace.begin[one] - this.trace.begin[other]);
      this.hits = { names, items };
    }
    this.draw();
    return this.hits;
  }
  nextHit(direction) {
    const items = this.hits?.items;
    if (!items?.length) return;
    const at = items.indexOf(this.selected);
    const next = at >= 0 ? at + direction : items.findIndex(item => this.trace.begin[item] >= this.from);
    this.select(items[(next + items.length) % items.length], true);
  }
  toggleFold(track, isDeep) {
    const isFolded = !this.folded.has(track.index);
    for (const each of this.trace.tracks) {
      let above = each;
      while (isDeep && above !== track && above.parent !== undefined) above = this.trace.tracks[above.parent];
      if (above === track) isFolded ? this.folded.add(each.index) : this.folded.delete(each.index);
    }
    this.layOut();
  }
  link() {
    const seconds = time => (Math.round(time) / 1e9).toFixed(9).replace(/\.?0+$/, "") + "s";
    const selected = this.selected === null || !this.trace.kind[this.selected] ? "" : "&sel=" + this.trace.kind[this.selected] + "." + this.trace.row[this.selected];
    return "#t=" + seconds(this.from) + "-" + seconds(this.to) + selected;
  }
  goTo(link) {
    const parts = new URLSearchParams(link.replace(/^#/, "")), times = timesOf(parts.get("t")), selected = /^(\d+)\.(\d+)$/.exec(parts.get("sel"));
    if (times) this.show(...times);
    if (!selected) return;
    const item = this.trace.kind.findIndex((kind, at) => kind === Number(selected[1]) && this.trace.row[at] === Number(selected[2]));
    if (item < 0) return;
    this.select(item, !times);
    this.reveal(this.trace.trackAt(item));
  }

  // Input.

  listen() {
    const { canvas } = this, pointers = new Map();
    let drag = null;
    const on = (name, act, options) => canvas.addEventListener(name, act, options);
    canvas.tabIndex = 0;
    const place = event => [event.offsetX, event.offsetY];
    on("wheel", event => {
      const [x] = place(event), unit = event.deltaMode === 1 ? 30 : 1;
      if (!this.panels.isWhole && document.activeElement !== canvas && !event.ctrlKey) return;
      event.preventDefault();
      if (x < this.left) return this.setScroll(this.scroll + event.deltaY * unit);
      if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) return this.pan((event.deltaX || event.deltaY) * unit / (this.width - this.left));
      this.zoom(1.0015 ** (-event.deltaY * unit * (event.ctrlKey && Math.abs(event.deltaY) < 40 ? 8 : 1.2)), x);
    }, { passive: false });
    on("pointerdown", event => {
      const [x, y] = place(event);
      canvas.setPointerCapture(event.pointerId);
      pointers.set(event.pointerId, [x, y]);
      const kind = y < this.overview ? "overview" : y < this.top || event.shiftKey ? "range" : "pan";
      drag = { kind: x < this.left ? "names" : kind, x, y, from: this.from, to: this.to, scroll: this.scroll, time: this.timeAt(x), isMoved: false };
      if (drag.kind === "overview") this.moveOverview(x);
    });
    on("pointermove", event => {
      const [x, y] = place(event);
      if (!pointers.has(event.pointerId)) return this.hoverAt(x, y);
      const before = [...pointers.values()];
      pointers.set(event.pointerId, [x, y]);
      const now = [...pointers.values()];
      if (now.length === 2) {
        const span = points => Math.max(20, Math.abs(points[0][0] - points[1][0])), middle = points => (points[0][0] + points[1][0]) / 2;
        this.pan((middle(before) - middle(now)) / (this.width - this.left));
        this.zoom(span(now) / span(before), middle(now));
        drag = null;
        return;
      }
      if (!drag) return;
      drag.isMoved ||= Math.hypot(x - drag.x, y - drag.y) > 4;
      if (!drag.isMoved) return;
      this.panels.hovered(null);
      if (drag.kind === "pan") {
        const by = (drag.x - x) / (this.width - this.left) * (drag.to - drag.from);
        this.show(drag.from + by, drag.to + by);
      }
      if (drag.kind === "pan" || drag.kind === "names") this.setScroll(drag.scroll + drag.y - y);
      if (drag.kind === "overview") this.moveOverview(x);
      if (drag.kind === "range") this.setRange([this.snapped(Math.min(drag.x, x), event), this.snapped(Math.max(drag.x, x), event)]);
    });
    const end = event => {
      const [x, y] = place(event);
      pointers.delete(event.pointerId);
      if (!drag || pointers.size) return;
      const { kind, isMoved } = drag;
      drag = null;
      if (isMoved || event.type === "pointercancel") return;
      if (kind === "range" && y < this.top) return this.setRange(null);
      if (kind === "names") {
        const row = this.rowAt(y);
        this.current = row?.track;
        if (row?.canFold) this.toggleFold(row.track, event.shiftKey);
        return;
      }
      if (kind !== "pan") return;
      this.current = this.rowAt(y)?.track;
      this.select(this.itemAt(x, y));
      this.hoverAt(x, y);
    };
    on("pointerup", end);
    on("pointercancel", end);
    on("pointerleave", () => { this.hover = null; this.panels.hovered(null); this.draw(); });
    on("dblclick", event => {
      const [x, y] = place(event), item = this.itemAt(x, y);
      if (y < this.top) return this.fit();
      if (item !== null) this.showAround(item);
    });
    on("contextmenu", event => {
      const [x, y] = place(event), row = this.rowAt(y);
      if (x >= this.left || !row) return;
      event.preventDefault();
      this.hide(row.track);
    });
  }
  hide(track) {
    if (!track) return;
    this.hidden.add(track.index);
    this.layOut();
    this.panels.hiddenChanged?.(this);
  }
  showAll() { this.hidden.clear(); this.layOut(); this.panels.hiddenChanged?.(this); }
  // Snaps to the edge of a slice unless Alt is pressed.
  snapped(x, event) {
    const time = this.timeAt(x);
    if (event.altKey) return Math.round(time);
    const item = this.itemAt(x, event.offsetY), near = 6 * (this.to - this.from) / (this.width - this.left);
    if (item !== null) for (const edge of [this.trace.begin[item], this.trace.finish[item]]) if (Math.abs(edge - time) < near) return edge;
    return Math.round(time);
  }
  moveOverview(x) {
    const share = (x - this.left) / (this.width - this.left), span = this.to - this.from, middle = this.trace.start + share * (this.trace.end - this.trace.start);
    this.show(middle - span / 2, middle + span / 2);
  }
  hoverAt(x, y) {
    const item = this.itemAt(x, y);
    if (item !== this.hover) { this.hover = item; this.draw(); }
    this.canvas.style.cursor = y < this.top && x > this.left ? "col-resize" : item !== null || x < this.left ? "pointer" : "default";
    this.panels.hovered(this, x, y);
  }
  // Zooms and pans while a key is pressed, as the viewer does.
  startMotion(zoom, pan) {
    const motion = this.motion ||= { zoom: 0, pan: 0, last: 0 };
    if (zoom) motion.zoom = zoom;
    if (pan) motion.pan = pan;
    const move = seconds => {
      if (motion.zoom) this.zoom(9 ** (seconds * motion.zoom), this.pointerX);
      if (motion.pan) this.pan(1.1 * seconds * motion.pan);
    };
    if (motion.isRunning) return;
    motion.isRunning = true;
    motion.last = performance.now();
    move(0.09);
    const step = now => {
      if (!motion.zoom && !motion.pan) { motion.isRunning = false; return; }
      move(Math.min(0.1, Math.max(0, now - motion.last) / 1000));
      motion.last = now;
      requestAnimationFrame(step);
    };
    requestAnimationFrame(step);
  }
  stopMotion(key) {
    if (!this.motion) return;
    if (!key || key === "w" || key === "s") this.motion.zoom = 0;
    if (!key || key === "a" || key === "d") this.motion.pan = 0;
  }
  step(direction) {
    const worker = this.trace.steps[0], middle = (this.from + this.to) / 2;
    if (!worker) return;
    const steps = direction > 0 ? worker.steps.find(each => each[1] > middle) : worker.steps.findLast(each => each[1] + each[2] < middle);
    if (steps) this.show(steps[1] - steps[2] * 0.05, steps[1] + steps[2] * 1.05);
  }
  // Returns true for a key of the timeline.
  key(event) {
    const { trace } = this, key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    const item = this.selected, actions = {
      w: () => this.startMotion(1, 0), s: () => this.startMotion(-1, 0), a: () => this.startMotion(0, -1), d: () => this.startMotion(0, 1),
      0: () => this.fit(), z: () => this.back(), Backspace: () => this.back(),
      ArrowLeft: () => item === null ? this.pan(-0.1) : this.neighbour(-1, true), ArrowRight: () => item === null ? this.pan(0.1) : this.neighbour(1, true),
      ",": () => this.neighbour(-1, false), ".": () => this.neighbour(1, false), ArrowUp: () => this.adjacent(-1), ArrowDown: () => this.adjacent(1),
      Enter: () => item !== null && this.showAround(item),
      f: () => this.range ? this.show(...this.range) : item !== null ? this.showAround(item) : this.fit(),
      r: () => this.setRange(this.range || item === null ? null : [trace.begin[item], trace.finish[item]]),
      e: () => this.follow(1), q: () => this.follow(-1), "[": () => this.step(-1), "]": () => this.step(1),
      h: () => event.shiftKey ? this.showAll() : this.hide(this.current), " ": () => this.current && this.toggleFold(this.current, event.shiftKey),
      PageUp: () => this.setScroll(this.scroll - this.height * 0.7), PageDown: () => this.setScroll(this.scroll + this.height * 0.7),
      Escape: () => { this.select(null); this.setRange(null); },
    };
    if (event.ctrlKey || event.metaKey || event.altKey || !Object.hasOwn(actions, key)) return false;
    actions[key]();
    return true;
  }
}
