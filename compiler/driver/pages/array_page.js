// Draws `data`, a run on a processor array, on two canvases that are zoomed and moved: the array in one cycle, and the
// schedule of one element's units over all cycles. What a unit executes is looked up in trees over the iterations of a
// tile; only what can be seen is looked up and drawn.
"use strict";
const find = (name) => document.querySelector(name);
const rows = data.rows, columns = data.columns, interval = data.interval, cycles = Math.max(1, data.cycles);
const units = data.units || [], opposite = (side) => (side + 2) % 4, hop = Math.max(1, data.hop);
const sides = ["north", "east", "south", "west"], elementSide = 4;
const phases = ["waiting", "prologue", "kernel", "other kernels", "epilogue", "halted"];
const phaseColours = ["rule", "control-line", "leaf-line", "inner-line", "external-line", "line"];
const kinds = ["nothing", "move", "add, subtract, …", "multiply, divide, …", "bits", "compare, select"];
const kindColours = ["rule", "data-line", "leaf-line", "inner-line", "external-line", "control-line"];
const text = 0, mnemonic = 1, kind = 2, sources = 3, types = 4, type = 5, outputs = 6, latency = 7, tested = 8; // of an instruction
let colours = {}, cycle = 0, chosen = { r: rows >> 1, c: columns >> 1 }, byClass = false;

// ---- What is executed when ----

const inner = data.extents.map((_, level) => data.extents.slice(level + 1).reduce((a, b) => a * b, 1));
function lookUp(root, n) {
  for (let level = 0; level < inner.length; ++level) {
    const x = Math.floor(n / inner[level]), node = data.nodes[root];
    n -= x * inner[level];
    let low = 0, high = node.length / 2 - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (node[2 * middle] > x) high = middle;
      else low = middle + 1;
    }
    root = node[2 * low + 1];
  }
  return root;
}

function pointOf(n) {
  return inner.map((step, level) => Math.floor(n / step) % data.extents[level]);
}

const classes = new Int32Array(rows * columns).fill(-1);
for (const [top, bottom, left, right, number] of data.regions)
  for (let r = Math.max(0, top); r < Math.min(rows, bottom); ++r)
    for (let c = Math.max(0, left); c < Math.min(columns, right); ++c) classes[r * columns + c] = number;
const classOf = (r, c) => data.classes[classes[r * columns + c]];
const startOf = (r, c) => data.starts[0] + r * data.starts[1] + c * data.starts[2];
const positionIn = (slots, slot) => (typeof slots === "number" ? (slots < 0 ? -1 : slots + slot) : slots[slot]);

// The position of a unit in its program in a cycle; -1 where it waits or has halted.
function positionAt(r, c, unit, time) {
  const local = time - startOf(r, c), of = classOf(r, c), n = Math.floor(local / interval);
  if (!of || !of.units[unit] || n < 0 || n >= data.iterations) return -1;
  return positionIn(of.units[unit].slots[lookUp(of.units[unit].root, n)], local - n * interval);
}

const instructionAt = (of, unit, position) => (position < 0 ? null : data.instructions[of.units[unit].program[position]]);

// What all units of an element do: the phase, the iteration and its slot, how many units are busy.
function stateOf(r, c, time) {
  const of = classOf(r, c), local = time - startOf(r, c), n = Math.floor(local / interval), slot = local - n * interval;
  if (!of || n < 0) return { phase: 0, n: -1, slot, busy: 0 };
  if (n >= data.iterations || !of.together.length) return { phase: 5, n: -1, slot, busy: 0 };
  const together = lookUp(of.root, n);
  of.known ||= new Map();
  const key = together * interval + slot;
  let known = of.known.get(key);
  if (!known) {
    known = { busy: 0, halted: true };
    of.together[together].forEach((number, unit) => {
      const position = positionIn(of.units[unit].slots[number], slot), instruction = instructionAt(of, unit, position);
      if (position >= 0) known.halted = false;
      if (instruction && instruction[kind]) ++known.busy;
    });
    of.known.set(key, known);
  }
  const phase = known.halted ? 5 : together === of.kernel ? 2 : n < of.first ? 1 : n > of.last ? 4 : 3;
  return { phase, n, slot, busy: known.busy };
}

const inBoxes = (boxes, point) => boxes.some((box) => point.every((x, i) => box[2 * i] <= x && x < box[2 * i + 1]));

function coordinates(n) {
  return pointOf(n).map((x, i) => (data.loops[i] || "i" + i) + " = " + x).join(", ");
}

