// Draws `data` on a canvas that is zoomed and moved: rows of spans, whose columns (start, time, kind, name, way, bytes; times in
// microseconds) are typed arrays in base64. Only what can be seen is unpacked and drawn, so that a million spans in thousands of rows
// stay fluid. A column of pixels is filled as far as the time under it is, at every zoom: what looks 2% full is 2% full.
"use strict";
const canvas = document.querySelector("#timeline canvas"), tip = document.querySelector("#tip"), box = document.querySelector("#timeline");
const spacer = document.querySelector("#rows"), find = document.querySelector("#find"), found = document.querySelector("#found");
const paint = canvas.getContext("2d");
const axis = 26, gap = 6, block = 64;
paint.font = "bold 13px system-ui, sans-serif";
const labels = Math.ceil(Math.min(320, data.rows.reduce((most, row) => Math.max(most, paint.measureText(row.name).width + 34), 150)));
const height = (row) => (row.moves ? 16 : 26);
const kinds = ["leaf", "data", "wait"], words = ["runs", "moves data", "waits"];
const length = Math.max(data.length, 1e-3);
let from = 0, shown = length; // what is seen: microseconds [from, from + shown)
let colours = {}, hatched = null;
let rows = [], total = 0; // those that the search leaves, and how high they are together

function place() {
  const words = find.value.toLowerCase().split(/\s+/).filter(Boolean);
  rows = data.rows.filter((row) => words.every((word) => (row.processor + " " + row.name).toLowerCase().includes(word)));
  total = axis;
  for (const row of rows) {
    if (!row.moves && total > axis) total += gap;
    row.y = total;
    total += height(row) + 2;
  }
  total += gap;
  spacer.style.height = total + "px";
  found.textContent = rows.length === data.rows.length ? "" : rows.length + " of " + data.rows.length + " rows";
  drawSoon();
}

function unpack(text, Type) {
  const bytes = atob(text), values = new Uint8Array(bytes.length);
  for (let i = 0; i < bytes.length; ++i) values[i] = bytes.charCodeAt(i);
  return new Type(values.buffer);
}

// Sorted intervals that do not meet, with how much they cover up to the begin of each.
class Cover {
  constructor(begins, ends) {
    this.begins = Float64Array.from(begins);
    this.ends = Float64Array.from(ends);
    this.before = new Float64Array(this.begins.length);
    for (let i = 1; i < this.begins.length; ++i) this.before[i] = this.before[i - 1] + this.ends[i - 1] - this.begins[i - 1];
  }
  // How much is covered up to a time.
  until(time) {
    let low = 0, high = this.begins.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.begins[middle] <= time) low = middle + 1;
      else high = middle;
    }
    return low === 0 ? 0 : this.before[low - 1] + Math.min(time, this.ends[low - 1]) - this.begins[low - 1];
  }
  // What of this is not in another one.
  without(other) {
    const begins = [], ends = [];
    let k = 0;
    for (let i = 0; i < this.begins.length; ++i) {
      let begin = this.begins[i];
      const end = this.ends[i];
      while (k < other.begins.length && other.ends[k] <= begin) ++k;
      for (let at = k; at < other.begins.length && other.begins[at] < end && begin < end; ++at) {
        if (other.begins[at] > begin) begins.push(begin), ends.push(other.begins[at]);
        begin = Math.max(begin, other.ends[at]);
      }
      if (begin < end) begins.push(begin), ends.push(end);
    }
    return new Cover(begins, ends);
  }
}

// What drawing a row needs, made when it is first seen.
function spansOf(row) {
  if (row.start) return row;
  row.start = unpack(row.packed.start, Float64Array);
  row.time = unpack(row.packed.time, Float64Array);
  row.kind = unpack(row.packed.kind, Uint8Array);
  row.names = unpack(row.packed.name, Uint32Array);
  row.ways = unpack(row.packed.way, Uint32Array);
  row.bytes = unpack(row.packed.bytes, Float64Array);
  row.packed = null;
  const count = row.start.length, blocks = Math.ceil(count / block);
  row.lastEnd = new Float64Array(blocks).fill(-1);
  row.longest = new Float64Array(blocks);
  const begins = [[], [], []], ends = [[], [], []];
  for (let i = 0; i < count; ++i) { // spans are sorted by start
    const begin = row.start[i], end = begin + row.time[i], at = Math.floor(i / block), kind = row.kind[i];
    row.lastEnd[at] = Math.max(row.lastEnd[at], end);
    row.longest[at] = Math.max(row.longest[at], row.time[i]);
    const last = ends[kind].length - 1;
    if (last >= 0 && begin <= ends[kind][last]) ends[kind][last] = Math.max(ends[kind][last], end);
    else begins[kind].push(begin), ends[kind].push(end);
  }
  const covers = begins.map((each, kind) => new Cover(each, ends[kind]));
  covers[0] = covers[0].without(covers[2]); // who waits does not run, as the table counts
  row.covers = covers;
  return row;
}

