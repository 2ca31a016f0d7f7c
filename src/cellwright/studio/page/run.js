// A training.

import { cellView } from "./cell.js";
import { chart } from "./chart.js";
import { commands, facts, files, fill, h, settings } from "./dom.js";
import { page } from "./page.js";

export function runView(id) {
  const losses = chart({ title: "curve", log: true });
  const rates = chart({ title: "learning rate", height: 150 });
  const cell = cellView();
  const about = h("div", { class: "card" }), rateCard = h("div", { class: "card" }, rates.el);
  let loaded = false;
  return page(id, [h("div", { class: "card" }, losses.el), h("div", { class: "card" }, cell.el),
    h("div", { class: "cards" }, about, rateCard)], (detail) => {
    const { row, curves } = detail;
    if (!curves) return;
    const metric = row.metric;
    const scaled = metric.learned;
    const lines = [
      { name: "valid", x: curves.epoch, y: curves.valid, colour: 0 },
      { name: "test", x: curves.epoch, y: curves.test, colour: 2, look: "dashed" },
    ];
    if (scaled) {
      lines.push({ name: "train", x: curves.epoch, y: curves.train, colour: 1 });
      if (curves.step.length > 2) {
        lines.push({ name: "steps", group: "train", x: curves.step, y: curves.step_train, colour: 1,
          look: "thin" });
      }
    }
    losses.set(lines, `${metric.name}, ${metric.higher ? "higher" : "lower"} is better`,
      { words: scaled ? "curve" : "curve (the training loss is below)", grows: metric.grows });
    rates.set(scaled ? [{ name: "learning rate", x: curves.epoch, y: curves.rate, colour: 5 }]
      : [{ name: "training loss", x: curves.epoch, y: curves.train, colour: 1 }], "",
    { words: scaled ? "learning rate" : "training loss" });
    fill(about, h("h2", {}, "about"), facts(detail.facts), settings(detail.settings),
      files(row, detail.files), commands(detail.next));
    if (!loaded) { loaded = true; cell.load({ id }); }
  });
}