// ---- Values ----

const streams = new Map();
for (const [r, c, unit, bytes] of data.values) streams.set((r * columns + c) * units.length + unit, bytes);

// A stream's cycles and, for each, operands and the result.
function valuesOf(r, c, unit) {
  const key = (r * columns + c) * units.length + unit, stream = streams.get(key);
  if (typeof stream !== "string") return stream;
  const bytes = atob(stream), result = { cycles: [], values: [] };
  let at = 0, time = 0;
  const next = () => {
    let value = 0, scale = 1, digits = 0;
    for (const first = at; ; ++digits) {
      const byte = bytes.charCodeAt(at++);
      if (digits === 7) { // more than a number holds
        value = 0n;
        at = first;
        for (let shift = 0n; ; shift += 7n) {
          const each = bytes.charCodeAt(at++);
          value |= BigInt(each & 127) << shift;
          if (each < 128) return BigInt.asIntN(64, value & 1n ? ~(value >> 1n) : value >> 1n);
        }
      }
      value += (byte & 127) * scale;
      scale *= 128;
      if (byte < 128) return value % 2 ? -(value + 1) / 2 : value / 2;
    }
  };
  while (at < bytes.length) {
    time += Number(next());
    result.cycles.push(time);
    result.values.push(Array.from({ length: Number(next()) + 1 }, next));
  }
  streams.set(key, result);
  return result;
}

function valuesAt(r, c, unit, time) {
  const stream = valuesOf(r, c, unit);
  if (!stream) return null;
  let low = 0, high = stream.cycles.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (stream.cycles[middle] < time) low = middle + 1;
    else high = middle;
  }
  return stream.cycles[low] === time ? stream.values[low] : null;
}

const scratch = new DataView(new ArrayBuffer(8));
function valueText(value, of) {
  const bits = BigInt.asUintN(64, BigInt(value));
  scratch.setBigUint64(0, bits);
  if (of === "bool") return bits & 1n ? "true" : "false";
  if (of === "float32") { // as few digits as tell it from others
    const number = scratch.getFloat32(4), digits = [6, 7, 8].find((each) => Math.fround(+number.toPrecision(each)) === number) || 9;
    return String(+number.toPrecision(digits));
  }
  if (of === "float64") return String(scratch.getFloat64(0));
  return of.startsWith("u") ? String(bits) : String(value);
}

// "2 · 3 → 6" of an instruction in a cycle; empty where no values are known.
function valuesText(r, c, unit, instruction, time) {
  const values = instruction[kind] ? valuesAt(r, c, unit, time) : null;
  if (!values) return "";
  const result = values[values.length - 1];
  return instruction[types].map((each, i) => (instruction[sources][i] ? instruction[sources][i] + " = " : "") + valueText(values[i] ?? 0, each)).join(", ") +
    "  →  " + valueText(result, instruction[type]);
}

// ---- The array ----

const arrayBox = find("#array"), arrayCanvas = arrayBox.querySelector("canvas"), paint = arrayCanvas.getContext("2d");
const view = { x: 0, y: 0, scale: 0 }; // what is at the canvas' corner, in elements; pixels of an element
const border = 1, margin = 22;         // room around the array for banks, in elements, and for names, in pixels

function showAll() {
  const w = arrayCanvas.clientWidth, wide = columns + 2 * border, tall = rows + 2 * border, most = Math.min(0.72 * innerHeight, 760);
  arrayCanvas.style.height = Math.max(280, Math.min(most, ((w - 2 * margin) * tall) / wide + 2 * margin, 180 * tall + 2 * margin)) + "px";
  const h = arrayCanvas.clientHeight;
  view.scale = Math.min((w - 2 * margin) / wide, (h - 2 * margin) / tall, 180);
  view.x = columns / 2 - w / view.scale / 2;
  view.y = rows / 2 - h / view.scale / 2;
}

function prepare(canvas, pen) {
  const ratio = window.devicePixelRatio || 1, w = canvas.clientWidth, h = canvas.clientHeight;
  if (canvas.width !== Math.round(w * ratio)) canvas.width = Math.round(w * ratio);
  if (canvas.height !== Math.round(h * ratio)) canvas.height = Math.round(h * ratio);
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.fillStyle = colours.paper;
  pen.fillRect(0, 0, w, h);
  pen.textBaseline = "middle";
  return [w, h];
}

