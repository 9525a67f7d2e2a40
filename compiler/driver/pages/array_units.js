// Goes on where array_wires.js ends: the schedule of the chosen element's units over the cycles, their programs, and what
// moves all of it: the cycle, the wheel, the keys.
const ganttBox = find("#gantt"), gantt = ganttBox.querySelector("canvas"), pen = gantt.getContext("2d");
const labels = 92, axis = 24, strip = 12, rowHigh = 30, headHigh = axis + strip + 6;
let from = 0, shown = cycles; // what is seen: cycles [from, from + shown)
let unitRows = [];            // the units that have programs

const plotWide = () => Math.max(1, gantt.clientWidth - labels);
const toX = (time) => labels + ((time - from) / shown) * plotWide();
const toTime = (x) => from + ((x - labels) / plotWide()) * shown;

function show(begin, much) {
  shown = Math.min(Math.max(much, Math.min(4, cycles)), cycles);
  from = Math.min(Math.max(begin, 0), cycles - shown);
  drawSoon();
}

function zoom(factor, x) {
  const centre = toTime(x), much = Math.min(Math.max(shown * factor, Math.min(4, cycles)), cycles);
  show(centre - ((x - labels) / plotWide()) * much, much);
}

// How much of an iteration a unit spends on operations of each kind.
function sharesOf(of, unit, number) {
  const each = of.units[unit];
  each.shares ||= [];
  if (!each.shares[number]) {
    const shares = new Float32Array(kinds.length);
    for (let slot = 0; slot < interval; ++slot) {
      const instruction = instructionAt(of, unit, positionIn(each.slots[number], slot));
      if (instruction) shares[instruction[kind]] += 1 / interval;
    }
    each.shares[number] = shares;
  }
  return each.shares[number];
}

function drawCells(of, unit, y) {
  const wide = plotWide() / shown, high = rowHigh - 6, { r, c } = chosen;
  pen.textAlign = "center";
  for (let time = Math.max(0, Math.floor(from)); time < from + shown; ++time) {
    const instruction = instructionAt(of, unit, positionAt(r, c, unit, time));
    if (!instruction) continue;
    const x = toX(time), colour = colours[kindColours[instruction[kind]]], gap = wide >= 5 ? 1 : 0;
    pen.fillStyle = colour;
    if (!instruction[kind]) {
      pen.globalAlpha = 0.8;
      pen.fillRect(x + gap, y + high / 2 - 1, wide - gap, 2);
      pen.globalAlpha = 1;
      continue;
    }
    pen.globalAlpha = 0.5;
    pen.fillRect(x + gap, y, Math.max(0.5, wide - gap), high);
    pen.globalAlpha = 1;
    if (wide < 9) continue;
    pen.strokeStyle = colour;
    pen.strokeRect(x + gap + 0.5, y + 0.5, wide - gap - 1, high - 1);
    if (instruction[latency] > 1) pen.fillRect(x + gap, y + high + 1, Math.min(instruction[latency] * wide - 2, plotWide()), 2);
    if (wide < 24) continue;
    pen.save();
    pen.beginPath();
    pen.rect(x, y, wide, high);
    pen.clip();
    const whole = instruction[text].split(";")[0];
    label(wide > 7 * whole.length + 8 ? whole : instruction[mnemonic], x + wide / 2, y + high / 2, "11px ui-monospace, monospace", pen);
    pen.restore();
  }
  pen.textAlign = "left";
}

