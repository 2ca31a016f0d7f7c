// A cell: its picture, to zoom into, beside its formulas.

import { ask } from "./feed.js";
import { facts, fill, h, name, s } from "./dom.js";

const ELEMENTS = new Set(["svg", "g", "path", "text", "rect", "title"]);
const ATTRIBUTES = new Set(["width", "height", "viewBox", "font-family", "font-size", "fill", "stroke",
  "stroke-width", "stroke-dasharray", "d", "x", "y", "text-anchor", "textLength", "lengthAdjust"]);

// The picture built anew from the elements and attributes that our drawing has, and no others.
function rebuilt(from) {
  if (!ELEMENTS.has(from.localName)) return null;
  const made = s(from.localName);
  for (const each of from.attributes) {
    if (ATTRIBUTES.has(each.name)) made.setAttribute(each.name, each.value);
  }
  for (const child of from.childNodes) {
    if (child.nodeType === Node.TEXT_NODE) made.append(child.textContent);
    else if (child.nodeType === Node.ELEMENT_NODE) {
      const inner = rebuilt(child);
      if (inner) made.append(inner);
    }
  }
  return made;
}

function parsed(text) {
  const found = new DOMParser().parseFromString(text, "image/svg+xml").documentElement;
  return found.localName === "svg" ? rebuilt(found) : null;
}

export function cellView({ large = false } = {}) {
  const paper = h("div", { class: "paper" });
  const formulas = h("div", { class: "formulas", tabindex: "0", "aria-label": "formulas" });
  const about = h("div", {});
  const words = h("span", { class: "quiet" });
  const bar = h("div", { class: "corner" }, h("h2", {}, "cell "), h("span", { class: "line" }, words,
    h("button", { onclick: () => zoom(1.25), "aria-label": "zoom in" }, "+"),
    h("button", { onclick: () => zoom(0.8), "aria-label": "zoom out" }, "−"),
    h("button", { onclick: () => show(size) }, "fit"),
    large ? null : h("button", { onclick: () => enlarged(last) }, "large")));
  const el = h("div", { class: "cell" }, bar, h("div", { class: "cell-view" }, paper, formulas), about);
  let picture = null, box = null, shownId = null, last = null;
  let size = [0, 0, 1, 1];

  function show(next) {
    box = next;
    picture?.setAttribute("viewBox", box.map((each) => each.toFixed(2)).join(" "));
  }

  function zoom(by, fx = 0.5, fy = 0.5) {
    if (!picture) return;
    const [x, y, width, height] = box;
    const factor = Math.min(Math.max(by, size[2] / width / 40), (size[2] * 3) / width);
    show([x + width * fx * (1 - 1 / factor), y + height * fy * (1 - 1 / factor),
      width / factor, height / factor]);
  }

  function pan(dx, dy) {
    if (picture) show([box[0] + dx, box[1] + dy, box[2], box[3]]);
  }

  // From a place on the screen to one in the picture: it is scaled to fit, in the middle.
  function inPicture(event) {
    const frame = picture.getBoundingClientRect();
    const unit = Math.min(frame.width / box[2], frame.height / box[3]);
    const left = (frame.width - box[2] * unit) / 2, top = (frame.height - box[3] * unit) / 2;
    return { fx: (event.clientX - frame.left - left) / unit / box[2],
      fy: (event.clientY - frame.top - top) / unit / box[3], unit };
  }

  function prepare() {
    picture.removeAttribute("width");
    picture.removeAttribute("height");
    let held = null;
    picture.addEventListener("wheel", (event) => {
      if (!large && !event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      const { fx, fy } = inPicture(event);
      zoom(event.deltaY < 0 ? 1.18 : 1 / 1.18, fx, fy);
    }, { passive: false });
    picture.addEventListener("pointerdown", (event) => {
      held = [event.clientX, event.clientY];
      picture.classList.add("held");
      picture.setPointerCapture(event.pointerId);
    });
    picture.addEventListener("pointermove", (event) => {
      if (!held) return;
      const { unit } = inPicture(event);
      pan((held[0] - event.clientX) / unit, (held[1] - event.clientY) / unit);
      held = [event.clientX, event.clientY];
    });
    const release = () => { held = null; picture.classList.remove("held"); };
    picture.addEventListener("pointerup", release);
    picture.addEventListener("pointercancel", release);
    if (!large) picture.addEventListener("dblclick", () => enlarged(last));
    for (const group of picture.querySelectorAll("g")) {
      const title = [...group.children].find((each) => each.localName === "title");
      const names = (title?.textContent ?? "").split("\n").map((each) => each.split(" = ")[0].trim());
      if (!title) continue;
      group.dataset.names = JSON.stringify(names);
      group.addEventListener("pointerenter", () => light(names));
      group.addEventListener("pointerleave", () => light([]));
    }
  }

  function light(names) {
    const wanted = new Set(names);
    for (const group of picture?.querySelectorAll("g[data-names]") ?? []) {
      const own = JSON.parse(group.dataset.names);
      group.classList.toggle("lit", own.some((each) => wanted.has(each)));
    }
    for (const line of formulas.querySelectorAll("div")) line.classList.toggle("lit", wanted.has(line.dataset.name));
  }

  function set(document) {
    last = document;
    if (shownId === document.id && picture) return;
    shownId = document.id;
    fill(words, document.name ? [name(document.name, 40), " · "] : null, document.id);
    picture = document.picture ? parsed(document.picture) : null;
    if (picture) {
      size = [0, 0, Number(picture.getAttribute("width")) || 1, Number(picture.getAttribute("height")) || 1];
      prepare();
      fill(paper, picture);
      show(size);
    } else fill(paper, h("p", { class: "quiet" }, "too large to draw"));
    fill(formulas, document.formulas.map(([key, text]) => h("div", { "data-name": key,
      onpointerenter: () => light([key]), onpointerleave: () => light([]) },
    h("b", {}, h("bdi", {}, key.slice(0, 200))), h("span", {}, `= ${text.slice(0, 4000)}`))),
    document.explained.map((line) => h("p", {}, line)));
    fill(about, large ? null : h("details", {}, h("summary", {}, "figures and JSON"),
      facts(document.facts), h("pre", { class: "mono scroll" }, document.json.slice(0, 200000))));
  }

  async function load(values) {
    if (!picture) fill(paper, h("p", { class: "quiet" }, "drawing …"));
    try {
      set(await ask("/api/cell", values));
    } catch (error) {
      picture = null;
      shownId = null;
      fill(paper, h("p", { class: "quiet" }, error.message));
      fill(formulas);
      fill(about);
    }
  }

  return { el, load, set, zoom, pan, fit: () => show(size) };
}

function enlarged(document_) {
  if (!document_) return;
  const view = cellView({ large: true });
  const dialog = h("dialog", { class: "whole", "aria-label": "cell" }, view.el);
  view.el.querySelector(".corner .line").append(
    h("button", { onclick: () => dialog.close() }, "close"));
  view.el.style.height = "100%";
  dialog.addEventListener("close", () => dialog.remove());
  dialog.addEventListener("keydown", (event) => {
    const keys = { "+": () => view.zoom(1.25), "=": () => view.zoom(1.25), "-": () => view.zoom(0.8),
      0: view.fit, ArrowLeft: () => view.pan(-40, 0), ArrowRight: () => view.pan(40, 0),
      ArrowUp: () => view.pan(0, -40), ArrowDown: () => view.pan(0, 40) };
    if (!(event.key in keys) || event.target.closest(".formulas")) return;
    event.preventDefault();
    keys[event.key]();
  });
  document.body.append(dialog);
  dialog.showModal();
  view.set(document_);
}
