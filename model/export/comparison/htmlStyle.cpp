#include "model/export/comparison/htmlStyle.h"

namespace lanescope {

std::string_view reportStyle() {
    return R"css(
:root {
  color-scheme: light dark;
  --page: #f3f5f8; --card: #ffffff; --text: #1d2430; --muted: #5c6675; --line: #dfe3ea;
  --grid: #ebeef3; --accent: #1b66c9; --slower: #b3402a; --faster: #1b7a4b; --warn: #9a6200;
  --warn-back: #fdf5e3; --slower-back: #fbeae6; --faster-back: #e5f4ec; --same-back: #e9edf3;
  --baseline: #5b6b80; --c1: #1b66c9; --c2: #b0562b; --c3: #7a4fa3; --c4: #2b7d74; --c5: #a03a6b;
  --c6: #6f7a1c; --stripe: #f8f9fb;
  --idle-1: #7fb7ad; --idle-2: #d9aaa6; --idle-3: #8b97a8; --idle-4: #c9d0da;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #15181d; --card: #1d2128; --text: #e4e8ee; --muted: #97a1b0; --line: #323843;
    --grid: #282e37; --accent: #5aa7ff; --slower: #ff8f73; --faster: #5cc98f; --warn: #e6b450;
    --warn-back: #2d281b; --slower-back: #3a2522; --faster-back: #1d3329; --same-back: #2a2f39;
    --baseline: #a3b1c4; --c1: #5aa7ff; --c2: #f0a070; --c3: #c39be8; --c4: #69c7bb; --c5: #ee8fb8;
    --c6: #c6d06a; --stripe: #21262e;
    --idle-1: #4a7b72; --idle-2: #80605e; --idle-3: #6d7887; --idle-4: #454d59;
  }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--text);
  font: 15px/1.5 system-ui, "Segoe UI", Roboto, "Helvetica Neue", "DejaVu Sans", sans-serif; }
main, header, footer { max-width: 1120px; margin: 0 auto; padding: 0 24px; }
header { padding-top: 28px; }
.maker { color: var(--muted); font-size: 13px; letter-spacing: .02em; margin: 0 0 4px; }
h1 { font-size: 24px; line-height: 1.25; margin: 0 0 20px; font-weight: 650; overflow-wrap: anywhere; }
h1 .against { color: var(--muted); font-weight: 400; }
h2 { font-size: 17px; margin: 0 0 4px; font-weight: 650; }
h3 { font-size: 14px; margin: 20px 0 6px; font-weight: 650; }
p { margin: 0 0 8px; }
.note { color: var(--muted); font-size: 13px; margin: 0 0 12px; }
section, .answer { background: var(--card); border: 1px solid var(--line); border-radius: 10px;
  padding: 20px 22px; margin: 0 0 16px; }
.answer { border-left: 6px solid var(--baseline); }
.answer.slower { border-left-color: var(--slower); }
.answer.faster { border-left-color: var(--faster); }
.answer p.sentence { font-size: 19px; line-height: 1.4; font-weight: 600; margin: 6px 0; }
.answer ul.details { color: var(--muted); font-size: 13.5px; margin: 14px 0 0; padding-left: 18px; }
.badge { display: inline-block; border-radius: 99px; padding: 1px 11px; font-size: 13px;
  font-weight: 650; background: var(--same-back); color: var(--text); white-space: nowrap; }
.badge.slower { background: var(--slower-back); color: var(--slower); }
.badge.faster { background: var(--faster-back); color: var(--faster); }
.badge.doubtful { background: var(--warn-back); color: var(--warn); }
.figures { display: flex; flex-wrap: wrap; gap: 6px 28px; margin: 14px 0 0; padding: 0; list-style: none; }
.figures b { display: block; font-size: 17px; font-weight: 650; font-variant-numeric: tabular-nums; }
.figures span { color: var(--muted); font-size: 13px; }
.cautions { background: var(--warn-back); border-left: 3px solid var(--warn); border-radius: 4px;
  padding: 8px 14px; margin: 12px 0; }