// Where a column of pixels holds several cycles: what of its time goes to which kind, from some of its iterations.
function drawColumns(of, unit, y) {
  const start = startOf(chosen.r, chosen.c), high = rowHigh - 6, step = shown / plotWide(), most = 10;
  for (let column = 0; column < plotWide(); ++column) {
    const begin = (from + column * step - start) / interval, end = begin + step / interval;
    const first = Math.max(0, Math.floor(begin)), last = Math.min(data.iterations, Math.max(Math.ceil(end), first + 1));
    if (end <= 0 || first >= last) continue;
    const count = Math.min(last - first, most), sums = new Float32Array(kinds.length);
    for (let i = 0; i < count; ++i) {
      const n = first + Math.floor(((i + 0.5) * (last - first)) / count);
      sharesOf(of, unit, lookUp(of.units[unit].root, n)).forEach((share, which) => (sums[which] += share / count));
    }
    let floor = y + high;
    sums.forEach((share, which) => {
      if (!which || share <= 0) return;
      pen.fillStyle = colours[kindColours[which]];
      pen.globalAlpha = 0.6;
      pen.fillRect(labels + column, floor - share * high, 1, share * high);
      floor -= share * high;
    });
  }
  pen.globalAlpha = 1;
}

function drawPhases() {
  const step = shown / plotWide(), wide = Math.max(1, plotWide() / shown), { r, c } = chosen;
  const times = step >= 1 ? Math.ceil(plotWide()) : Math.ceil(shown) + 1;
  let before = -1, begin = 0;
  const close = (x) => {
    if (before < 0) return;
    pen.globalAlpha = before === 0 || before === 5 ? 0.6 : 0.85;
    pen.fillStyle = colours[phaseColours[before]];
    pen.fillRect(begin, axis, x - begin, strip);
    pen.globalAlpha = 1;
    if (x - begin > 7 * phases[before].length + 6) label(phases[before], begin + 4, axis + strip / 2 + 0.5, "10px system-ui, sans-serif", pen);
  };
  for (let i = 0; i < times; ++i) {
    const time = step >= 1 ? Math.floor(from + i * step) : Math.floor(from) + i;
    if (time >= cycles || time >= from + shown) break;
    const { phase } = stateOf(r, c, time), x = step >= 1 ? labels + i : Math.max(labels, toX(time));
    if (phase !== before) close(x), (before = phase), (begin = x);
  }
  close(labels + plotWide());
}

function drawAxis(high) {
  const about = shown / Math.max(2, plotWide() / 90), power = 10 ** Math.floor(Math.log10(Math.max(1, about)));
  const ticks = [1, 2, 5, 10].map((factor) => factor * power).find((each) => each >= about) || 1;
  const wide = plotWide() / shown, start = startOf(chosen.r, chosen.c);
  if (wide * interval >= 6) {
    pen.strokeStyle = colours.rule;
    pen.beginPath();
    for (let n = Math.max(0, Math.floor((from - start) / interval)); n <= data.iterations && start + n * interval <= from + shown; ++n) {
      const x = Math.round(toX(start + n * interval)) + 0.5;
      if (x >= labels) pen.moveTo(x, axis), pen.lineTo(x, high);
    }
    pen.stroke();
  }
  pen.fillStyle = colours.quiet;
  pen.font = "12px system-ui, sans-serif";
  for (let time = Math.ceil(from / ticks) * ticks; time < from + shown; time += ticks) {
    const x = toX(time);
    pen.fillRect(Math.round(x), axis - 5, 1, 5);
    if (x < labels + plotWide() - 40) pen.fillText(String(time), x + 4, axis / 2);
  }
}

