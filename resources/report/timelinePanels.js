// The parts around a timeline: findings, search, details and tables. Names are text nodes, never markup.

function element(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name === "data") Object.assign(made.dataset, value);
    else if (name in made) made[name] = value;
    else made.setAttribute(name, value);
  }
  made.append(...children.filter(each => each !== null && each !== undefined && each !== ""));
  return made;
}
const note = text => element("p", { className: "note" }, text), bold = text => element("b", {}, text);
function button(text, title, act) {
  const made = element("button", { type: "button", title }, text);
  made.onclick = act;
  return made;
}
// Rows of cells: a text, or [text, number to sort by], or a node.
function tableOf(heads, rows, act) {
  const table = element("table", { className: "sortable" }), body = element("tbody");
  const isNumber = heads.map((head, column) => rows.length > 0 && Array.isArray(rows[0][column]));
  table.append(element("thead", {}, element("tr", {}, ...heads.map((head, column) => element("th", { scope: "col", className: isNumber[column] ? "n" : "" }, head)))), body);
  rows.forEach((cells, index) => {
    const row = element("tr", {}, ...cells.map(cell => Array.isArray(cell)
      ? element("td", { className: "n", data: { v: cell[1] } }, cell[0])
      : element("td", typeof cell === "string" ? { className: "name", title: cell } : {}, cell)));
    if (act) {
      row.classList.add("link");
      row.onclick = () => act(index);
    }
    body.append(row);
  });
  makeSortable(table);
  return element("div", { className: "scroll" }, table);
}
function partsBar(parts, className) {
  const bar = element("span", { className });
  parts.forEach((ns, part) => {
    const piece = element("i", { className: "part" + part });
    piece.style.flexGrow = ns;
    bar.append(piece);
  });
  return bar;
}

class TimelinePanels {
  constructor(place, trace, isWhole) {
    Object.assign(this, { place, trace, isWhole });
    this.canvas = element("canvas", { ariaLabel: "Timeline of " + trace.title });
    this.tip = element("div", { className: "tip", hidden: true });
    this.count = element("span", { className: "count" });
    this.find = element("input", { type: "search", placeholder: "Search names  /", ariaLabel: "Search names" });
    this.shownAll = button("Show hidden", "All tracks (Shift+H)", () => this.view.showAll());
    this.shownAll.hidden = true;
    this.tabs = element("div", { className: "tabs", role: "tablist" });
    this.panel = element("div", { className: "panel" });
    const stage = element("div", { className: "stage" }, this.canvas);
    place.replaceChildren(this.answer(), this.bar(), stage, ...(isWhole ? [this.tabs, this.panel] : [this.panel]), this.tip);
    this.view = new TimelineView(trace, this.canvas, this);
    this.find.oninput = () => this.searched();
    this.find.onkeydown = event => {
      if (event.key === "Enter") this.view.nextHit(event.shiftKey ? -1 : 1);
      if (event.key === "Escape") this.canvas.focus();
      event.stopPropagation();
    };
    if (isWhole) this.fillTabs();
    if (location.hash.includes("t=")) this.view.goTo(location.hash);
  }