// Calls `visit` with the spans that last at least so long and are seen in [begin, end).
function eachSpan(row, begin, end, least, visit) {
  for (let at = 0; at < row.lastEnd.length && row.start[at * block] < end; ++at) {
    if (row.lastEnd[at] < begin || row.longest[at] < least) continue;
    for (let i = at * block; i < Math.min(row.start.length, (at + 1) * block) && row.start[i] < end; ++i)
      if (row.time[i] >= least && row.start[i] + row.time[i] >= begin) visit(i);
  }
}

function readColours() {
  const style = getComputedStyle(document.documentElement);
  for (const name of ["paper", "ink", "quiet", "line", "card", "rule", ...kinds, ...kinds.map((kind) => kind + "-line")])
    colours[name] = style.getPropertyValue("--" + name).trim();
  const tile = document.createElement("canvas");
  tile.width = tile.height = 6;
  const pen = tile.getContext("2d");
  pen.globalAlpha = 0.35;
  pen.fillStyle = pen.strokeStyle = colours["wait-line"];
  pen.fillRect(0, 0, 6, 6);
  pen.globalAlpha = 0.6;
  pen.beginPath();
  for (const at of [-6, 0, 6]) pen.moveTo(at, 6), pen.lineTo(at + 6, 0);
  pen.stroke();
  hatched = paint.createPattern(tile, "repeat");
}

const width = () => canvas.clientWidth - labels;
const toX = (time) => labels + ((time - from) / shown) * width();
const toTime = (x) => from + ((x - labels) / width()) * shown;

function timeText(time, step) {
  const unit = step >= 1000 ? [1000, "ms"] : [1, "µs"];
  const digits = Math.max(0, Math.min(3, Math.ceil(-Math.log10(step / unit[0]))));
  return (time / unit[0]).toFixed(digits) + " " + unit[1];
}

function lengthText(time) {
  return time >= 1000 ? (time / 1000).toFixed(3) + " ms" : time.toFixed(2) + " µs";
}

function bytesText(bytes) {
  return bytes >= 1 << 20 ? (bytes / (1 << 20)).toFixed(1) + " MiB" : bytes >= 1024 ? (bytes / 1024).toFixed(1) + " KiB" : bytes + " B";
}

// How much of each column's time is covered, between 0 and 1.
function sharesOf(cover, columns) {
  const shares = new Float32Array(columns), step = shown / width();
  let before = cover.until(from);
  for (let column = 0; column < columns && cover.begins.length; ++column) {
    const here = cover.until(from + (column + 1) * step);
    shares[column] = Math.min(1, (here - before) / step);
    before = here;
  }
  return shares;
}

// Bars upwards from `floor`, or from where `below` ends; neighbours of one height are one rectangle.
function fillColumns(shares, style, floor, high, below) {
  paint.fillStyle = style;
  const top = (column) => Math.round(4 * high * Math.min(1 - (below ? below[column] : 0), shares[column])) / 4;
  const base = (column) => (below ? Math.round(4 * high * below[column]) / 4 : 0);
  for (let column = 0; column < shares.length; ) {
    const first = column, tall = top(first), from = base(first);
    do ++column;
    while (column < shares.length && top(column) === tall && base(column) === from);
    if (tall > 0) paint.fillRect(labels + first, floor - from - tall, column - first, tall);
  }
}

function drawRow(row, y) {
  spansOf(row);
  const high = height(row), columns = Math.ceil(width()), floor = y + high, pixel = shown / width();
  const [running, moving, waiting] = row.covers.map((cover) => sharesOf(cover, columns));
  paint.globalAlpha = 0.55;
  fillColumns(running, colours["leaf-line"], floor, high);
  // Moves in their own rows fill them; in a row of their processor, which may run meanwhile, they are a band at its top.
  if (row.moves) fillColumns(moving, colours["data-line"], floor, high);
  paint.globalAlpha = 1;
  fillColumns(waiting, hatched, floor, high, running); // shares no time with running
  paint.globalAlpha = 0.8;
  if (!row.moves) fillColumns(moving, colours["data-line"], y + high * 0.35, high * 0.35);
  // However little there is, something marks that it is there.
  paint.globalAlpha = 0.5;
  paint.fillStyle = colours.quiet;
  for (let column = 0; column < columns; ++column) {
    const first = column;
    for (const little = (share) => share > 0 && share * high < 1; column < columns && (little(running[column]) || little(moving[column]) || little(waiting[column])); )
      ++column;
    if (column > first) paint.fillRect(labels + first, floor - 1, column - first, 1);
  }
  paint.globalAlpha = 1;
  const labelled = []; // drawn last, so that nothing covers them
  eachSpan(row, from, from + shown, 4 * pixel, (i) => {
    const begin = Math.max(toX(row.start[i]), labels), wide = Math.min(toX(row.start[i] + row.time[i]), labels + width()) - begin;
    if (wide < 2) return;
    paint.strokeStyle = colours[kinds[row.kind[i]] + "-line"];
    paint.strokeRect(begin + 0.5, y + 0.5, wide - 1, high - 1);
    const text = data.names[row.names[i]];
    if (wide > 30 && paint.measureText(text).width < wide - 8) labelled.push([text, begin + 5]);
  });
  paint.lineWidth = 3;
  paint.lineJoin = "round";
  paint.strokeStyle = colours.paper;
  paint.fillStyle = colours.ink;
  for (const [text, x] of labelled) {
    paint.strokeText(text, x, y + high / 2);
    paint.fillText(text, x, y + high / 2);
  }
  paint.lineWidth = 1;
}