function drawGantt() {
  const of = classOf(chosen.r, chosen.c);
  unitRows = of ? of.units.map((_, unit) => unit).filter((unit) => of.units[unit].program.length) : [];
  const high = headHigh + Math.max(1, unitRows.length) * rowHigh + 4;
  gantt.style.height = high + "px";
  prepare(gantt, pen);
  pen.save();
  pen.beginPath();
  pen.rect(labels, 0, plotWide(), high);
  pen.clip();
  const wide = plotWide() / shown;
  pen.fillStyle = colours.card;
  unitRows.forEach((_, row) => pen.fillRect(labels, headHigh + row * rowHigh, plotWide(), rowHigh - 6));
  drawAxis(high);
  if (of) drawPhases();
  unitRows.forEach((unit, row) => (wide >= 2 ? drawCells : drawColumns)(of, unit, headHigh + row * rowHigh));
  pen.fillStyle = pen.strokeStyle = colours["wait-line"];
  pen.globalAlpha = 0.16;
  pen.fillRect(toX(cycle), axis, Math.max(1, wide), high);
  pen.globalAlpha = 1;
  pen.strokeRect(toX(cycle) + 0.5, axis + 0.5, Math.max(1, wide) - 1, high);
  pen.restore();
  pen.font = "bold 12px system-ui, sans-serif";
  pen.fillStyle = colours.ink;
  unitRows.forEach((unit, row) => pen.fillText(units[unit] ?? "unit " + unit, 12, headHigh + row * rowHigh + rowHigh / 2 - 3, labels - 18));
  if (!unitRows.length) pen.fillText("no programs", 12, headHigh + rowHigh / 2);
}

// ---- Programs ----

const programs = find("#programs"), signals = find("#signals"), unitsAbout = find("#unitsAbout");
const mostLines = 1200; // of a longer program, those around what is executed
let listed = null, lines = new Map();

function make(tag, content, className) {
  const node = document.createElement(tag);
  node.textContent = content;
  if (className) node.className = className;
  return node;
}

function listPrograms(of) {
  programs.replaceChildren();
  lines = new Map();
  for (const unit of unitRows) {
    const block = document.createElement("div"), code = document.createElement("pre");
    block.append(make("h3", units[unit] ?? "unit " + unit), code);
    programs.append(block);
    lines.set(unit, { code, first: -1, now: null });
  }
  listed = of;
}

function fillLines(of, unit, position) {
  const list = lines.get(unit), program = of.units[unit].program;
  const first = program.length <= mostLines ? 0 : Math.max(0, Math.min(program.length - mostLines, position - mostLines / 2));
  if (list.first >= 0 && (first === list.first || (position >= list.first && position < list.first + mostLines))) return;
  list.first = Math.floor(first / interval) * interval;
  const digits = String(program.length).length, nodes = [];
  for (let at = list.first; at < Math.min(program.length, list.first + mostLines + interval); ++at)
    nodes.push(make("i", String(at).padStart(digits) + "  " + data.instructions[program[at]][text], at % interval === 0 && at ? "block" : ""));
  list.code.replaceChildren(...nodes);
}

function showPrograms() {
  const { r, c } = chosen, of = classOf(r, c), state = stateOf(r, c, cycle);
  if (of !== listed) listPrograms(of);
  unitsAbout.replaceChildren(make("p", "Element (" + r + ", " + c + ")" + (of ? ", class " + classes[r * columns + c] : "") + ", cycle " + cycle + ": " +
    phases[state.phase] + (state.n >= 0 ? ", iteration " + state.n + " (" + coordinates(state.n) + "), cycle " + state.slot + " of it" : "") + "."));
  const all = new Set(), now = new Set();
  for (const unit of unitRows) {
    const position = positionAt(r, c, unit, cycle), list = lines.get(unit), program = of.units[unit].program;
    fillLines(of, unit, Math.max(0, position));
    list.now?.classList.remove("now");
    list.now = position >= 0 ? list.code.children[position - list.first] : null;
    list.now?.classList.add("now");
    if (list.now) {
      const above = list.now.offsetTop - list.code.offsetTop, room = list.code.clientHeight;
      if (above < list.code.scrollTop || above + 24 > list.code.scrollTop + room) list.code.scrollTop = above - room / 2;
    }
    of.signals ||= [...new Set(of.units.flatMap((each) => [...new Set(each.program)].flatMap((number) => data.instructions[number][tested])))].sort((a, b) => a - b);
    of.signals.forEach((signal) => all.add(signal));
    for (let slot = 0; slot < interval && state.n >= 0; ++slot) {
      const at = positionIn(of.units[unit].slots[lookUp(of.units[unit].root, state.n)], slot);
      if (at >= 0) data.instructions[program[at]][tested].forEach((signal) => now.add(signal));
    }
  }
  const chips = [];
  if (!all.size) chips.push("The programs test no signals.");
  else if (state.n < 0) chips.push("No iteration is under way.");
  else
    for (const signal of all) {
      const boxes = data.boxes[data.signals[signal]] || [];
      const chip = make("span", "c" + signal + " = " + (inBoxes(boxes, pointOf(state.n)) ? 1 : 0), now.has(signal) ? "signal tested" : "signal");
      chip.title = now.has(signal) ? "tested in this iteration" : "not tested in this iteration";
      chips.push(chip, " ");
    }
  signals.replaceChildren(...chips);
}

