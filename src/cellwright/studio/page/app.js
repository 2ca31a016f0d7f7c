// The page: which view is open, the keys, light and dark.

import { comparisonView } from "./comparison.js";
import { dot, fill, h, name } from "./dom.js";
import { begin, notes, onChange, rows } from "./feed.js";
import { workList } from "./list.js";
import { gridView, methodsView, plainView } from "./others.js";
import { runView } from "./run.js";
import { searchView } from "./search.js";
import { sideView, title } from "./side.js";
import { studyView } from "./study.js";
import { suiteView } from "./suite.js";
import { standing } from "./words.js";

const at = (id) => document.getElementById(id);
const view = at("view"), search = at("search"), help = at("help"), tray = at("tray");
const VIEWS = { run: runView, search: searchView, study: studyView, tuning: studyView,
  benchmark: (id) => studyView(id, true), comparison: comparisonView, sensitivity: comparisonView,
  grid: gridView, methods: methodsView, suite: suiteView };
let current = null, currentKey = null, picked = null;

const list = workList({ list: at("list"), search, kinds: at("kinds"), order: at("order"), count: at("count"),
  noteLine: at("notes"), onOpen: (id) => { location.hash = `#/item/${encodeURIComponent(id)}`; } });

// -- which view ----------------------------------------------------------------------------------

function route() {
  const parts = location.hash.replace(/^#\/?/, "").split("/").map(decoded);
  const isItem = parts[0] === "item" && parts[1], isSide = parts[0] === "side" && parts[2];
  document.body.classList.toggle("viewing", Boolean(isItem || isSide));
  if (isSide) open(`side ${parts[1]} ${parts[2]}`, () => sideView(parts[1], parts[2]), null);
  else if (isItem) {
    const row = rows.get(parts[1]);
    if (!row) { missing(parts[1]); return; }
    const isBroken = row.state === "damaged";
    open(`${row.kind} ${isBroken} ${parts[1]}`, () => (isBroken ? plainView : VIEWS[row.kind] ?? plainView)(parts[1]), parts[1]);
    current.trial?.(parts[2] === "trial" && /^\d+$/.test(parts[3] ?? "") ? Number(parts[3]) : null);
  } else open("start", startView, null);
}

function decoded(text) {
  try { return decodeURIComponent(text); } catch { return text; }
}

function open(key, make, id) {
  if (key !== currentKey) {
    current?.end?.();
    currentKey = key;
    current = make();
    fill(view, current.el);
    view.scrollTop = 0;
  }
  list.open(id);
}

function missing(id) {
  current?.end?.();
  currentKey = null;
  current = { el: h("div", {}), changed(ids) { if (ids.has(id)) route(); } };
  fill(view, h("div", { class: "card error" }, "There is nothing of that name here, or no more: ", name(id, 200)));
  list.open(null);
}

function startView() {
  const el = h("div", {});
  function paint() {
    const all = [...rows.values()];
    const running = all.filter((row) => row.state === "running" && row.unit);
    const tops = all.filter((row) => !row.parent);
    const latest = tops.filter((row) => row.state !== "running").sort((a, b) => (b.created ?? 0) - (a.created ?? 0)).slice(0, 12);
    const broken = all.filter((row) => ["damaged", "killed", "failed", "diverged"].includes(row.state));
    fill(el, h("div", { class: "head" }, h("div", { class: "titles" }, h("h1", {}, name(notes.title, 200)),
      h("div", { class: "sub" }, `${tops.length.toLocaleString("en")} entries, ${all.length.toLocaleString("en")} with what is inside them`))),
    h("div", { class: "card scroll" }, h("h2", {}, running.length ? `running now: ${running.length}` : "nothing is running"), running.length ? table(running)
      : h("p", { class: "quiet" }, "Trainings, searches, studies and comparisons show up here as they begin. Press ? for the keys.")),
    broken.length ? h("div", { class: "card scroll" }, h("h2", {}, `damaged, killed, failed or diverged: ${broken.length}`), table(broken.slice(0, 12))) : null,
    latest.length ? h("div", { class: "card scroll" }, h("h2", {}, "the latest"), table(latest)) : null);
  }
  paint();
  return { el, changed: paint };
}

function table(list) {
  return h("table", { class: "plain-table" }, list.slice(0, 30).map((row) => h("tr", {}, h("td", {}, dot(row.state)),
    h("td", { class: "named" }, h("a", { href: `#/item/${encodeURIComponent(row.id)}` }, row.parent && rows.has(row.parent) ? [name(rows.get(row.parent).name, 60), " / "] : null, name(row.name, 80))), h("td", {}, row.kind),
    h("td", {}, row.error ? name(row.error, 120) : standing(row)), h("td", {}, row.metric?.name ?? ""),
    h("td", { class: "right" }, row.shown ?? ""))));
}

// -- side by side --------------------------------------------------------------------------------

function pick(key) {
  if (picked && picked !== key) {
    location.hash = `#/side/${encodeURIComponent(picked)}/${encodeURIComponent(key)}`;
    picked = null;
  } else picked = picked === key ? null : key;
  tray.hidden = !picked;
  if (picked) fill(tray, "beside ", h("b", { class: "clip" }, name(title(picked), 60)), ": open another, press ", h("kbd", {}, "c"),
    h("button", { onclick: () => pick(picked) }, "no"));
}

document.addEventListener("pick", (event) => pick(event.detail));

// -- keys ----------------------------------------------------------------------------------------

const KEYS = [["/", "search"], ["j  k", "down and up in the list or the table that has the focus"], ["Enter", "open"],
  ["l", "show or hide what is inside"], ["f", "filter trials"], ["n  p", "next and previous trial"], ["c", "set beside another"],
  ["Esc", "close, or back to the list"], ["t", "light or dark"], ["?", "these keys"]];

function showHelp() {
  fill(help, h("h2", {}, "keys"), h("table", { class: "plain-table" }, KEYS.map(([key, text]) => h("tr", {}, h("td", {}, h("kbd", {}, key)), h("td", {}, text)))),
    h("p", { class: "quiet" }, "Search words may be anywhere; kind:run, state:failed, data:ptb and -word narrow down. In a cell's picture: drag, + − and fit; large fills the window, where the wheel zooms."),
    h("button", { onclick: () => help.close() }, "close"));
  help.showModal();
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  const field = event.target.closest("input, select, textarea");
  if (event.key === "Escape") { escape(field); return; }
  if (field === search && ["Enter", "ArrowDown"].includes(event.key)) {
    if (event.key === "Enter") list.enter();
    at("list").focus();
    event.preventDefault();
    return;
  }
  if (field) return;
  const isList = !event.target.closest("main");
  const keys = { "/": () => search.select(), j: () => list.move(1), k: () => list.move(-1), l: () => list.unfold(),
    t: theme, "?": showHelp, c: () => pickCurrent(isList), f: () => current?.filter?.select(),
    n: () => current?.step?.(1), p: () => current?.step?.(-1) };
  const inList = { ArrowDown: () => list.move(1), ArrowUp: () => list.move(-1), Enter: () => list.enter() };
  const own = keys[event.key] ?? (isList && !event.target.closest("button, a") ? inList[event.key] : null);
  if (!own) return;
  event.preventDefault();
  own();
});