// Messages, [row, time, row, time], by when they were sent: as long as few are seen.
const arrows = (data.arrows || []).map((arrow) => ({ from: data.rows[arrow[0]], begin: arrow[1], to: data.rows[arrow[2]], end: arrow[3] }));
function drawArrows(top) {
  const left = new Set(rows), seen = arrows.filter((arrow) =>
    Math.max(arrow.begin, arrow.end) >= from && Math.min(arrow.begin, arrow.end) <= from + shown && left.has(arrow.from) && left.has(arrow.to));
  if (seen.length === 0 || seen.length > 400) return;
  paint.strokeStyle = paint.fillStyle = colours.ink;
  for (const arrow of seen) {
    const y = (row) => row.y - top + height(row) / 2;
    const x0 = toX(arrow.begin), y0 = y(arrow.from), x1 = toX(arrow.end), y1 = y(arrow.to);
    const angle = Math.atan2(y1 - y0, x1 - x0), side = (turn) => [x1 - 7 * Math.cos(angle + turn), y1 - 7 * Math.sin(angle + turn)];
    paint.beginPath();
    paint.moveTo(x0, y0);
    paint.lineTo(x1, y1);
    paint.stroke();
    paint.beginPath();
    paint.moveTo(x1, y1);
    paint.lineTo(...side(0.4));
    paint.lineTo(...side(-0.4));
    paint.fill();
  }
}

function drawAxis(high) {
  const about = shown / Math.max(2, width() / 110), power = 10 ** Math.floor(Math.log10(about));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((each) => each >= about);
  paint.fillStyle = colours.paper;
  paint.fillRect(0, 0, canvas.clientWidth, axis - 2);
  paint.strokeStyle = colours.rule;
  paint.fillStyle = colours.quiet;
  paint.beginPath();
  for (let time = Math.ceil(from / step) * step; time < from + shown; time += step) {
    const x = Math.round(toX(time)) + 0.5;
    paint.moveTo(x, axis - 4);
    paint.lineTo(x, high);
    if (x < labels + width() - 60) paint.fillText(timeText(time, step), x + 4, axis / 2);
  }
  paint.stroke();
}

// The first row that ends below a height of the whole.
function rowAt(y) {
  let low = 0, high = rows.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (rows[middle].y + height(rows[middle]) <= y) low = middle + 1;
    else high = middle;
  }
  return low;
}

function draw() {
  const ratio = window.devicePixelRatio || 1, high = Math.min(total, box.clientHeight || total), top = box.scrollTop;
  canvas.style.height = high + "px";
  canvas.width = Math.round(canvas.clientWidth * ratio);
  canvas.height = Math.round(high * ratio);
  paint.setTransform(ratio, 0, 0, ratio, 0, 0);
  paint.fillStyle = colours.paper;
  paint.fillRect(0, 0, canvas.clientWidth, high);
  paint.textBaseline = "middle";
  const seen = [];
  for (let at = rowAt(top + axis); at < rows.length && rows[at].y < top + high; ++at) seen.push(rows[at]);
  for (const row of seen) {
    paint.fillStyle = colours.card;
    paint.fillRect(labels, row.y - top, width(), height(row));
  }
  paint.font = "12px system-ui, sans-serif";
  drawAxis(high);
  paint.save();
  paint.beginPath();
  paint.rect(labels, axis - 2, width(), high);
  paint.clip();
  for (const row of seen) drawRow(row, row.y - top);
  drawArrows(top);
  paint.restore();
  paint.save();
  paint.beginPath();
  paint.rect(0, axis - 2, labels, high);
  paint.clip();
  for (const row of seen) {
    paint.fillStyle = row.moves ? colours.quiet : colours.ink;
    paint.font = row.moves ? "11px system-ui, sans-serif" : "bold 13px system-ui, sans-serif";
    paint.fillText(row.name, row.moves ? 26 : 12, row.y - top + height(row) / 2, labels - 34);
  }
  paint.restore();
}