// ---- What moves it ----

const cycleInput = find("#cycle"), slide = find("#slide"), play = find("#play");
cycleInput.max = slide.max = cycles - 1;

function go(time) {
  cycle = Math.min(Math.max(Math.round(time) || 0, 0), cycles - 1);
  if (document.activeElement !== cycleInput) cycleInput.value = cycle;
  slide.value = cycle;
  if (cycle < from || cycle >= from + shown) show(cycle - shown / 4, shown);
  drawSoon();
}

function choose(r, c) {
  chosen = { r, c };
  drawSoon();
}

let isDue = false;
function drawSoon() {
  if (isDue) return;
  isDue = true;
  requestAnimationFrame(draw);
}
function draw() {
  isDue = false;
  drawArray();
  drawGantt();
  showPorts();
  showPrograms();
}

let playing = 0, lastTime = 0, exact = 0;
function frame(time) {
  if (!playing) return;
  exact += (Math.min(time - lastTime, 200) / 1000) * Number(find("#speed").value);
  lastTime = time;
  if (Math.floor(exact) !== cycle) go(Math.floor(exact));
  if (cycle >= cycles - 1) stop();
  else playing = requestAnimationFrame(frame);
}
function stop() {
  cancelAnimationFrame(playing);
  playing = 0;
  play.textContent = "play";
}
function toggle() {
  if (playing) return stop();
  if (cycle >= cycles - 1) go(0);
  exact = cycle;
  lastTime = performance.now();
  play.textContent = "pause";
  playing = requestAnimationFrame(frame);
}

function showKeys() {
  const keys = [];
  const key = (colour, what) => {
    const box = make("span", "", "key");
    box.style.borderColor = colour;
    box.style.background = "color-mix(in srgb, " + colour + " 60%, var(--paper))";
    keys.push(box, what);
  };
  if (byClass) data.classes.forEach((_, number) => number < 24 && key(classColour(number), "class " + number));
  else phases.forEach((what, phase) => key(colours[phaseColours[phase]], what));
  keys.push(make("span", "the fuller a colour, the more units are busy", "aside"));
  key(colours["wait-line"], "a value on its way");
  key(colours["data-line"], "input bank");
  key(colours["external-line"], "output bank");
  find("#keys").replaceChildren(...keys);
  find("#ganttKeys")?.remove();
  const list = make("p", "");
  list.id = "ganttKeys";
  keys.length = 0;
  kinds.forEach((what, number) => number && key(colours[kindColours[number]], what));
  list.append(...keys);
  ganttBox.before(list);
}

function readColours() {
  const style = getComputedStyle(document.documentElement);
  for (const name of ["paper", "ink", "quiet", "line", "card", "rule", "leaf-line", "inner-line", "external-line", "control-line", "data-line", "wait-line"])
    colours[name] = style.getPropertyValue("--" + name).trim();
  colours.dark = matchMedia("(prefers-color-scheme: dark)").matches;
  showKeys();
}

