// Draws `data` (rows of spans [start, length, kind, name, way, bytes], times in microseconds) on a canvas that is zoomed and
// moved. Only what can be seen is drawn, so that long runs stay quick.
"use strict";
const canvas = document.querySelector("#timeline canvas"), tip = document.querySelector("#tip"), box = document.querySelector("#timeline");
const paint = canvas.getContext("2d");
const labels = 130, axis = 26, gap = 6;
const height = (row) => (row.moves ? 16 : 26);
const kinds = ["leaf", "data", "wait"], words = ["runs", "moves data", "waits"];
const length = Math.max(data.length, 1e-3);
let from = 0, shown = length; // what is seen: microseconds [from, from + shown)
let colours = {};

let total = axis;
for (const row of data.rows) {
  if (!row.moves && total > axis) total += gap;
  row.y = total;
  total += height(row) + 2;
}
total += gap;

function readColours() {
  const style = getComputedStyle(document.documentElement);
  for (const name of ["paper", "ink", "quiet", "line", "card", "rule", ...kinds, ...kinds.map((kind) => kind + "-line")])
    colours[name] = style.getPropertyValue("--" + name).trim();
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

// The first span that may still be seen: spans are sorted by start, and rows remember the longest.
function firstSeen(row) {
  row.longest ??= row.spans.reduce((most, span) => Math.max(most, span[1]), 0);
  let low = 0, high = row.spans.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (row.spans[middle][0] + row.longest < from) low = middle + 1;
    else high = middle;
  }
  return low;
}

function hatch(x, y, wide, high) {
  paint.save();
  paint.beginPath();
  paint.rect(x, y, wide, high);
  paint.clip();
  paint.beginPath();
  for (let at = x - high - ((x - high) % 6); at < x + wide; at += 6) {
    paint.moveTo(at, y + high);
    paint.lineTo(at + high, y);
  }
  paint.stroke();
  paint.restore();
}

// Spans too narrow to be told apart share their pixels: how much of a column each kind has is how high it stands there.
function drawRow(row) {
  const high = height(row), columns = Math.ceil(width()) + 1;
  const shares = kinds.map(() => new Float32Array(columns));
  let any = false;
  const labelled = []; // drawn last, so that nothing covers them
  for (let i = firstSeen(row); i < row.spans.length && row.spans[i][0] < from + shown; ++i) {
    const [start, time, kind, name] = row.spans[i];
    const begin = Math.max(toX(start), labels), end = Math.min(toX(start + time), labels + width());
    if (end < labels) continue;
    const wide = end - begin;
    if (wide < 4) {
      any = true;
      const last = Math.max(end, begin + 0.05) - labels;
      for (let column = Math.floor(begin - labels); column <= last && column < columns; ++column)
        shares[kind][column] += Math.max(0, Math.min(last, column + 1) - Math.max(begin - labels, column));
      continue;
    }
    paint.fillStyle = colours[kinds[kind] + "-line"];
    paint.globalAlpha = 0.4;
    paint.fillRect(begin, row.y, wide, high);
    paint.globalAlpha = 1;
    paint.strokeStyle = colours[kinds[kind] + "-line"];
    paint.lineWidth = 1;
    if (kind === 2) {
      paint.globalAlpha = 0.45;
      hatch(begin, row.y, wide, high);
      paint.globalAlpha = 1;
    }
    paint.strokeRect(begin + 0.5, row.y + 0.5, wide - 1, high - 1);
    const text = data.names[name];
    if (wide > 30 && paint.measureText(text).width < wide - 8 && kind !== 2) labelled.push([text, begin + 5]);
  }
  paint.globalAlpha = 0.75;
  for (let column = 0; any && column < columns; ++column) {
    const sum = Math.max(1, shares[0][column] + shares[1][column] + shares[2][column]);
    let bottom = row.y + high;
    for (const kind of [0, 1, 2]) {
      const part = (shares[kind][column] / sum) * high;
      if (part <= 0) continue;
      paint.fillStyle = colours[kinds[kind] + "-line"];
      paint.fillRect(labels + column, bottom - part, 1, part);
      bottom -= part;
    }
  }
  paint.globalAlpha = 1;
  paint.lineWidth = 3;
  paint.lineJoin = "round";
  paint.strokeStyle = colours.paper;
  paint.fillStyle = colours.ink;
  for (const [text, x] of labelled) {
    paint.strokeText(text, x, row.y + high / 2);
    paint.fillText(text, x, row.y + high / 2);
  }
  paint.lineWidth = 1;
}