const classColour = (number) => "hsl(" + ((number * 137.5 + 210) % 360) + " 55% " + (colours.dark ? "58%" : "46%") + ")";

// Whether the run failed in an element, and has done so by the cycle that is looked at.
const failedAt = data.failed ? Math.min(Math.max(0, data.failed[0]), cycles - 1) : -1;
const hasFailed = (r, c) => data.failed && r === data.failed[1] && c === data.failed[2] && cycle >= failedAt;

// The part of an element that its wrapper leaves free, where there is room to draw both.
const insetOf = (s) => (s >= 70 ? 0.22 * size * s : 0);

function drawWrapper(to, x, y, s) {
  const left = x + low * s, top = y + low * s, wide = size * s;
  to.fillStyle = colours.card;
  to.strokeStyle = colours.rule;
  to.fillRect(left, top, wide, wide);
  to.strokeRect(left + 0.5, top + 0.5, wide - 1, wide - 1);
}

function drawElement(r, c, x, y, s) {
  const state = stateOf(r, c, cycle), of = classOf(r, c), isIdle = state.phase === 0 || state.phase === 5;
  const inset = insetOf(s), left = x + low * s + inset, top = y + low * s + inset, wide = size * s - 2 * inset;
  const colour = byClass ? classColour(classes[r * columns + c]) : colours[phaseColours[state.phase]];
  if (inset) {
    paint.fillStyle = colours.card;
    paint.fillRect(left, top, wide, wide);
  }
  paint.globalAlpha = isIdle ? (state.phase === 5 ? 0.28 : byClass ? 0.12 : 0.6) : 0.35 + (0.6 * state.busy) / Math.max(1, of?.units.length);
  paint.fillStyle = colour;
  paint.fillRect(left, top, wide, wide);
  paint.globalAlpha = 1;
  if (s >= 18) {
    paint.strokeStyle = colour;
    paint.strokeRect(left + 0.5, top + 0.5, wide - 1, wide - 1);
  }
  if (r === chosen.r && c === chosen.c) {
    paint.strokeStyle = colours.ink;
    paint.lineWidth = 2;
    paint.strokeRect(x + low * s - 2, y + low * s - 2, size * s + 4, size * s + 4);
    paint.lineWidth = 1;
  }
  if (hasFailed(r, c)) {
    paint.strokeStyle = colours["wait-line"];
    paint.lineWidth = Math.max(2, s / 30);
    paint.beginPath();
    paint.moveTo(left, top), paint.lineTo(left + wide, top + wide);
    paint.moveTo(left + wide, top), paint.lineTo(left, top + wide);
    paint.stroke();
    paint.lineWidth = 1;
  }
  if (s < 90 || !of) return;
  const all = of.units.map((_, unit) => unit).filter((unit) => of.units[unit].program.length);
  paint.save();
  paint.beginPath();
  paint.rect(left, top, wide, wide);
  paint.clip();
  label("(" + r + ", " + c + ")", left + 5, top + 11, "bold 12px system-ui, sans-serif");
  all.slice(0, Math.max(0, Math.floor((wide - 22) / 14))).forEach((unit, line) => {
    const instruction = instructionAt(of, unit, positionAt(r, c, unit, cycle));
    const what = !instruction ? "–" : s < 420 ? instruction[mnemonic] : instruction[text].split(";")[0];
    label((s < 200 ? "" : (units[unit] ?? unit) + "  ") + what, left + 5, top + 26 + 14 * line, "11px ui-monospace, monospace");
  });
  paint.restore();
}

// Text that can be read on any colour.
function label(what, x, y, font, pen = paint) {
  pen.font = font;
  pen.lineWidth = 3;
  pen.lineJoin = "round";
  pen.strokeStyle = colours.paper;
  pen.globalAlpha = 0.75;
  pen.strokeText(what, x, y);
  pen.globalAlpha = 1;
  pen.fillStyle = colours.ink;
  pen.fillText(what, x, y);
  pen.lineWidth = 1;
}

// A bank's box in elements: behind the end of its lane.
function bankBox({ side, position, index, isOutput }) {
  const way = isOutput ? side : opposite(side), half = Math.min(0.12, (0.2 * size) / lanes[way]), along = position + low + size * laneAt(way, index);
  const near = low + 0.02, far = 0.95;
  return side === 0 ? [along - half, -far, 2 * half, far - near] : side === 2 ? [along - half, rows + near, 2 * half, far - near]
    : side === 1 ? [columns + near, along - half, far - near, 2 * half] : [-far, along - half, far - near, 2 * half];
}

