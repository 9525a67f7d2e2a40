// What a page's drawings can do: zoom (buttons, Ctrl and the wheel), be dragged, find words. A set of drawings (.sheets) shows one at
// a time: shapes with data-sheet open another one, and words are found in all of them.
"use strict";
for (const set of document.querySelectorAll(".picture")) {
  const sheets = set.parentElement.classList.contains("sheets") ? set.parentElement : null;
  const bar = document.createElement("div");
  bar.className = "viewer";
  bar.innerHTML = '<button title="closer">+</button><button title="wider">−</button><button title="fit the window">fit</button>' +
    '<input type="search" placeholder="find" aria-label="find in the drawing"/><span class="matches"></span><span class="trail"></span><span class="elsewhere"></span>';
  set.before(bar);
  const [closer, wider, fit] = bar.querySelectorAll("button");
  const find = bar.querySelector("input"), matches = bar.querySelector(".matches"), trail = bar.querySelector(".trail"), elsewhere = bar.querySelector(".elsewhere");
  let scale = 0, found = [], at = -1, opened = [];

  const drawing = () => set.querySelector("svg");
  const natural = () => Number(drawing().getAttribute("width"));

  // Where a drawing is larger than the window, the shape that it begins with is seen first.
  function begin() {
    set.scrollLeft = set.scrollTop = 0;
    const start = drawing().querySelector("[data-start]");
    if (!start) return;
    const place = start.getBoundingClientRect(), window = set.getBoundingClientRect();
    if (place.right > window.right) set.scrollLeft = place.left + place.width / 2 - window.left - window.width / 2;
    if (place.bottom > window.bottom) set.scrollTop = place.top - window.top - window.height / 3;
  }

  // The point of the drawing at (x, y) of the window stays where it is.
  function zoom(next, x = set.clientWidth / 2, y = set.clientHeight / 2) {
    const before = drawing().getBoundingClientRect().width / natural();
    scale = Math.min(8, Math.max(0.02, next));
    Object.assign(drawing().style, { width: natural() * scale + "px", maxWidth: "none", minWidth: "0" });
    set.scrollLeft = ((set.scrollLeft + x) * scale) / before - x;
    set.scrollTop = ((set.scrollTop + y) * scale) / before - y;
  }
  const now = () => scale || drawing().getBoundingClientRect().width / natural();

  function mark(index) {
    if (found[at]) found[at].classList.remove("here");
    at = found.length ? (index + found.length) % found.length : -1;
    matches.textContent = find.value ? (found.length ? at + 1 + " of " + found.length : "nothing here") : "";
    if (at < 0) return;
    found[at].classList.add("here");
    if (now() < 0.75) zoom(1);
    const place = found[at].getBoundingClientRect(), window = set.getBoundingClientRect();
    set.scrollLeft += place.left + place.width / 2 - window.left - window.width / 2;
    set.scrollTop += place.top + place.height / 2 - window.top - window.height / 2;
  }

  function search() {
    for (const each of found) each.classList.remove("found", "here");
    const words = find.value.toLowerCase();
    found = words ? [...drawing().querySelectorAll("text")].filter((each) => each.textContent.toLowerCase().includes(words)) : [];
    for (const each of found) each.classList.add("found");
    // A name that is just these words comes before texts that hold them.
    mark(Math.max(0, found.findIndex((each) => each.lastChild.textContent.toLowerCase() === words)));
    elsewhere.replaceChildren();
    if (!sheets || !words) return;
    let count = 0;
    for (const sheet of sheets.querySelectorAll("script")) {
      if (sheet.dataset.sheet === opened.at(-1)) continue;
      for (const name of (sheet.dataset.names || "").split("\n")) {
        if (!name.toLowerCase().includes(words) || ++count > 12) continue;
        const link = document.createElement("button");
        link.textContent = name;
        link.addEventListener("click", () => {
          open(sheet.dataset.sheet);
          find.value = name;
          search();
        });
        elsewhere.append(link);
      }
    }
    if (count > 12) elsewhere.append("and " + (count - 12) + " more");
  }

  function open(name) {
    const sheet = [...sheets.querySelectorAll("script")].find((each) => each.dataset.sheet === name);
    if (!sheet) return;
    opened = opened.includes(name) ? opened.slice(0, opened.indexOf(name) + 1) : sheet.dataset.top ? [name] : [...opened, name];
    set.innerHTML = sheet.textContent;
    set.style.setProperty("--least", sheets.dataset.least * natural() + "px");
    scale = 0;
    begin();
    trail.replaceChildren();
    for (const top of sheets.querySelectorAll("script[data-top]"))
      if (top.dataset.sheet !== opened[0]) trail.append(button(top));
    for (const each of opened) trail.append(button([...sheets.querySelectorAll("script")].find((one) => one.dataset.sheet === each)), " ");
    document.body.dataset.sheet = name;
    find.value = "";
    search();
  }

  function button(sheet) {
    const made = document.createElement("button");
    made.textContent = sheet.dataset.title;
    if (sheet.dataset.sheet === opened.at(-1)) made.className = "open";
    made.addEventListener("click", () => open(sheet.dataset.sheet));
    return made;
  }

  closer.addEventListener("click", () => zoom(now() * 1.4));
  wider.addEventListener("click", () => zoom(now() / 1.4));
  fit.addEventListener("click", () => zoom(Math.min((set.clientWidth - 18) / natural(), (innerHeight * 0.8) / Number(drawing().getAttribute("height")))));
  find.addEventListener("input", search);
  find.addEventListener("keydown", (event) => {
    if (event.key === "Enter") mark(at + (event.shiftKey ? -1 : 1));
  });
  set.addEventListener("wheel", (event) => {
    if (!event.ctrlKey) return;
    event.preventDefault();
    const frame = set.getBoundingClientRect();
    zoom(now() * Math.exp(-event.deltaY * 0.002), event.clientX - frame.left, event.clientY - frame.top);
  }, { passive: false });
  let held = null;
  set.addEventListener("pointerdown", (event) => (held = { x: event.clientX, y: event.clientY, left: set.scrollLeft, top: set.scrollTop, moved: false }));
  set.addEventListener("pointermove", (event) => {
    if (!held || !event.buttons) return;
    held.moved ||= Math.abs(event.clientX - held.x) + Math.abs(event.clientY - held.y) > 4;
    if (!held.moved) return;
    set.scrollLeft = held.left - (event.clientX - held.x);
    set.scrollTop = held.top - (event.clientY - held.y);
  });
  set.addEventListener("click", (event) => {
    if (held && held.moved) return;
    const shape = document.elementsFromPoint(event.clientX, event.clientY).find((each) => each.dataset.sheet && set.contains(each));
    if (shape && sheets) open(shape.dataset.sheet);
  });
  if (sheets) open(sheets.querySelector("script").dataset.sheet);
  else begin();
}
