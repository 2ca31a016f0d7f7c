// A comparison of cells: the standings, and the curves of all trainings.

import { chart } from "./chart.js";
import { commands, dot, facts, files, fill, h, name, settings } from "./dom.js";
import { rows } from "./feed.js";
import { insideTable } from "./others.js";
import { axesView } from "./sensitivity.js";
import { page } from "./page.js";
import { duration } from "./words.js";

export function comparisonView(id) {
  const curves = chart({ title: "validation, mean of the seeds (thin: each seed)", log: true, height: 300 });
  const standings = h("div", { class: "card scroll" }), about = h("div", { class: "card" });
  const more = h("div", { class: "card scroll" });
  const colours = new Map(), axes = axesView();
  return page(id, [axes.el, standings, h("div", { class: "card" }, curves.el), more, about], (detail) => {
    const metric = detail.row.metric;
    axes.set(detail.axes ?? [], metric);
    for (const one of detail.standings ?? []) if (!colours.has(one.label)) colours.set(one.label, colours.size);
    paintStandings(standings, detail, metric);
    curves.set((detail.standings ?? []).flatMap((one) => lines(one, detail.curves_of, colours.get(one.label))),
      metric ? `${metric.name}, ${metric.higher ? "higher" : "lower"} is better` : "", { grows: metric?.grows ?? null });
    more.hidden = !detail.inside?.length;
    fill(more, h("h2", {}, "searches"), insideTable(detail.inside, false));
    fill(about, h("h2", {}, "about"), facts(detail.facts), settings(detail.settings), files(detail.row, detail.files), commands(detail.next));
  }, { watches: (ids) => [...ids].some((each) => rows.get(each)?.parent === id) });
}

function lines(one, curves, colour) {
  const seeds = one.runs.filter(Boolean).map((each) => curves[each]).filter((each) => each?.epoch.length);
  if (!seeds.length) return [];
  // The mean goes as far as every seed does: beyond, it would be one of the lucky.
  const shared = Math.min(...seeds.map((each) => each.valid.length));
  const y = Array.from({ length: shared }, (_, at) => {
    const values = seeds.map((each) => each.valid[at]);
    return values.includes(null) ? null : values.reduce((a, b) => a + b, 0) / values.length;
  });
  const thin = seeds.length > 1 ? seeds.map((each) => ({ name: one.label, group: one.label, x: each.epoch, y: each.valid, colour, look: "thin" })) : [];
  const look = ["", "dashed", "dotted"][Math.floor(colour / 8) % 3];  // there are eight colours
  return [...thin, { name: one.label, x: seeds[0].epoch.slice(0, shared), y, colour, look }];
}

function paintStandings(el, detail, metric) {
  el.hidden = !detail.standings;
  if (!detail.standings) return;
  const hasWidths = detail.standings.some((one) => one.width), hasFailures = detail.standings.some((one) => one.failed.length);
  const heads = [["cell"], hasWidths ? ["width", "right wide-only"] : null, [metric.name, "right"], ["±", "right"], ["trainings"], ["time", "right"], hasFailures ? [""] : null];
  fill(el, h("h2", {}, `${metric.name} on the validation data, ${metric.higher ? "highest" : "lowest"} first`),
    h("table", { class: "plain-table" }, h("tr", {}, heads.filter(Boolean).map(([text, side]) => h("th", { class: side ?? "" }, text))),
      detail.standings.map((one, place) => h("tr", { class: place === 0 && one.valid !== null ? "best" : "" },
        h("td", { class: "named" }, name(one.label, 60)), hasWidths ? h("td", { class: "right wide-only" }, one.width ?? "") : null,
        h("td", { class: "right" }, one.valid_shown ?? "–"), h("td", { class: "right" }, one.spread ?? ""),
        h("td", {}, h("span", { class: "line" }, one.runs.map((each, seed) => (each
          ? h("a", { href: `#/item/${encodeURIComponent(each)}`, title: `seed ${detail.seeds[seed]}: ${one.states[seed]}` }, dot(one.states[seed]), ` ${detail.seeds[seed]}`)
          : h("span", { class: "quiet", title: "waiting" }, dot("waiting"), ` ${detail.seeds[seed]}`))))),
        h("td", { class: "right" }, one.seconds ? duration(one.seconds) : "–"),
        hasFailures ? h("td", { class: "s-failed named" }, one.failed.map((each) => h("div", {}, `seed ${each.seed}: `, name(each.why, 300)))) : null))));
}
