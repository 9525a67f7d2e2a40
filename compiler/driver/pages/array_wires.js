// Goes on where array_page.js ends: connections followed to where values come from, the value on each wire in a cycle, and
// wires as they are drawn, pointed at and chosen.
// ---- Connections ----

const wrappers = new Map(data.wrappers.map(([r, c, pattern]) => [r * columns + c, data.patterns[pattern]]));
const step = [[-1, 0], [0, 1], [1, 0], [0, -1]];
const isInside = (r, c) => r >= 0 && c >= 0 && r < rows && c < columns;
const banks = new Map(); // by border port
const portKey = (side, position, index) => (side * Math.max(rows, columns) + position) * 4096 + index;
for (const [side, position, index, isOutput, name, start, boxes] of data.banks) {
  const key = portKey(side, position, index), bank = { side, position, index, isOutput, name, start, boxes: data.boxes[boxes], readers: [] };
  const ranks = bank.boxes.map((box) => [0, 1].map((end) => inner.reduce((sum, step, i) => sum + step * (box[2 * i + end] - end), 0)));
  bank.first = Math.max(0, Math.min(...ranks.map((rank) => rank[0])));
  bank.last = Math.min(data.iterations - 1, Math.max(...ranks.map((rank) => rank[1])));
  banks.set(key, [...(banks.get(key) || []), bank]);
}

// Where what comes from a source port of a wrapper begins: an output register or a bank, and how many hops ago.
function originOf(r, c, side, index) {
  for (let hops = 0; hops <= 4 * (rows + columns); ++hops) {
    if (side === elementSide) return { r, c, output: index, hops };
    const row = r + step[side][0], column = c + step[side][1];
    if (!isInside(row, column)) return { banks: banks.get(portKey(side, side % 2 ? r : c, index)) || [], hops };
    const before = (wrappers.get(row * columns + column) || []).find((each) => each[2] === opposite(side) && each[3] === index);
    if (!before) return null;
    [r, c, side, index] = [row, column, before[0], before[1]];
  }
  return null;
}

// Who writes an output register in a class: units with latencies and positions.
function writersOf(of, output) {
  of.writers ||= new Map();
  if (!of.writers.has(output)) {
    const all = new Map();
    of.units.forEach((unit, number) => unit.program.forEach((each, position) => {
      const instruction = data.instructions[each], key = number + " " + instruction[latency];
      if (!instruction[outputs].includes(output)) return;
      if (!all.has(key)) all.set(key, { unit: number, latency: instruction[latency], positions: new Set() });
      all.get(key).positions.add(position);
    }));
    of.writers.set(output, [...all.values()]);
  }
  return of.writers.get(output);
}

function passes(bank, time) {
  const n = (time - bank.start) / interval;
  return Number.isInteger(n) && n >= bank.first && n <= bank.last && inBoxes(bank.boxes, pointOf(n));
}

// The values that are at a source port in a cycle or have left it at most so many cycles before, the latest first: when
// the bank gave them, or a unit began to compute them.
function wordsOf(origin, time, most) {
  const words = [];
  for (let late = 0; origin && late < most; ++late) {
    const left = time - late - origin.hops * hop;
    if (origin.banks) {
      for (const bank of origin.banks) if (!bank.isOutput && passes(bank, left)) words.push({ late, bank, time: left });
      continue;
    }
    const of = classOf(origin.r, origin.c);
    for (const { unit, latency, positions } of of ? writersOf(of, origin.output) : [])
      if (positions.has(positionAt(origin.r, origin.c, unit, left - latency))) words.push({ late, unit, time: left - latency });
  }
  return words;
}

// Of a way in the cycle that is looked at. Between wrappers a value is under way for as many cycles as a hop has.
function wordsOn(way) {
  if (way.cycle !== cycle) {
    way.cycle = cycle;
    way.words = wordsOf(way.origin, cycle, way.sink[0] === elementSide ? 1 : hop);
  }
  return way.words;
}

// ---- The words of banks ----
// What a bank gives is not recorded, but what is read: the word number k is what the reader's k-th read has as operand.

// How many points of the boxes come before a point in the order of iterations. The boxes have none in common.
function rankIn(boxes, point) {
  let rank = 0;
  for (const box of boxes)
    for (let i = 0; i < point.length; ++i) {
      const first = box[2 * i], end = box[2 * i + 1];
      let each = 1;
      for (let j = i + 1; j < point.length; ++j) each *= box[2 * j + 1] - box[2 * j];
      rank += each * (Math.min(Math.max(point[i], first), end) - first);
      if (point[i] < first || point[i] >= end) break;
    }
  return rank;
}