function tipAt(box, content, x, y) {
  const tip = box.querySelector(".tip");
  tip.style.display = content ? "block" : "none";
  if (!content) return;
  tip.textContent = content;
  tip.style.left = Math.max(0, Math.min(x + 14, box.clientWidth - tip.offsetWidth - 4)) + "px";
  const isLow = box.getBoundingClientRect().top + y + 18 + tip.offsetHeight > innerHeight;
  tip.style.top = (isLow ? y - tip.offsetHeight - 8 : y + 18) + "px";
}

function arrayTip(x, y) {
  const column = view.x + x / view.scale, row = view.y + y / view.scale, r = Math.floor(row), c = Math.floor(column), way = wireAt(x, y);
  if (way) return wireText(way);
  if (isInside(r, c)) {
    const state = stateOf(r, c, cycle), of = classOf(r, c);
    let content = "element (" + r + ", " + c + "), class " + classes[r * columns + c] + ", " + phases[state.phase];
    if (state.n >= 0) content += "\niteration " + state.n + ": " + coordinates(state.n);
    else if (state.phase === 0) content += " until cycle " + startOf(r, c);
    if (hasFailed(r, c)) content += "\nthe run failed here in cycle " + data.failed[0];
    of?.units.slice(0, 16).forEach((_, unit) => {
      const instruction = instructionAt(of, unit, positionAt(r, c, unit, cycle));
      if (instruction) content += "\n" + units[unit] + "  " + instruction[text];
    });
    return content;
  }
  for (const list of banks.values()) {
    const [left, top, wide, high] = bankBox(list[0]);
    if (column < left || row < top || column > left + wide || row > top + high) continue;
    return list.slice(0, 6).map((bank) => (bank.isOutput ? "output " : "input ") + bank.name + bankText(bank)).join("\n") +
      "\n" + sides[list[0].side] + " border, " + (list[0].side % 2 ? "row " : "column ") + list[0].position + ", bank " + list[0].index;
  }
  return "";
}

function ganttTip(x, y) {
  const unit = unitRows[Math.floor((y - headHigh) / rowHigh)], time = Math.floor(toTime(x)), { r, c } = chosen, of = classOf(r, c);
  if (x < labels || y < headHigh || unit === undefined) return "";
  const position = positionAt(r, c, unit, time), instruction = instructionAt(of, unit, position), state = stateOf(r, c, time);
  if (!instruction) return "";
  const values = valuesText(r, c, unit, instruction, time);
  return instruction[text] + "\n" + units[unit] + ", cycle " + time + ", position " + position + "\n" + phases[state.phase] + ", iteration " + state.n + ": " + coordinates(state.n) +
    (values ? "\n" + values : "");
}

// Moves and zooms a canvas with pointer and wheel; a click is what did not move.
function handle(box, canvas, tip, click, drag, wheel) {
  let held = null;
  canvas.addEventListener("pointerdown", (event) => {
    held = { x: event.offsetX, y: event.offsetY, moved: false, state: { x: view.x, y: view.y, from } };
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    const frame = canvas.getBoundingClientRect(), x = event.clientX - frame.left, y = event.clientY - frame.top;
    if (held) {
      held.moved ||= Math.hypot(x - held.x, y - held.y) > 4;
      if (held.moved) drag(held.state, x - held.x, y - held.y);
    }
    tipAt(box, held?.moved ? "" : tip(x, y), x, y);
  });
  canvas.addEventListener("pointerup", (event) => {
    if (held && !held.moved) click(event.offsetX, event.offsetY);
    held = null;
  });
  canvas.addEventListener("pointerleave", () => tipAt(box, ""));
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    wheel(event);
    tipAt(box, "");
  }, { passive: false });
}