  bar() {
    const icons = [["\u2212", "Zoom out (S)", () => this.view.zoom(0.5)], ["+", "Zoom in (W)", () => this.view.zoom(2)], ["Whole run", "Whole run (0)", () => this.view.fit()],
      ["Steps", "The part that is shown in full", () => this.view.show(...this.view.initial)], ["\u2039", "Previous view (Z)", () => this.view.back()]];
    this.copied = button("Copy link", "Copy a link to this place", () => this.copyLink());
    return element("div", { className: "bar" }, this.isWhole ? "" : bold(this.trace.title), ...icons.map(each => button(...each)), this.find, this.count, this.shownAll,
      this.isWhole && location.host ? button("In full", "Load the visible part with every slice", () => { location.href = "?time=" + [this.view.from, this.view.to].map(time => Math.round(time) + "ns").join(":"); }) : "",
      element("span", { className: "space" }), ...(this.isWhole ? [this.copied, button("\u25d0", "Light, dark", () => setDark(!isDark()))] : []),
      button("?", "Keys", showKeys));
  }
  answer() {
    if (!this.isWhole) return "";
    const { card } = this.trace, at = card.sentence.search(/[.:] /), end = at < 0 ? card.sentence.length : at + 1;
    const findings = card.findings.map((finding, index) => {
      const gain = "\u2264 " + durationText(finding.gain) + " (" + (finding.share * 100).toFixed(1) + " %)";
      const made = button(element("span", {}, bold(gain), " ", finding.brief || finding.heading), finding.view ? "Show its place" : "Show the finding", () => this.showFinding(index));
      made.className = "finding";
      return made;
    });
    const main = card.workers.find(each => each.critical) || card.workers[0], legend = [];
    if (main) main.parts.map((ns, part) => [ns, part]).sort((one, other) => other[0] - one[0]).forEach(([ns, part]) => {
      if (ns / main.mean >= 0.01 && legend.length < 6) legend.push(element("span", {}, element("i", { className: "swatch part" + part }), this.trace.parts[part] + " " + (ns / main.mean * 100).toFixed(1) + " %"));
    });
    const sentence = button(element("span", {}, bold(card.sentence.slice(0, end)), card.sentence.slice(end)), "Show the place of the largest finding", () => this.showFinding(0));
    sentence.className = "sentence";
    return element("div", { className: "card" },
      ...card.caveats.slice(0, 2).map(each => element("p", { className: "caveat" }, each)),
      sentence, findings.length ? element("div", { className: "findings" }, ...findings.slice(0, 3), findings.length > 3 ? button("and " + (findings.length - 3) + " more", "All findings", () => this.showTab("Findings")) : "") : "",
      main ? element("div", { className: "legend" }, bold(card.title + " of " + main.label + ", " + durationText(main.mean)), partsBar(main.parts, "mean"), ...legend) : "");
  }
  showFinding(index) {
    const finding = this.trace.card.findings[index];
    if (!finding) return;
    this.showTab("Findings");
    this.panel.querySelectorAll(".item").forEach((each, number) => each.classList.toggle("chosen", number === index));
    if (!finding.view) return;
    this.view.setRange(finding.range);
    this.view.show(...finding.view);
    this.canvas.focus();
  }

  // Tables.