// Of a class, what reads an input register: for each of the different iterations its reads by slot; and how many there
// are below the nodes of the trees, as far as they have been counted.
function readsOf(of, input) {
  of.reads ||= new Map();
  if (!of.reads.has(input)) {
    const lists = of.together.map((numbers) => {
      const list = [];
      numbers.forEach((number, unit) => {
        for (let slot = 0; slot < interval && of.units[unit].program.length; ++slot) {
          const instruction = instructionAt(of, unit, positionIn(of.units[unit].slots[number], slot));
          const operand = instruction ? instruction[sources].indexOf("id" + input) : -1;
          if (operand >= 0) list.push({ slot, unit, operand, type: instruction[types][operand] });
        }
      });
      return list.sort((a, b) => a.slot - b.slot);
    });
    of.reads.set(input, { lists, below: [] });
  }
  return of.reads.get(input);
}

function readsBelow(reads, root, level) {
  if (level === inner.length) return reads.lists[root].length;
  if (reads.below[root] === undefined) {
    let sum = 0, begin = 0;
    const node = data.nodes[root];
    for (let i = 0; i < node.length; begin = node[i], i += 2) sum += (node[i] - begin) * readsBelow(reads, node[i + 1], level + 1);
    reads.below[root] = sum;
  }
  return reads.below[root];
}

// The read number k of an input register: its iteration and slot, the unit, which operand it is.
function readAt(of, input, k) {
  const reads = readsOf(of, input);
  let root = of.root, n = 0;
  for (let level = 0; level < inner.length; ++level) {
    const node = data.nodes[root];
    let i = 0, begin = 0, each = 0;
    for (; i < node.length; begin = node[i], i += 2) {
      each = readsBelow(reads, node[i + 1], level + 1);
      if (k < each * (node[i] - begin)) break;
      k -= each * (node[i] - begin);
    }
    if (i >= node.length) return null;
    n += (begin + Math.floor(k / each)) * inner[level];
    k %= each;
    root = node[i + 1];
  }
  return { n, ...reads.lists[root][k] };
}

// A word's value and type; null where it was not recorded.
function carried(origin, word) {
  if (!word.bank) {
    const values = valuesAt(origin.r, origin.c, word.unit, word.time), of = classOf(origin.r, origin.c);
    return values && { value: values[values.length - 1], type: instructionAt(of, word.unit, positionAt(origin.r, origin.c, word.unit, word.time))[type] };
  }
  for (const { r, c, input } of word.bank.readers) {
    const of = classOf(r, c), read = of && readAt(of, input, wordNumber(word));
    const values = read && valuesAt(r, c, read.unit, startOf(r, c) + read.n * interval + read.slot);
    if (values) return { value: values[read.operand], type: read.type };
  }
  return null;
}

const wordNumber = ({ bank, time }) => rankIn(bank.boxes, pointOf((time - bank.start) / interval));

// ---- Where wires are drawn ----

// Lanes: how many ports of a side are in use, in the direction in which data moves (the number of the side it leaves by).
const lanes = [1, 1, 1, 1], elementLanes = [1, 1];
for (const pattern of data.patterns)
  for (const [from, fromIndex, to, toIndex] of pattern) {
    if (from === elementSide) elementLanes[1] = Math.max(elementLanes[1], fromIndex + 1);
    else lanes[opposite(from)] = Math.max(lanes[opposite(from)], fromIndex + 1);
    if (to === elementSide) elementLanes[0] = Math.max(elementLanes[0], toIndex + 1);
    else lanes[to] = Math.max(lanes[to], toIndex + 1);
  }
for (const { side, index, isOutput } of [...banks.values()].flat()) {
  const way = isOutput ? side : opposite(side);
  lanes[way] = Math.max(lanes[way], index + 1);
}

// Where along a wrapper's side a lane lies, between 0 and 1; the two directions have a half each.
const laneAt = (way, index) => (way === 1 || way === 2 ? 0.06 : 0.52) + (0.42 * (index + 0.5)) / lanes[way];
// A wrapper's box in units of an element; what is left is the way to the next.
const low = 0.16, high = 0.84, size = high - low;

// The places of a wrapper's ports, from its corner.
function portAt(side, index, isOutput) {
  if (side === elementSide) return [low + size * (isOutput ? 0.78 : 0.22), low + size * (0.26 + (0.48 * (index + 0.5)) / elementLanes[isOutput ? 1 : 0])];
  const along = low + size * laneAt(isOutput ? side : opposite(side), index);
  return side === 0 ? [along, low] : side === 1 ? [high, along] : side === 2 ? [along, high] : [low, along];
}

