// A comparison over a suite: the cells on each task, and their averages.

import { commands, dot, facts, files, fill, h, name } from "./dom.js";
import { rows } from "./feed.js";
import { page } from "./page.js";
import { standing } from "./words.js";

export function suiteView(id) {
  const table = h("div", { class: "card scroll" }), about = h("div", { class: "card" });
  const below = (each) => rows.get(each)?.parent === id || rows.get(rows.get(each)?.parent)?.parent === id;
  return page(id, [table, about], (detail) => {
    paintTable(table, detail);
    fill(about, h("h2", {}, "about"), facts(detail.facts), files(detail.row, detail.files), commands(detail.next));
  }, { watches: (ids) => [...ids].some(below) });
}

function paintTable(el, detail) {
  const { cells, averages } = detail;
  fill(el, h("h2", {}, averages ? "scores on the validation data, and their average" : "validation data so far, mean of the seeds"),
    h("table", { class: "plain-table" },
      h("tr", {}, h("th", {}, "task"), cells.map((label) => h("th", { class: "right named" }, name(label, 40)))),
      detail.tasks.map((task) => h("tr", {}, h("td", { class: "named" }, dot(task.state), " ",
        task.id ? h("a", { href: `#/item/${encodeURIComponent(task.id)}` }, name(task.label, 60)) : name(task.label, 60),
        h("div", { class: "quiet small" }, underTask(task))),
      task.cells.length ? cells.map((label) => h("td", { class: "right" }, score(task.cells.find((each) => each.label === label))))
        : h("td", { class: "quiet small", colspan: Math.max(cells.length, 1) }, task.why ? name(task.why, 300) : "waiting"))),
      averages ? h("tr", { class: "total" }, h("td", {}, "average", h("div", { class: "quiet small" }, `of ${averages.over} tasks`)),
        cells.map((label, place) => h("td", { class: "right" }, score({ ...averages.cells.find((each) => each.label === label), best: place === 0 })))) : null));
}

function underTask(task) {
  const row = task.id ? rows.get(task.id) : null;
  return [task.figures, row && row.state !== "finished" ? standing(row) : ""].filter(Boolean).join(" · ");
}

function score(one) {
  if (!one || one.shown === null || one.shown === undefined) return "–";
  return [h(one.best ? "b" : "span", {}, one.shown), one.spread ? h("div", { class: "quiet small" }, `± ${one.spread}`) : null];
}