  fillTabs() {
    const { trace } = this, pages = this.pages = new Map();
    pages.set("Selection", () => this.selection());
    pages.set("Findings", () => this.findings());
    for (const table of trace.tables)
      pages.set(table.name.startsWith("memcpy") ? "Copies" : "Kernels", () => {
        const rows = table.rows.map(cells => cells.map((cell, column) => table.columns[column][1] === 0 ? cell || "" : [cellText(cell, table.columns[column][1]), cell === null ? -1e300 : cell]));
        const more = table.count > rows.length ? countText(rows.length) + " of " + countText(table.count) + " rows, of the whole run" : "of the whole run";
        const search = index => { this.find.value = table.rows[index].find(each => typeof each === "string") || ""; this.searched(); };
        return [note(table.title + ", " + more), tableOf(table.columns.map(each => each[0]), rows, search)];
      });
    if (trace.steps.some(worker => worker.steps.length)) pages.set("Steps", () => this.steps());
    pages.set("About this run", () => [tableOf(["", ""], trace.facts.map(([name, value]) => [bold(name), element("span", {}, value)]))]);
    for (const name of pages.keys()) {
      const tab = button(name, "", () => this.showTab(name));
      tab.role = "tab";
      this.tabs.append(tab);
    }
    this.showTab(trace.card.findings.length ? "Findings" : "Selection");
  }
  showTab(name) {
    if (!this.pages) return;
    this.tab = name;
    for (const tab of this.tabs.children) tab.ariaSelected = tab.textContent === name;
    this.panel.replaceChildren(...this.pages.get(name)());
    this.panel.scrollTop = 0;
  }
  findings() {
    const { card } = this.trace;
    const items = card.findings.map((finding, index) => {
      const made = element("div", { className: finding.view ? "item link" : "item" }, bold(finding.heading), element("p", {}, finding.sentence), note("Try: " + finding.advice));
      if (finding.view) made.onclick = () => this.showFinding(index);
      return made;
    });
    return [...items, items.length ? "" : note("No rule found anything to change."), card.compute ? note(card.compute) : "", card.steps ? note(card.steps) : "", ...card.caveats.map(note)].filter(each => each !== "");
  }
  steps() {
    const heads = ["Step", "Worker", "Start", "Time", "Parts"], all = [];
    for (const worker of this.trace.steps) for (const step of worker.steps) all.push([worker.label, ...step]);
    const rows = all.slice(0, 1000).map(([label, number, start, wall, parts]) => [[String(number), number], label, [cellText(start, 8), start], [durationText(wall), wall], partsBar(parts, "step")]);
    const total = this.trace.steps.reduce((sum, worker) => sum + worker.count, 0);
    return [note((total > rows.length ? countText(rows.length) + " of " : "") + countText(total) + " steps, without warm-up. A click shows one."),
      tableOf(heads, rows, index => this.view.show(all[index][2] - all[index][3] * 0.05, all[index][2] + all[index][3] * 1.05))];
  }
  selection() {
    const { trace, view } = this, pieces = [];
    if (view?.range) {
      const [from, to] = view.range, length = to - from;
      const busy = trace.busy(from, to), isFull = trace.isInFull(from, to);
      pieces.push(element("p", {}, bold(durationText(length)), " selected, " + timeText(from) + " to " + timeText(to) + (isFull && busy.length ? ": " + busy.map(each => each.title + " busy " + (each.ns / length * 100).toFixed(1) + " %").join(", ") : "")));
      if (!isFull) pieces.push(note("Part of this range is shown coarsely. Sums are exact within " + trace.what + ": " + timeText(trace.full[0]) + " to " + timeText(trace.full[1]) + "."));
      else {
        const pair = (text, value) => [text(value), value], figures = group => [pair(durationText, group.total), pair(countText, group.count), ...[group.sum / group.count, group.min, group.max].map(ns => pair(durationText, ns))];
        const heads = ["Total", "Count", "Mean", "Min", "Max"], show = (heads, rows) => rows.length && pieces.push(tableOf(heads, rows.slice(0, 200)));
        const valueOf = (value, each) => [counterText(value, each.track.counter.unit), value];
        show([...heads, "Kernel"], trace.sums(Kind.kernel, from, to).map(each => [...figures(each), each.name]));
        show([...heads, "Bytes", "Copy"], trace.sums(Kind.memcpy, from, to).map(each => [...figures(each), pair(bytesText, each.bytes), each.name]));
        show(["Values", "Min", "Max", "Counter"], trace.counters(from, to).map(each => [pair(countText, each.count), valueOf(each.min, each), valueOf(each.max, each), this.pathOf(each.track)]));
      }
    }
    if (view && view.selected !== null) pieces.unshift(this.details(view.selected));
    if (!pieces.length) pieces.push(note("Click a slice for its details. Drag on the ruler, or with Shift, to measure a range. Keys: ?"));
    return pieces;
  }
  details(item) {
    const { trace } = this, list = element("dl");
    const add = (name, value) => value && list.append(element("dt", {}, name), element("dd", {}, value));
    const begin = trace.begin[item], duration = trace.finish[item] - begin, [, bytes, lines] = trace.details[trace.detail[item]];
    if (trace.isRun(item)) add("Shown coarsely", countText(trace.count[item]) + " slices, " + durationText(trace.busyBefore[item + 1] - trace.busyBefore[item]) + " busy");
    add("Start", cellText(begin, 8));
    add("Duration", durationText(duration));
    if (bytes >= 0) add("Size", sizeText(bytes, duration));
    add("Track", this.pathOf(trace.trackAt(item)));
    for (const [, , other, name] of trace.arrows(item).slice(0, 8)) {
      const text = name.startsWith("Launch") ? trace.text(trace.name[other]) : this.pathOf(trace.trackAt(other));
      add(name, button(text + (name.endsWith("by") ? ", " + durationText(begin - trace.begin[other]) + " before" : ""), "Go there", () => this.view.select(other, true)));
    }
    if (lines) add(trace.kind[item] ? "Details" : "Reasons", lines);
    const full = trace.fullName(item);
    if (full !== trace.text(trace.name[item])) add("Full name", full);
    return element("div", { className: "details" }, element("b", { className: "name" }, trace.text(trace.name[item])), element("span", { className: "note" }, this.kindOf(item)), list);
  }
  pathOf(track) { return (track.parent === undefined ? "" : this.pathOf(this.trace.tracks[track.parent]) + " \u203a ") + track.title; }
  kindOf(item) {
    const category = this.trace.category(item);
    return category >= Category.firstPart ? this.trace.parts[category - Category.firstPart] : category === Category.waiting ? "kernel that waits for other ranks" : this.trace.kinds[this.trace.kind[item]] || "";
  }

  // What the view tells.