function drawBank(to, list, isActive) {
  const [x, y, w, h] = bankBox(list[0]), s = view.scale, left = (x - view.x) * s, top = (y - view.y) * s, wide = w * s, tall = h * s;
  if (left > arrayCanvas.clientWidth || top > arrayCanvas.clientHeight || left + wide < 0 || top + tall < 0) return;
  const line = colours[list[0].isOutput ? "external-line" : "data-line"];
  to.fillStyle = line;
  to.globalAlpha = isActive ? 0.85 : 0.25;
  to.fillRect(left, top, Math.max(1, wide), Math.max(1, tall));
  to.globalAlpha = 1;
  if (Math.min(wide, tall) < 11) return;
  const name = list[0].name;
  to.save();
  to.beginPath();
  to.rect(left, top, wide, tall);
  to.clip();
  if (list[0].side % 2) label(name, left + 4, top + tall / 2, "11px system-ui, sans-serif", to);
  else {
    to.translate(left + wide / 2, top + tall - 4);
    to.rotate(-Math.PI / 2);
    label(name, 0, 0, "11px system-ui, sans-serif", to);
  }
  to.restore();
}

// Which arrays are at a border, where banks are too small for their names.
function drawBorderNames(to) {
  for (let side = 0; side < 4; ++side) {
    const all = [...banks.values()].flat().filter((bank) => bank.side === side);
    if (!all.length || Math.min(...bankBox(all[0]).slice(2)) * view.scale >= 11) continue;
    const names = [...new Set(all.map((bank) => (bank.isOutput ? "to " : "from ") + bank.name.split("[")[0]))].slice(0, 6).join(", ");
    const middle = [columns / 2, rows / 2], at = [[middle[0], -border], [columns + border, middle[1]], [middle[0], rows + border], [-border, middle[1]]][side];
    to.save();
    to.translate((at[0] - view.x) * view.scale + (step[side][1] * margin) / 2, (at[1] - view.y) * view.scale + (step[side][0] * margin) / 2);
    if (side % 2) to.rotate(-Math.PI / 2);
    to.textAlign = "center";
    label(names, 0, 0, "12px system-ui, sans-serif", to);
    to.restore();
  }
}

// What is the same in all cycles is drawn once for a view.
const still = document.createElement("canvas");
let stillIs = "";

function seen(w, h, visit) {
  const s = view.scale;
  // Wires go beyond their element.
  for (let r = Math.max(0, Math.floor(view.y - low)); r < Math.min(rows, view.y + h / s + low); ++r)
    for (let c = Math.max(0, Math.floor(view.x - low)); c < Math.min(columns, view.x + w / s + low); ++c) visit(r, c, (c - view.x) * s, (r - view.y) * s, s);
}

function drawStill(w, h) {
  const is = [w, h, view.x, view.y, view.scale, arrayCanvas.width, colours.paper].join();
  if (is === stillIs) return;
  stillIs = is;
  still.width = arrayCanvas.width;
  still.height = arrayCanvas.height;
  const to = still.getContext("2d");
  to.scale(arrayCanvas.width / w, arrayCanvas.height / h);
  to.textBaseline = "middle";
  for (const list of banks.values()) drawBank(to, list, false);
  drawBorderNames(to);
  if (insetOf(view.scale)) seen(w, h, (r, c, x, y, s) => drawWrapper(to, x, y, s));
  if (view.scale < 10) return;
  to.beginPath();
  seen(w, h, (r, c, x, y, s) => addWays(to, r, c, x, y, s, false));
  to.strokeStyle = colours.line;
  to.globalAlpha = 0.55;
  to.stroke();
}

function drawArray() {
  if (!view.scale) showAll();
  const [w, h] = prepare(arrayCanvas, paint);
  drawStill(w, h);
  paint.drawImage(still, 0, 0, w, h);
  paint.beginPath();
  seen(w, h, (r, c, x, y, s) => addWays(paint, r, c, x, y, s, true));
  paint.strokeStyle = colours["wait-line"];
  paint.lineWidth = Math.min(2.5, Math.max(1, view.scale / 24));
  paint.stroke();
  paint.lineWidth = 1;
  drawWatched();
  seen(w, h, drawElement);
  if (view.scale >= 60) seen(w, h, drawTexts);
  for (const list of banks.values()) if (list.some((bank) => passes(bank, cycle))) drawBank(paint, list, true);
}