// All ways through wrappers: their ports, where they are drawn, and the ways from there to the next wrapper or a bank.
const ways = new Map(); // by element
for (const [place, pattern] of wrappers) {
  const r = Math.floor(place / columns), c = place % columns, list = [], known = new Set();
  for (const [from, fromIndex, to, toIndex] of pattern) {
    const origin = originOf(r, c, from, fromIndex), isFirst = !known.has(from * 4096 + fromIndex), outer = [];
    known.add(from * 4096 + fromIndex);
    if (to !== elementSide) outer.push(wayOut(to, toIndex, true));
    else if (origin?.banks) origin.banks.forEach((bank) => bank.readers.push({ r, c, input: toIndex }));
    if (isFirst && from !== elementSide && !isInside(r + step[from][0], c + step[from][1])) outer.push(wayOut(from, fromIndex, false));
    list.push({ r, c, source: [from, fromIndex], sink: [to, toIndex], isFirst, origin, outer, from: portAt(from, fromIndex, from === elementSide), to: portAt(to, toIndex, to !== elementSide) });
  }
  ways.set(place, list);
}
function wayOut(side, index, isOutput) {
  const [x, y] = portAt(side, index, isOutput), long = 2 * low;
  return { x, y, toX: x + step[side][1] * long, toY: y + step[side][0] * long, side, isOutput };
}

// What is connected in a wrapper bends away from the element.
function bendOf({ from: [fromX, fromY], to: [toX, toY] }) {
  const midX = (fromX + toX) / 2, midY = (fromY + toY) / 2;
  return [midX + (0.5 - midX) * -0.35, midY + (0.5 - midY) * -0.35];
}

// Adds to the path what leaves an element's wrapper, and what is connected in it where there is room: all of it as plain
// lines, or with arrows only what carries a value in this cycle.
function addWays(to, r, c, x, y, s, isActive) {
  for (const way of ways.get(r * columns + c) || []) {
    const words = isActive ? wordsOn(way) : null;
    if (!isActive || words.length) addWay(to, way, x, y, s, isActive && s >= 8, !isActive || words[0].late === 0);
  }
}

// `isHere`: also what is not on the way to another wrapper.
function addWay(to, way, x, y, s, hasArrows, isHere) {
  for (const each of way.outer) {
    if (!each.isOutput && !isHere) continue;
    if (hasArrows) arrow(x + each.x * s, y + each.y * s, x + each.toX * s, y + each.toY * s, each.isOutput, s);
    else to.moveTo(x + each.x * s, y + each.y * s), to.lineTo(x + each.toX * s, y + each.toY * s);
  }
  if (!insetOf(s) || !isHere) return;
  const [bendX, bendY] = bendOf(way);
  to.moveTo(x + way.from[0] * s, y + way.from[1] * s);
  to.quadraticCurveTo(x + bendX * s, y + bendY * s, x + way.to[0] * s, y + way.to[1] * s);
}

function arrow(fromX, fromY, toX, toY, isOutput, s) {
  if (!isOutput) [fromX, fromY, toX, toY] = [toX, toY, fromX, fromY];
  const length = Math.hypot(toX - fromX, toY - fromY) || 1, dx = (toX - fromX) / length, dy = (toY - fromY) / length, head = Math.min(6, s * 0.12);
  paint.moveTo(fromX, fromY);
  paint.lineTo(toX, toY);
  if (head < 2) return;
  paint.moveTo(toX - dx * head - dy * head * 0.6, toY - dy * head + dx * head * 0.6);
  paint.lineTo(toX, toY);
  paint.lineTo(toX - dx * head + dy * head * 0.6, toY - dy * head - dx * head * 0.6);
}

// ---- Values beside wires ----

const wireFont = "10px ui-monospace, monospace", lineHigh = 12;
let digitWide = 0;

// A value in at most so many characters, floats with fewer digits; empty where that is not possible.
function shortText({ value, type: of }, most) {
  const whole = valueText(value, of);
  if (whole.length <= most || !of.startsWith("float")) return whole.length <= most ? whole : "";
  for (let digits = 6; digits >= 3; --digits) {
    const less = Number(whole).toPrecision(digits);
    if (less.length <= most) return less;
  }
  return "";
}

// Values of some words in one line.
function wordsText(way, words, most) {
  const found = words.map((word) => carried(way.origin, word)), each = Math.floor((most + 2) / found.length) - 2;
  const all = found.map((value) => (value ? shortText(value, each) : "?"));
  return all.includes("") ? "" : all.join(", ");
}