  selected(view) {
    if (this.isWhole) return view.selected !== null || view.range || this.tab === "Selection" ? this.showTab("Selection") : undefined;
    this.panel.replaceChildren(...(view.selected !== null || view.range ? this.selection() : []));
  }
  hovered(view, x, y) {
    const { tip, trace } = this;
    tip.hidden = !view;
    if (!view) return;
    const item = view.hover, row = view.rowAt(y);
    let title = "", lines = [], color = "";
    if (item !== null) {
      const duration = trace.finish[item] - trace.begin[item], [, bytes, more] = trace.details[trace.detail[item]];
      title = trace.text(trace.name[item]).slice(0, 400);
      color = hexOf(view.fillOf(item));
      if (trace.isRun(item)) {
        title = (trace.count[item] ? countText(trace.count[item]) + " slices. Widest: " : "") + title;
        lines = [durationText(trace.busyBefore[item + 1] - trace.busyBefore[item]) + " busy of " + durationText(duration), "shown coarsely, in full: " + trace.what];
      } else lines = [durationText(duration) + "   at " + timeText(trace.begin[item]), this.kindOf(item) + (bytes >= 0 ? ", " + sizeText(bytes, duration) : ""), more];
    } else if (row?.track.counter && x > view.left) {
      const { counter } = row.track, time = view.timeAt(x);
      const at = lastBefore(counter.time, time);
      if (counter.time[at] <= time && !Number.isNaN(counter.max[at])) {
        title = row.track.title + ": " + (counter.min[at] === counter.max[at] ? "" : counterText(counter.min[at], counter.unit) + " to ") + counterText(counter.max[at], counter.unit);
        lines = ["from " + timeText(counter.time[at])];
      }
    } else if (row && x < view.left) {
      title = row.track.title;
      lines = [row.track.more];
    }
    tip.hidden = !title;
    if (!title) return;
    tip.replaceChildren(bold(title), ...lines.filter(Boolean).map(line => element("div", {}, line)));
    tip.style.borderLeftColor = color || "transparent";
    const box = this.canvas.getBoundingClientRect(), left = box.left + x + 16, top = box.top + y + 18;
    tip.style.left = Math.max(4, Math.min(left, innerWidth - tip.offsetWidth - 8)) + "px";
    tip.style.top = (top + tip.offsetHeight > innerHeight - 4 ? Math.max(4, box.top + y - tip.offsetHeight - 12) : top) + "px";
    view.pointerX = x > view.left ? x : undefined;
  }
  hiddenChanged(view) { this.shownAll.hidden = view.hidden.size === 0; }
  // Timelines of a comparison move together, each from the start of its full part.
  moved(view) {
    for (const other of views)
      if (other !== view) other.show(...[view.from, view.to].map(time => time - view.trace.full[0] + other.trace.full[0]), true, true);
  }
  searched() {
    const hits = this.view.search(this.find.value);
    this.count.textContent = hits ? countText(hits.items.length) + (hits.items.length === 1 ? " hit" : " hits") : "";
  }
  async copyLink() {
    const link = this.view.link();
    try { history.replaceState(null, "", link); } catch { /* A frame without an address of its own. */ }
    const text = location.href.split("#")[0] + link, area = element("textarea", { value: text });
    try { await navigator.clipboard.writeText(text); } catch {
      document.body.append(area);
      area.select();
      document.execCommand("copy");
      area.remove();
    }
    this.copied.textContent = "Copied";
    setTimeout(() => { this.copied.textContent = "Copy link"; }, 1500);
  }
}

const showKeys = () => document.querySelector("dialog").showModal();

async function startTimelines() {
  const places = [...document.querySelectorAll(".timeline")], data = [...document.querySelectorAll("script.trace")];
  const isWhole = document.body.classList.contains("app"), all = [];
  for (const [index, place] of places.entries()) {
    const started = performance.now();
    try {
      const trace = new PageTrace(await unpack(data[index].textContent));
      data[index].remove();
      all.push(new TimelinePanels(place, trace, isWhole));
      place.dataset.openMs = performance.now() - started;
    } catch (error) {
      place.replaceChildren(note("This browser cannot show the timeline: " + error.message));
    }
  }
  let active = all[0];
  if (!active) return;
  // Compared runs begin at one scale.
  if (!isWhole) active.moved(active.view);
  for (const each of all) each.canvas.onpointerdown = () => { active = each; };
  onkeydown = event => {
    if (event.target instanceof HTMLInputElement || document.querySelector("dialog[open]")) return;
    if (!isWhole && document.activeElement !== active.canvas) return;
    if (event.key === "/" && !event.ctrlKey) { event.preventDefault(); active.find.focus(); }
    else if (event.key === "?") showKeys();
    else if (active.view.key(event)) event.preventDefault();
  };
  onkeyup = event => active.view.stopMotion(event.key.toLowerCase());
  onblur = () => active.view.stopMotion();
  onhashchange = () => active.view.goTo(location.hash);
  darkQuery.addEventListener("change", () => views.forEach(view => view.resetColors()));
  document.documentElement.dataset.ready = "1";
}
startTimelines();