.cautions strong { color: var(--warn); font-size: 14px; }
.cautions ul { margin: 2px 0 0; padding-left: 18px; }
figure { margin: 12px 0 0; break-inside: avoid; overflow-x: auto; }
figure svg { min-width: 680px; }
figcaption { font-weight: 650; font-size: 14px; margin: 0 0 4px; }
svg { display: block; width: 100%; height: auto; font: 12px system-ui, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; }
svg text { fill: var(--text); }
svg .muted { fill: var(--muted); }
svg .end { text-anchor: end; }
svg .middle { text-anchor: middle; }
svg .strong { font-weight: 650; }
svg .grid { stroke: var(--grid); stroke-width: 1; }
svg .axis { stroke: var(--line); stroke-width: 1; }
svg .join { stroke: var(--muted); stroke-width: 1; stroke-dasharray: 2 3; }
svg .total { fill: var(--baseline); }
svg .lost { fill: var(--slower); }
svg .saved { fill: var(--faster); }
svg text.lost, svg text.saved { font-weight: 650; }
svg .part { stroke: var(--card); stroke-width: .75; }
svg .compute { fill: #4f8fc9; }
svg .exposed_communication { fill: #9d5bb5; }
svg .exposed_ptop { fill: #86ab45; }
svg .exposed_htod { fill: #e39b3b; }
svg .exposed_dtoh { fill: #bb5034; }
svg .exposed_dtod { fill: #e3cb5c; }
svg .exposed_other_copy { fill: #b09a7c; }
svg .memset { fill: #9c8878; }
svg .data_loading_idle { fill: var(--idle-1); }
svg .synchronization_idle { fill: var(--idle-2); }
svg .launch_bound_idle { fill: var(--idle-3); }
svg .other_idle { fill: var(--idle-4); }
svg .break { stroke: var(--card); stroke-width: 3; fill: none; }
svg .run0 { fill: var(--baseline); stroke: var(--baseline); }
svg .run1 { fill: var(--c1); stroke: var(--c1); }
svg .run2 { fill: var(--c2); stroke: var(--c2); }
svg .run3 { fill: var(--c3); stroke: var(--c3); }
svg .run4 { fill: var(--c4); stroke: var(--c4); }
svg .run5 { fill: var(--c5); stroke: var(--c5); }
svg .run6 { fill: var(--c6); stroke: var(--c6); }
svg text.run0, svg text.run1, svg text.run2, svg text.run3, svg text.run4, svg text.run5,
svg text.run6 { stroke: none; font-weight: 650; }
svg .dot { fill-opacity: .75; stroke: none; }
svg .spread { stroke: none; fill-opacity: .12; }
svg .line { fill: none; stroke-width: 1.5; }
svg .range { stroke: none; fill-opacity: .22; }
.scroll { overflow-x: auto; margin: 0 -6px; padding: 0 6px; }
table { border-collapse: collapse; width: 100%; font-size: 13.5px; margin: 8px 0 0; }
caption { text-align: left; color: var(--muted); font-size: 13px; padding: 0 0 4px; }
th, td { padding: 4px 10px; text-align: left; vertical-align: top; border-bottom: 1px solid var(--line); }
th { font-weight: 600; color: var(--muted); white-space: nowrap; vertical-align: bottom; }
tbody th { color: var(--text); font-weight: 400; white-space: normal; }
th .unit { font-weight: 400; display: block; }
.n { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
tfoot th, tfoot td { border-top: 2px solid var(--muted); border-bottom: 0; font-weight: 650; color: var(--text); }
tbody tr:nth-child(even) { background: var(--stripe); }
td.lost, b.lost { color: var(--slower); }
td.saved, b.saved { color: var(--faster); }
td.group, th.group { border-left: 1px solid var(--line); }
.name { overflow-wrap: anywhere; unicode-bidi: isolate; min-width: 220px; }
.name code, code { font: 12.5px/1.45 ui-monospace, "SF Mono", "DejaVu Sans Mono", Menlo, Consolas, monospace; }
.name small { display: block; color: var(--muted); font-size: 12px; }
.tag { font-size: 11.5px; border: 1px solid var(--line); border-radius: 4px; padding: 0 5px;
  margin-right: 6px; color: var(--muted); white-space: nowrap; }
th button { all: unset; cursor: pointer; color: inherit; font: inherit; border-radius: 3px; }
th button:hover { color: var(--text); text-decoration: underline; }
th button:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
th[aria-sort] button::after { content: " \25B4"; }
th[aria-sort="descending"] button::after { content: " \25BE"; }
.met { color: var(--slower); font-weight: 650; }
.fine { color: var(--faster); font-weight: 650; }
.open { color: var(--warn); font-weight: 650; }
details { margin: 12px 0 0; }
summary { cursor: pointer; font-weight: 600; font-size: 14px; }
.swatch { display: inline-block; width: 10px; height: 10px; border-radius: 2px; margin-right: 6px; }
footer { color: var(--muted); font-size: 13px; padding-bottom: 32px; }
@media print {
  :root { --page: #ffffff; --card: #ffffff; --text: #000000; --muted: #444444; --line: #bbbbbb;
    --grid: #dddddd; --slower: #9c2f1b; --faster: #12623a; --warn: #7a4d00; --warn-back: #ffffff;
    --baseline: #5b6b80; --c1: #1b66c9; --c2: #b0562b; --c3: #7a4fa3; --c4: #2b7d74; --c5: #a03a6b;
    --c6: #6f7a1c; --stripe: #ffffff; --idle-1: #7fb7ad; --idle-2: #d9aaa6; --idle-3: #8b97a8; --idle-4: #c9d0da; --slower-back: #ffffff; --faster-back: #ffffff; --same-back: #ffffff; }
  body { font-size: 10.5pt; print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  main, header, footer { max-width: none; padding: 0; }
  section, .answer { border-radius: 0; border-width: 0 0 1px; padding: 8px 0; }
  .answer { border-left-width: 6px; padding-left: 10px; }
  h2, h3, figcaption { break-after: avoid; }
  tr { break-inside: avoid; }
  .scroll { overflow: visible; }
  table { font-size: 8.5pt; }
  .name { min-width: 0; }
  .name code, code { font-size: 8pt; }
  figure { overflow: visible; }
  figure svg { min-width: 0; }
}
)css";
}

std::string_view reportScript() {
    return R"js(
"use strict";
for (const table of document.querySelectorAll("table.sortable")) {
  const body = table.tBodies[0];
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    while (head.firstChild) button.append(head.firstChild);
    head.append(button);
    button.addEventListener("click", () => {
      const isNumber = head.classList.contains("n");
      const was = head.getAttribute("aria-sort");
      const isDown = was ? was === "ascending" : isNumber;
      const keyOf = row => {
        const cell = row.cells[column];
        if (!isNumber) return cell.textContent;
        return cell.dataset.v === undefined ? -Infinity : Number(cell.dataset.v);
      };
      const compare = isNumber
        ? (a, b) => (a < b ? -1 : a > b ? 1 : 0)
        : (a, b) => a.localeCompare(b);
      const rows = [...body.rows].map(row => [keyOf(row), row]);
      rows.sort((a, b) => (isDown ? compare(b[0], a[0]) : compare(a[0], b[0])));
      for (const other of heads) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", isDown ? "descending" : "ascending");
      for (const [, row] of rows) body.append(row);
    });
  });
}
addEventListener("beforeprint", () => {
  for (const details of document.querySelectorAll("details")) details.open = true;
});
)js";
}

std::string_view reportStyleHash() {
    return "7xlvvzRAoQ2qeW2m3qQbxKHskNuy4qnRhNQ3eactHRI=";
}

std::string_view reportScriptHash() {
    return "nx6yOnHq2rv+fhcbJ7C4D6mZS8ApXURrJFiJb6ouOV4=";
}

}  // namespace lanescope