// The values on an element's wires. A text lies in the lane of its wire, or beside the register's port, so that no two
// meet: where it is too wide for that, or lanes are too narrow, there is none.
function drawTexts(r, c, x, y, s) {
  const bands = [lanes[0], lanes[1]].map((_, way) => (0.42 * size * s) / Math.max(lanes[way], lanes[way + 2])), gap = 2 * low * s - 10;
  if (!digitWide) (paint.font = wireFont), (digitWide = paint.measureText("0").width);
  const put = (what, left, top, align, isUpright) => {
    paint.save();
    paint.translate(left, top);
    if (isUpright) paint.rotate(-Math.PI / 2);
    paint.textAlign = align;
    label(what, 0, 0, wireFont);
    paint.restore();
  };
  for (const way of ways.get(r * columns + c) || []) {
    const all = wordsOn(way), here = all.filter((word) => !word.late);
    for (const each of all.length ? way.outer : []) {
      const words = each.isOutput ? all : here, isUpright = each.side % 2 === 0, band = bands[isUpright ? 0 : 1];
      if (!words.length || band < lineHigh) continue;
      const left = x + ((each.x + each.toX) / 2) * s, top = y + ((each.y + each.toY) / 2) * s;
      const along = Math.floor(gap / digitWide), across = isUpright ? Math.floor((band - 8) / digitWide) : 0;
      const what = wordsText(way, words, Math.max(along, across));
      if (!what) continue;
      if (!isUpright) put(what, left, top - 7, "center");
      else if (what.length <= across) put(what, left + 5, top, "left");
      else put(what, left + 7, top, "center", true);
    }
    const isInput = way.sink[0] === elementSide, ports = isInput ? 0 : 1;
    if (!insetOf(s) || !here.length || !(isInput || (way.source[0] === elementSide && way.isFirst)) || (0.48 * size * s) / elementLanes[ports] < lineHigh) continue;
    const what = wordsText(way, here, Math.floor((insetOf(s) - 6) / digitWide)), [portX, portY] = isInput ? way.to : way.from;
    if (what) put(what, x + portX * s + (isInput ? -3 : 3), y + portY * s - 7, isInput ? "right" : "left");
  }
}

// ---- A wire that is pointed at or chosen ----

let watched = null;
const portName = ([side, index], isSource) => (side !== elementSide ? sides[side] : isSource ? "od" : "id") + index;
const bankPlace = ({ side, position, index }) => sides[side] + index + " of " + (side % 2 ? "row " : "column ") + position;
const placeText = (r, c) => "(" + r + ", " + c + ")";

function connectionText(way) {
  return portName(way.source, true) + " → " + portName(way.sink, false);
}

// Where what a way carries comes from.
function originText({ origin }) {
  if (!origin) return "nothing";
  const hops = origin.hops ? ", " + origin.hops + (origin.hops === 1 ? " hop" : " hops") : "";
  if (!origin.banks) return "od" + origin.output + " of element " + placeText(origin.r, origin.c) + hops;
  return (origin.banks.filter((bank) => !bank.isOutput).map((bank) => bank.name + " in bank " + bankPlace(bank)).join(", ") || "no bank") + hops;
}

// What it carries in this cycle, and who sent it.
function carriesText(way) {
  return wordsOn(way).map((word) => {
    const found = carried(way.origin, word), late = word.late ? " (" + word.late + " of " + hop + " cycles to the next wrapper)" : "";
    return { value: (found ? valueText(found.value, found.type) + ", " + found.type : "a value that is not recorded") + late,
      sent: word.bank ? "word " + wordNumber(word) + " of " + word.bank.name : (units[word.unit] ?? "unit " + word.unit) + " in cycle " + word.time };
  });
}

function wireText(way) {
  const { r, c, sink: [side, index] } = way, carries = carriesText(way);
  let where = "wrapper " + placeText(r, c) + ": " + connectionText(way);
  if (side !== elementSide) {
    const row = r + step[side][0], column = c + step[side][1], position = side % 2 ? r : c;
    where += isInside(row, column) ? ", to wrapper " + placeText(row, column)
      : banks.has(portKey(side, position, index)) ? ", to bank " + bankPlace({ side, position, index }) : ", to the border, where no bank is";
  }
  return where + "\nfrom " + originText(way) + "\ncycle " + cycle + ": " +
    (carries.map(({ value, sent }) => value + " (" + sent + ")").join("\n") || "nothing");
}