function drawAxis() {
  const about = shown / Math.max(2, width() / 110), power = 10 ** Math.floor(Math.log10(about));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((each) => each >= about);
  paint.strokeStyle = colours.rule;
  paint.fillStyle = colours.quiet;
  paint.beginPath();
  for (let time = Math.ceil(from / step) * step; time < from + shown; time += step) {
    const x = Math.round(toX(time)) + 0.5;
    paint.moveTo(x, axis - 4);
    paint.lineTo(x, total);
    if (x < labels + width() - 60) paint.fillText(timeText(time, step), x + 4, axis / 2);
  }
  paint.stroke();
}

function draw() {
  const ratio = window.devicePixelRatio || 1;
  canvas.style.height = total + "px";
  canvas.width = Math.round(canvas.clientWidth * ratio);
  canvas.height = Math.round(total * ratio);
  paint.setTransform(ratio, 0, 0, ratio, 0, 0);
  paint.fillStyle = colours.paper;
  paint.fillRect(0, 0, canvas.clientWidth, total);
  paint.textBaseline = "middle";
  paint.font = "12px system-ui, sans-serif";
  for (const row of data.rows) {
    paint.fillStyle = colours.card;
    paint.fillRect(labels, row.y, width(), height(row));
  }
  drawAxis();
  paint.save();
  paint.beginPath();
  paint.rect(labels, 0, width(), total);
  paint.clip();
  for (const row of data.rows) drawRow(row);
  paint.restore();
  for (const row of data.rows) {
    paint.fillStyle = row.moves ? colours.quiet : colours.ink;
    paint.font = row.moves ? "11px system-ui, sans-serif" : "bold 13px system-ui, sans-serif";
    paint.fillText(row.name, row.moves ? 26 : 12, row.y + height(row) / 2, labels - 34);
  }
}

function show(begin, much) {
  shown = Math.min(Math.max(much, 0.01), length);
  from = Math.min(Math.max(begin, 0), length - shown);
  draw();
}

function zoom(factor, x) {
  const centre = toTime(x), much = Math.min(Math.max(shown * factor, 0.01), length);
  show(centre - ((x - labels) / width()) * much, much);
}

function spanAt(x, y) {
  const row = data.rows.find((each) => y >= each.y && y < each.y + height(each));
  if (!row || x < labels) return null;
  const slack = (2 / width()) * shown, time = toTime(x);
  let found = null;
  for (let i = firstSeen(row); i < row.spans.length && row.spans[i][0] <= time + slack; ++i)
    if (row.spans[i][0] + row.spans[i][1] >= time - slack && (!found || row.spans[i][1] <= found[1])) found = row.spans[i];
  return found && { row, span: found };
}

function hover(event) {
  const place = canvas.getBoundingClientRect(), x = event.clientX - place.left, y = event.clientY - place.top;
  const hit = spanAt(x, y);
  tip.style.display = hit ? "block" : "none";
  if (!hit) return;
  const [start, time, kind, name, way, bytes] = hit.span;
  let text = data.names[name] + "\n" + hit.row.processor + " " + words[kind];
  if (way) text += ", " + data.names[way];
  if (kind === 1 && bytes) text += "\n" + bytesText(bytes) + (time > 0 ? ", " + (bytes / time / 1000).toFixed(2) + " GB/s" : "");
  tip.textContent = text + "\nfrom " + lengthText(start) + ", for " + lengthText(time);
  tip.style.left = Math.max(0, Math.min(x + 14, box.clientWidth - tip.offsetWidth - 4)) + "px";
  tip.style.top = Math.max(0, Math.min(y + 16, box.clientHeight - tip.offsetHeight - 4)) + "px";
}

let held = null;
canvas.addEventListener("wheel", (event) => {
  event.preventDefault();
  if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) show(from + ((event.deltaX || event.deltaY) / width()) * shown, shown);
  else zoom(Math.exp(event.deltaY * 0.002), Math.max(event.offsetX, labels));
  hover(event);
}, { passive: false });
canvas.addEventListener("pointerdown", (event) => {
  held = { x: event.clientX, from };
  canvas.setPointerCapture(event.pointerId);
});
canvas.addEventListener("pointerup", () => (held = null));
canvas.addEventListener("pointermove", (event) => {
  if (held) show(held.from - ((event.clientX - held.x) / width()) * shown, shown);
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
  };
  if (!actions[event.key]) return;
  event.preventDefault();
  actions[event.key]();
});
document.querySelector("#closer").addEventListener("click", () => zoom(0.5, labels + width() / 2));
document.querySelector("#wider").addEventListener("click", () => zoom(2, labels + width() / 2));
document.querySelector("#all").addEventListener("click", () => show(0, length));
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => (readColours(), draw()));
new ResizeObserver(draw).observe(box);
readColours();
draw();
document.body.dataset.drawn = data.rows.length;
