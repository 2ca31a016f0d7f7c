// A sensitivity analysis: a picture for each setting that varies.

import { chart } from "./chart.js";
import { fill, h } from "./dom.js";

export function axesView() {
  const el = h("div", { class: "cards", hidden: true });
  let charts = [];
  return { el, set(axes, metric) {
    el.hidden = !axes.length;
    if (charts.length !== axes.length) {
      charts = axes.map((axis) => chart({ title: "", height: 220, xLabel: axis.setting }));
      fill(el, charts.map((each) => h("div", { class: "card" }, each.el)));
    }
    axes.forEach((axis, place) => charts[place].set(lines(axis),
      `${metric.name}, ${metric.higher ? "higher" : "lower"} is better`,
      { words: `what was found, by ${axis.setting} (the recipe has ${axis.values[axis.own]})`, grows: metric.grows }));
  } };
}

function lines(axis) {
  const x = axis.values, ends = [x[0], x[x.length - 1]];
  const list = [{ name: "found", x, y: axis.found, colour: 0 }];
  if (axis.random.some((value) => value !== null)) list.push({ name: "random cells", x, y: axis.random, colour: 1, look: "dashed" });
  axis.against.forEach((one, place) => list.push({ name: one.label, x: ends, y: [one.valid, one.valid], colour: 2 + place, look: "dotted", points: false }));
  return list;
}
