// Two runs, searches or trials side by side: curves in one picture, cells, and what differs.

import { cellView } from "./cell.js";
import { chart } from "./chart.js";
import { dot, facts, fill, h, name } from "./dom.js";
import { ask, rows } from "./feed.js";

// "ID" or "ID@TRIAL".
export function taken(key) {
  const found = key.match(/^(.*)@(\d+)$/s);
  return found ? { id: found[1], trial: Number(found[2]) } : { id: key, trial: null };
}

export function title(key) {
  const { id, trial } = taken(key), row = rows.get(id);
  return `${row?.name ?? id}${trial === null ? "" : `, trial ${trial}`}`;
}

async function load(key) {
  const { id, trial } = taken(key);
  const detail = await ask("/api/item", { id });
  if (trial === null) {
    const own = detail.curves ?? detail.seeds?.[0];
    return { key, row: detail.row, metric: detail.row.metric, facts: detail.facts, settings: detail.settings ?? {},
      x: own?.epoch ?? [], y: own?.valid ?? [], cell: cellOf(detail, id) };
  }
  const one = await ask("/api/trial", { id, number: trial });
  return { key, row: detail.row, metric: one.metric, facts: one.facts, settings: { ...detail.settings, ...one.settings },
    x: one.curves.epoch, y: one.curves.valid, cell: { id, trial } };
}

function cellOf(detail, id) {
  if (detail.row.kind === "run") return { id };
  if (detail.row.kind === "search") return detail.has_found ? { id } : { id, seed: detail.seeds[0]?.seed ?? 0 };
  return detail.row.best_trial === null || detail.row.best_trial === undefined ? null : { id, trial: detail.row.best_trial };
}

export function sideView(first, second) {
  const curves = chart({ title: "validation", log: true, height: 280 });
  const cells = [cellView(), cellView()], heads = [h("div", {}), h("div", {})];
  const differences = h("div", { class: "card scroll" }), trouble = h("div", {});
  const onlyDifferent = h("input", { type: "checkbox", id: "only", checked: true });
  const el = h("div", {}, h("div", { class: "head" }, h("h1", {}, "side by side")), trouble,
    h("div", { class: "side" }, heads.map((each) => h("div", { class: "card" }, each))), h("div", { class: "card" }, curves.el),
    h("div", { class: "side" }, cells.map((each) => h("div", { class: "card" }, each.el))), differences);
  let over = false, both = [], loaded = false;

  async function refresh() {
    try {
      both = await Promise.all([load(first), load(second)]);
    } catch (error) {
      fill(trouble, h("div", { class: "card error" }, error.message));
      return;
    }
    if (over) return;
    fill(trouble);
    both.forEach((one, place) => fill(heads[place], h("h2", {}, h("a", { href: address(one.key) }, name(title(one.key), 200))),
      h("p", { class: "sub" }, dot(one.row.state), ` ${one.row.state} · ${one.row.kind}`), facts(one.facts)));
    const comparable = both[0].metric?.name === both[1].metric?.name;
    curves.set(both.map((one, place) => ({ name: `${place ? "right" : "left"}: ${title(one.key).slice(0, 60)}`, x: one.x, y: one.y, colour: place }))
      .filter((_, place) => comparable || place === 0), both[0].metric?.name ?? "",
    { words: comparable ? "validation" : `validation (${both[1].metric?.name ?? "the other"} is another metric, and is not drawn)`, grows: both[0].metric?.grows ?? null });
    paintDifferences();
    if (!loaded) {
      loaded = true;
      both.forEach((one, place) => (one.cell ? cells[place].load(one.cell) : null));
    }
  }

  function paintDifferences() {
    const names = [...new Set(both.flatMap((one) => Object.keys(one.settings)))];
    const list = names.map((key) => [key, both[0].settings[key] ?? "–", both[1].settings[key] ?? "–"]);
    const different = list.filter(([, a, b]) => a !== b);
    const shown = onlyDifferent.checked ? different : list;
    fill(differences, h("div", { class: "corner" }, h("h2", {}, `settings: ${different.length} of ${list.length} differ`),
      h("label", {}, onlyDifferent, " only these")), h("table", { class: "plain-table" },
      shown.slice(0, 500).map(([key, a, b]) => h("tr", { class: a === b ? "" : "differs" }, h("td", {}, name(key, 80)),
        h("td", {}, name(a, 300)), h("td", {}, name(b, 300))))));
  }

  onlyDifferent.addEventListener("change", paintDifferences);
  refresh();
  const ids = new Set([first, second].map((key) => taken(key).id));
  return { el, refresh, end() { over = true; }, changed(changed) { if ([...changed].some((each) => ids.has(each))) refresh(); } };
}

function address(key) {
  const { id, trial } = taken(key);
  return `#/item/${encodeURIComponent(id)}${trial === null ? "" : `/trial/${trial}`}`;
}