let isDue = false;
function drawSoon() {
  if (isDue) return;
  isDue = true;
  requestAnimationFrame(() => {
    isDue = false;
    draw();
  });
}

function show(begin, much) {
  shown = Math.min(Math.max(much, 0.01), length);
  from = Math.min(Math.max(begin, 0), length - shown);
  drawSoon();
}

function zoom(factor, x) {
  const centre = toTime(x), much = Math.min(Math.max(shown * factor, 0.01), length);
  show(centre - ((x - labels) / width()) * much, much);
}

// The shortest span at a place, a little beside it too.
function spanAt(x, y) {
  const row = rows[rowAt(y + box.scrollTop)];
  if (!row || y < axis || x < labels || y + box.scrollTop < row.y) return null;
  spansOf(row);
  const slack = (2 / width()) * shown, time = toTime(x);
  let best = -1;
  eachSpan(row, time - slack, time + slack, 0, (i) => {
    if (best < 0 || row.time[i] <= row.time[best]) best = i;
  });
  return best < 0 ? null : { row, best };
}

function hover(event) {
  const frame = canvas.getBoundingClientRect(), x = event.clientX - frame.left, y = event.clientY - frame.top;
  const hit = spanAt(x, y);
  tip.style.display = hit ? "block" : "none";
  if (!hit) return;
  const { row, best } = hit;
  let text = data.names[row.names[best]] + "\n" + row.processor + " " + words[row.kind[best]];
  if (row.ways[best]) text += ", " + data.names[row.ways[best]];
  if (row.kind[best] === 1 && row.bytes[best])
    text += "\n" + bytesText(row.bytes[best]) + (row.time[best] > 0 ? ", " + (row.bytes[best] / row.time[best] / 1000).toFixed(2) + " GB/s" : "");
  tip.textContent = text + "\nfrom " + lengthText(row.start[best]) + ", for " + lengthText(row.time[best]);
  tip.style.left = Math.max(0, Math.min(x + 14, box.clientWidth - tip.offsetWidth - 4)) + "px";
  tip.style.top = box.scrollTop + Math.max(0, Math.min(y + 16, box.clientHeight - tip.offsetHeight - 4)) + "px";
}

let held = null;
canvas.addEventListener("wheel", (event) => {
  event.preventDefault();
  if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) show(from + ((event.deltaX || event.deltaY) / width()) * shown, shown);
  else zoom(Math.exp(event.deltaY * 0.002), Math.max(event.offsetX, labels));
  hover(event);
}, { passive: false });
canvas.addEventListener("pointerdown", (event) => {
  held = { x: event.clientX, y: event.clientY, from, top: box.scrollTop };
  canvas.setPointerCapture(event.pointerId);
});
canvas.addEventListener("pointerup", () => (held = null));
canvas.addEventListener("pointermove", (event) => {
  if (held) {
    show(held.from - ((event.clientX - held.x) / width()) * shown, shown);
    box.scrollTop = held.top - (event.clientY - held.y);
  }
  hover(event);
});
canvas.addEventListener("pointerleave", () => (tip.style.display = "none"));
canvas.addEventListener("dblclick", () => show(0, length));
canvas.addEventListener("keydown", (event) => {
  const middle = labels + width() / 2;
  const actions = {
    ArrowLeft: () => show(from - shown / 8, shown), ArrowRight: () => show(from + shown / 8, shown),
    ArrowUp: () => zoom(0.7, middle), ArrowDown: () => zoom(1 / 0.7, middle),
    "+": () => zoom(0.7, middle), "-": () => zoom(1 / 0.7, middle), "0": () => show(0, length),
    PageUp: () => (box.scrollTop -= box.clientHeight - axis), PageDown: () => (box.scrollTop += box.clientHeight - axis),
    Home: () => (box.scrollTop = 0), End: () => (box.scrollTop = total),
  };
  if (!actions[event.key]) return;
  event.preventDefault();
  actions[event.key]();
});
document.querySelector("#closer").addEventListener("click", () => zoom(0.5, labels + width() / 2));
document.querySelector("#wider").addEventListener("click", () => zoom(2, labels + width() / 2));
document.querySelector("#all").addEventListener("click", () => show(0, length));
find.addEventListener("input", place);
box.addEventListener("scroll", drawSoon);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => (readColours(), drawSoon()));
new ResizeObserver(drawSoon).observe(box);
readColours();
place();
draw();
document.body.dataset.drawn = data.rows.length;
