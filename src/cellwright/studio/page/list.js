// The list on the left: everything that was found, searched, filtered, ordered.

import { dot, fill, h, name, stateClass } from "./dom.js";
import { inside, notes, rows } from "./feed.js";
import { standing } from "./words.js";

const HEIGHT = 54, SPARE = 5;
const KINDS = ["run", "search", "study", "tuning", "comparison", "suite", "sensitivity", "grid",
  "methods", "benchmark"];
const PLURAL = { run: "runs", search: "searches", study: "studies", tuning: "tunings",
  comparison: "comparisons", suite: "suites", sensitivity: "sensitivity", grid: "grids",
  methods: "methods", benchmark: "benchmarks" };

export function workList({ list, search, kinds, order, count, noteLine, onOpen }) {
  let shown = [], cursor = 0, opened = null, asked = false;
  const unfolded = new Set(), wanted = new Set();
  const body = h("div", {});
  list.append(body);

  function words(row) {
    return [row.name, row.id, row.kind, row.state, row.cell, row.cell_id, row.data, row.method,
      row.error].filter(Boolean).join("\n").toLowerCase();
  }

  function matches(row, terms) {
    if (!terms.length) return true;
    const text = words(row);
    return terms.every((term) => {
      const [key, value] = term.split(/:(.*)/s);
      if (["kind", "state", "data", "cell"].includes(key) && value !== undefined) {
        return String(row[key] ?? "").toLowerCase().includes(value);
      }
      if (term.startsWith("-") && term.length > 1) return !text.includes(term.slice(1));
      return text.includes(term);
    });
  }

  const better = (row) => (row.metric?.higher ? -row.value : row.value);
  const newest = (a, b) => (b.created ?? 0) - (a.created ?? 0) || a.id.localeCompare(b.id);
  const ORDERS = {
    newest,
    active: (a, b) => (b.state === "running") - (a.state === "running") || newest(a, b),
    name: (a, b) => a.name.localeCompare(b.name, undefined, { numeric: true }),
    best: (a, b) => (a.value === null || a.value === undefined) - (b.value === null || b.value === undefined)
      || (a.metric?.name ?? "").localeCompare(b.metric?.name ?? "") || better(a) - better(b),
  };

  function refresh() {
    const terms = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const compare = ORDERS[order.value];
    const isFlat = terms.length > 0 || wanted.size > 0;
    const children = new Map();
    const tops = [];
    for (const row of rows.values()) {
      const isTop = !row.parent || !rows.has(row.parent);
      if (isFlat) {
        if ((!wanted.size || wanted.has(row.kind)) && matches(row, terms)) tops.push(row);
      } else if (isTop) tops.push(row);
      if (!isTop) children.set(row.parent, (children.get(row.parent) ?? 0) + 1);
    }
    tops.sort(compare);
    shown = [];
    const add = (row, depth) => {
      const below = isFlat ? 0 : children.get(row.id) ?? 0;
      shown.push({ row, depth, below });
      if (below && unfolded.has(row.id)) {
        for (const child of inside(row.id).sort(compare)) add(child, depth + 1);
      }
    };
    for (const row of tops) add(row, 0);
    count.textContent = `${shown.length.toLocaleString("en")} of ${rows.size.toLocaleString("en")}`;
    cursor = Math.min(cursor, Math.max(shown.length - 1, 0));
    paintKinds();
    fill(noteLine, notes.lines.join("; "));
    paint();
  }

  function paintKinds() {
    const amounts = new Map();
    for (const row of rows.values()) amounts.set(row.kind, (amounts.get(row.kind) ?? 0) + 1);
    const there = KINDS.filter((kind) => amounts.has(kind));
    const key = there.map((kind) => `${kind}${amounts.get(kind)}${wanted.has(kind)}`).join();
    if (kinds.dataset.key === key) return;
    kinds.dataset.key = key;
    fill(kinds, there.length < 2 ? null : there.map((kind) => h("button", {
      "aria-pressed": String(wanted.has(kind)),
      onclick: () => { if (!wanted.delete(kind)) wanted.add(kind); cursor = 0; refresh(); },
    }, `${PLURAL[kind]} ${amounts.get(kind).toLocaleString("en")}`)));
  }

  function soon() {
    if (asked) return;
    asked = true;
    requestAnimationFrame(() => { asked = false; paint(); });
  }

  function paint() {
    const top = Math.max(0, Math.floor(list.scrollTop / HEIGHT) - SPARE);
    const end = Math.min(shown.length, Math.ceil((list.scrollTop + list.clientHeight) / HEIGHT) + SPARE);
    body.style.height = `${shown.length * HEIGHT}px`;
    const made = [];
    for (let place = top; place < end; place++) made.push(item(shown[place], place));
    if (!shown.length) {
      made.push(h("div", { class: "empty" }, rows.size ? "nothing fits the search"
        : "Nothing here yet. Trainings, searches and studies appear as they begin."));
    }
    fill(body, made);
  }

  function item({ row, depth, below }, place) {
    const isOpen = unfolded.has(row.id);
    const line = h("div", { class: `item${row.id === opened ? " open" : ""}${depth ? " child" : ""}${
      place === cursor ? " cursor" : ""}`, role: "option", id: `item-${place}`,
      "aria-selected": String(row.id === opened), "data-id": row.id.slice(0, 500),
      onclick: () => { cursor = place; onOpen(row.id); } },
    below ? h("button", { class: "fold", "aria-label": isOpen ? "fold" : `show ${below} inside`,
      tabindex: "-1", title: `${below} inside`, onclick: (event) => {
        event.stopPropagation();
        fold(row.id);
      } }, isOpen ? "▾" : "▸") : dot(row.state),
    h("span", { class: "name clip" }, name(row.name, 200)),
    h("span", { class: "value" }, row.shown ?? ""),
    h("span", { class: "about quiet" },
      h("span", { class: `s-${stateClass(row.state)}` }, row.state),
      h("span", { class: "clip" }, [row.kind, row.error ? row.error.slice(0, 200) : standing(row) || row.method].filter(Boolean).join(" · "))));
    if (row.state === "running" && row.part !== null) {
      const bar = h("span", { class: "bar" });
      bar.style.width = `${100 * row.part}%`;
      line.append(bar);
    }
    line.style.top = `${place * HEIGHT}px`;
    return line;
  }

  function fold(id) {
    if (!unfolded.delete(id)) unfolded.add(id);
    refresh();
  }

  function move(by) {
    cursor = Math.min(Math.max(cursor + by, 0), Math.max(shown.length - 1, 0));
    const top = cursor * HEIGHT;
    if (top < list.scrollTop) list.scrollTop = top;
    else if (top + HEIGHT > list.scrollTop + list.clientHeight) list.scrollTop = top + HEIGHT - list.clientHeight;
    list.setAttribute("aria-activedescendant", `item-${cursor}`);
    paint();
  }

  list.addEventListener("scroll", soon);
  new ResizeObserver(soon).observe(list);
  search.addEventListener("input", () => { cursor = 0; list.scrollTop = 0; refresh(); });
  order.addEventListener("change", refresh);
  return {
    refresh, move,
    open(id) {
      opened = id;
      const place = shown.findIndex((each) => each.row.id === id);
      if (place >= 0) cursor = place;
      paint();
    },
    enter() { if (shown[cursor]) onOpen(shown[cursor].row.id); },
    unfold() { if (shown[cursor]?.below) fold(shown[cursor].row.id); },
    current() { return shown[cursor]?.row ?? null; },
  };
}