// The way at a place of the canvas.
function wireAt(x, y) {
  const s = view.scale, atX = view.x + x / s, atY = view.y + y / s, r = Math.floor(atY), c = Math.floor(atX);
  if (s < 16) return null;
  const inset = low + insetOf(s) / s, isIn = (at, from) => at - from > inset && at - from < 1 - inset;
  if (insetOf(s) ? isIn(atX, c) && isIn(atY, r) : atX - c > low && atX - c < high && atY - r > low && atY - r < high) return null;
  let nearest = 5 / s, found = null;
  const look = (way, fromX, fromY, toX, toY) => {
    const dx = toX - fromX, dy = toY - fromY, pointX = atX - c, pointY = atY - r;
    const along = Math.min(1, Math.max(0, ((pointX - fromX) * dx + (pointY - fromY) * dy) / (dx * dx + dy * dy || 1)));
    const far = Math.hypot(fromX + along * dx - pointX, fromY + along * dy - pointY);
    if (far < nearest) (nearest = far), (found = way);
  };
  for (const [down, right] of [[0, 0], ...step])
    for (const way of (isInside(r + down, c + right) && ways.get((r + down) * columns + c + right)) || []) {
      for (const each of way.outer) look(way, right + each.x, down + each.y, right + each.toX, down + each.toY);
      if (!insetOf(s)) continue;
      const [bendX, bendY] = bendOf(way), { from: [fromX, fromY], to: [toX, toY] } = way;
      let [beforeX, beforeY] = way.from;
      for (let t = 0.1; t < 1.05; t += 0.1) {
        const x = (1 - t) * (1 - t) * fromX + 2 * t * (1 - t) * bendX + t * t * toX, y = (1 - t) * (1 - t) * fromY + 2 * t * (1 - t) * bendY + t * t * toY;
        look(way, right + beforeX, down + beforeY, right + x, down + y);
        [beforeX, beforeY] = [x, y];
      }
    }
  return found;
}

function watch(way) {
  watched = watched === way ? null : way;
  drawSoon();
}

function drawWatched() {
  find("#wire").textContent = watched ? wireText(watched) : "";
  if (!watched) return;
  paint.beginPath();
  addWay(paint, watched, (watched.c - view.x) * view.scale, (watched.r - view.y) * view.scale, view.scale, false, true);
  paint.strokeStyle = colours.ink;
  paint.lineWidth = 4;
  paint.globalAlpha = 0.4;
  paint.stroke();
  paint.globalAlpha = paint.lineWidth = 1;
}

// What passes a bank in this cycle.
function bankText(bank) {
  const { side, position, index, isOutput } = bank;
  if (!passes(bank, cycle)) return "";
  const r = side === 0 ? 0 : side === 2 ? rows - 1 : position, c = side === 3 ? 0 : side === 1 ? columns - 1 : position;
  const way = (ways.get(r * columns + c) || []).find((each) => String(isOutput ? each.sink : each.source) === String([side, index]));
  const words = way ? wordsOn(way).filter((word) => !word.late) : [], found = words.length ? carried(way.origin, words[0]) : null;
  return found ? ", " + valueText(found.value, found.type) + " passes" : ", a word passes";
}

// ---- The ports of the chosen element ----

const ports = find("#ports");
let portsOf = -1, portRows = [];

function showPorts() {
  const place = chosen.r * columns + chosen.c, kindOf = (way) => (way.sink[0] === elementSide ? 0 : way.source[0] === elementSide ? 1 : 2);
  if (place !== portsOf) {
    portsOf = place;
    const list = (ways.get(place) || []).map((way) => ({ way, is: kindOf(way) })).sort((a, b) => a.is - b.is || a.way.sink[1] - b.way.sink[1]);
    const table = document.createElement("table"), row = (cells, tag) => {
      const line = document.createElement("tr");
      line.append(...cells.map((cell) => make(tag, cell)));
      table.append(line);
      return line.children;
    };
    row(["", "connection", "value", "sent by", "from"], "th");
    portRows = list.map(({ way, is }) => ({ way, cells: row([["arrives", "leaves", "passes by"][is], connectionText(way), "", "", originText(way)], "td") }));
    ports.replaceChildren(list.length ? table : make("p", "Nothing is connected in its wrapper."));
  }
  for (const { way, cells } of portRows) {
    const carries = carriesText(way), value = carries.map((each) => each.value).join("; "), sent = carries.map((each) => each.sent).join("; ");
    if (cells[2].textContent !== value) cells[2].textContent = value;
    if (cells[3].textContent !== sent) cells[3].textContent = sent;
  }
}