function escape(field) {
  if (field?.type === "search" && field.value) {
    field.value = "";
    field.dispatchEvent(new Event("input"));
  } else if (field) field.blur();
  else if (picked) pick(picked);
  else if (!current?.close?.()) { location.hash = "#/"; at("list").focus(); }
}

function pickCurrent(isList) {
  const parts = location.hash.replace(/^#\/?/, "").split("/").map(decoded);
  if (parts[0] === "item") pick(parts[2] === "trial" ? `${parts[1]}@${parts[3]}` : parts[1]);
  else if (isList && list.current()) pick(list.current().id);
}

// -- light and dark ------------------------------------------------------------------------------

const system = matchMedia("(prefers-color-scheme: dark)");

function stored() {
  try { return localStorage.getItem("theme"); } catch { return null; }
}

function paintTheme() {
  document.documentElement.dataset.theme = stored() ?? (system.matches ? "dark" : "light");
  window.dispatchEvent(new Event("resize"));
  current?.refresh?.();
}

function theme() {
  const next = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
  try { localStorage.setItem("theme", next); } catch { /* a browser that keeps nothing */ }
  paintTheme();
}

system.addEventListener("change", paintTheme);
at("theme").addEventListener("click", theme);
at("keys").addEventListener("click", showHelp);
at("back").addEventListener("click", () => { location.hash = "#/"; });
document.documentElement.dataset.theme = stored() ?? (system.matches ? "dark" : "light");

// -- begin ---------------------------------------------------------------------------------------

window.addEventListener("hashchange", route);
onChange((changed, gone) => {
  list.refresh();
  current?.changed?.(changed, gone);
});

function live(state, text, why = "") {
  const line = at("live");
  line.className = `live ${state}`;
  line.textContent = text.slice(0, 200);
  line.title = why.slice(0, 1000);
  at("trouble").hidden = !why;
  at("trouble").textContent = why.slice(0, 1000);
}

try {
  await begin(live);
  at("place").textContent = notes.title;
  document.title = `${notes.title} · cellwright studio`;
  route();
} catch (error) {
  live("off", error.message);
}
