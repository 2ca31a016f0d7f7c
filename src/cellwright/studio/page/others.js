// Grids and search methods; and what cannot be read.

import { chart } from "./chart.js";
import { commands, dot, facts, files, fill, h, name } from "./dom.js";
import { inside, rows } from "./feed.js";
import { page } from "./page.js";
import { number, standing } from "./words.js";

export function insideTable(ids, hasKinds = true) {
  const list = (ids ?? []).map((each) => rows.get(each)).filter(Boolean);
  return h("table", { class: "plain-table" }, list.map((row) => h("tr", {}, h("td", {}, dot(row.state)),
    h("td", { class: "named" }, h("a", { href: `#/item/${encodeURIComponent(row.id)}` }, name(row.name, 80))), hasKinds ? h("td", {}, row.kind) : null,
    h("td", {}, standing(row)), h("td", { class: "right" }, row.shown ?? ""))));
}

// What a stage has made, a line for each: a table in a table would be too narrow for its words.
function insideLines(ids) {
  return ids.map((each) => rows.get(each)).filter(Boolean).map((row) => h("div", { class: "line made" }, dot(row.state),
    h("a", { href: `#/item/${encodeURIComponent(row.id)}` }, name(row.name, 80)),
    h("span", { class: "quiet" }, `${row.kind} · ${standing(row)}`), row.shown ? h("span", {}, `${row.shown} ${row.metric?.name ?? ""}`) : null));
}

const below = (id) => ({ watches: (ids) => [...ids].some((each) => rows.get(each)?.parent === id) });

export function gridView(id) {
  const stages = h("div", { class: "card scroll" }), about = h("div", { class: "card" });
  return page(id, [stages, about], (detail) => {
    fill(stages, h("h2", {}, "stages"), h("table", { class: "plain-table" },
      h("tr", {}, h("th", {}, "stage"), h("th", { class: "right" }, "time"), h("th", {}, "what it has")),
      (detail.stages ?? []).map((stage) => h("tr", {}, h("td", { class: "named" }, dot(stage.state), " ", name(stage.name, 60),
        h("div", { class: "quiet small" }, stage.kind, stage.recipe ? [" by ", name(stage.recipe, 60)] : null)),
      h("td", { class: "right" }, stage.time), h("td", { class: "wide" }, insideLines(stage.inside))))));
    fill(about, h("h2", {}, "about"), facts(detail.facts), files(detail.row, detail.files), commands(detail.next));
  }, below(id));
}

export function plainView(id) {
  const about = h("div", { class: "card" }), within = h("div", { class: "card scroll" });
  return page(id, [within, about], (detail) => {
    const ids = inside(id).map((row) => row.id);
    within.hidden = !ids.length;
    fill(within, h("h2", {}, "inside"), insideTable(ids));
    fill(about, h("h2", {}, "about"), facts(detail.facts), files(detail.row, detail.files), commands(detail.next));
  }, below(id));
}

export function methodsView(id) {
  const courses = chart({ title: "the lowest validation loss over simulated time, mean of the seeds", height: 320, xLabel: "hours" });
  const table = h("div", { class: "card scroll" }), about = h("div", { class: "card" });
  return page(id, [h("div", { class: "card" }, courses.el), table, about], (detail) => {
    const lines = [], figures = [];
    detail.methods.forEach((method, colour) => {
      const end = Math.min(...method.courses.map((each) => each.end)) || 1;
      const x = Array.from({ length: 200 }, (_, place) => (end * (place + 1)) / 200);
      const y = x.map((hours) => mean(method.courses.map((each) => at(each, hours))));
      lines.push({ name: method.name, x, y, colour, stepped: true, points: false });
      figures.push([method.name, method.courses.length, y[y.length - 1], mean(method.courses.map((each) => each.trials)), mean(method.courses.map((each) => each.cells))]);
    });
    courses.set(lines, "loss, lower is better");
    figures.sort((a, b) => (a[2] ?? Infinity) - (b[2] ?? Infinity));
    fill(table, h("h2", {}, "methods"), h("table", { class: "plain-table" },
      h("tr", {}, ["method", "searches", "loss at the end", "trials, mean", "cells, mean"].map((text, place) => h("th", { class: place ? "right" : "" }, text))),
      figures.map((line, place) => h("tr", { class: place ? "" : "best" }, line.map((value, column) => h("td", { class: column ? "right" : "named" }, column ? number(value) : name(value, 60)))))));
    fill(about, h("h2", {}, "about"), facts(detail.facts), files(detail.row, detail.files), commands(detail.next));
  });
}

function at(course, hours) {
  let found = null;
  course.hours.forEach((each, place) => { if (each <= hours) found = course.valid[place]; });
  return found;
}

function mean(values) {
  return values.length && !values.includes(null) ? values.reduce((a, b) => a + b, 0) / values.length : null;
}