handle(arrayBox, arrayCanvas, arrayTip, (x, y) => {
  const r = Math.floor(view.y + y / view.scale), c = Math.floor(view.x + x / view.scale), way = wireAt(x, y);
  if (way) watch(way);
  else if (isInside(r, c)) choose(r, c);
}, (state, dx, dy) => {
  view.x = state.x - dx / view.scale;
  view.y = state.y - dy / view.scale;
  drawSoon();
}, (event) => {
  const scale = Math.min(1200, Math.max(2, view.scale * Math.exp(-event.deltaY * 0.002)));
  view.x += event.offsetX / view.scale - event.offsetX / scale;
  view.y += event.offsetY / view.scale - event.offsetY / scale;
  view.scale = scale;
  drawSoon();
});
handle(ganttBox, gantt, ganttTip, (x) => x >= labels && go(Math.floor(toTime(x))), (state, dx) => show(state.from - (dx / plotWide()) * shown, shown), (event) => {
  if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) show(from + ((event.deltaX || event.deltaY) / plotWide()) * shown, shown);
  else zoom(Math.exp(event.deltaY * 0.002), Math.max(event.offsetX, labels));
});
gantt.addEventListener("dblclick", () => show(0, cycles));
arrayCanvas.addEventListener("dblclick", () => (showAll(), drawSoon()));
find("#all").addEventListener("click", () => (showAll(), drawSoon()));
find("#back").addEventListener("click", () => go(cycle - 1));
find("#forth").addEventListener("click", () => go(cycle + 1));
play.addEventListener("click", toggle);
slide.addEventListener("input", () => go(Number(slide.value)));
cycleInput.addEventListener("input", () => go(Number(cycleInput.value)));
cycleInput.addEventListener("change", () => (cycleInput.value = cycle));
find("#colour").addEventListener("change", (event) => ((byClass = event.target.value === "class"), showKeys(), drawSoon()));
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input:not([type=range]), select")) return;
  if (event.key === " " && event.target.matches("button")) return;
  const far = event.shiftKey ? interval : 1, actions = {
    ArrowLeft: () => go(cycle - far), ArrowRight: () => go(cycle + far), " ": toggle,
    "+": () => zoom(0.7, toX(cycle)), "-": () => zoom(1 / 0.7, toX(cycle)),
  };
  if (event.target.matches("canvas")) {
    actions.Home = () => go(0);
    actions.End = () => go(cycles - 1);
    for (const [key, side] of [["w", 0], ["d", 1], ["s", 2], ["a", 3]])
      actions[key] = () => isInside(chosen.r + step[side][0], chosen.c + step[side][1]) && choose(chosen.r + step[side][0], chosen.c + step[side][1]);
  }
  if (!actions[event.key]) return;
  event.preventDefault();
  actions[event.key]();
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => (readColours(), drawSoon()));
new ResizeObserver(drawSoon).observe(ganttBox);
new ResizeObserver(drawSoon).observe(arrayBox);

readColours();
// "#row,column,cycle,pixels" behind the page's address opens it there, with the element in the middle and so large.
const place = location.hash.slice(1).split(",").map(Number);
if (place.length >= 2 && isInside(place[0], place[1])) chosen = { r: place[0], c: place[1] };
else if (data.failed && isInside(data.failed[1], data.failed[2])) chosen = { r: data.failed[1], c: data.failed[2] };
show(data.opens ? data.opens[0] : startOf(chosen.r, chosen.c) - 2, data.opens ? Math.min(data.opens[1] - data.opens[0] + 1, 200) : Math.max(40, 8 * interval));
go(place.length >= 3 ? place[2] : data.failed ? failedAt : data.opens ? data.opens[0] : startOf(chosen.r, chosen.c) + Math.max(0, classOf(chosen.r, chosen.c)?.first ?? 0) * interval);
if (place[3] > 0) {
  showAll();
  view.scale = Math.min(1200, Math.max(2, place[3]));
  view.x = chosen.c + 0.5 - arrayCanvas.clientWidth / view.scale / 2;
  view.y = chosen.r + 0.5 - arrayCanvas.clientHeight / view.scale / 2;
}
draw();
document.body.dataset.drawn = rows * columns;
