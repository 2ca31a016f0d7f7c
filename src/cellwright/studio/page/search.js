// A one-shot search: losses, θ as it settles, the cell of each epoch, the candidates.

import { cellView } from "./cell.js";
import { chart } from "./chart.js";
import { commands, dot, facts, files, fill, h, name, settings } from "./dom.js";
import { inside, rows } from "./feed.js";
import { page } from "./page.js";
import { operation, thetaView } from "./theta.js";

export function searchView(id) {
  const losses = chart({ title: "losses", log: true, xLabel: "epoch of the search" });
  const decided = chart({ title: "how far it has decided", height: 200, xLabel: "epoch of the search" });
  const theta = thetaView(), cell = cellView();
  const slider = h("input", { type: "range", min: 0, value: 0, "aria-label": "epoch" });
  const said = h("b", {});
  const play = h("button", { "aria-label": "play" }, "▶ play");
  const seeds = h("select", { "aria-label": "seed" });
  const thetaCard = h("div", { class: "card" }, h("h2", {}, "θ: what each candidate edge counts"), theta.el);
  const cellCard = h("div", { class: "card" }, cell.el);
  const strip = h("div", { class: "card scroll" }), tried = h("div", { class: "card scroll" });
  const about = h("div", { class: "card" });
  const time = h("div", { class: "card line" }, seeds, play, slider, said);
  let detail = null, follows = true, timer = null, asked = null;

  const seed = () => detail?.seeds.find((each) => String(each.seed) === seeds.value) ?? detail?.seeds[0];

  function frames() {
    const own = seed();
    return own?.theta?.places ?? own?.epoch.map((_, place) => place) ?? [];
  }

  function showFrame() {
    const own = seed(), places = frames();
    const at = Number(slider.value), place = places[at];
    if (!own || place === undefined) { said.textContent = "no epoch has ended yet"; return; }
    // Only a search that takes turns between parts of the cell has rounds worth a word.
    const turns = new Set(own.group).size > 1 && own.round?.[place];
    const round = turns ? `, round ${own.round[place]}, ${own.group[place]}` : "";
    said.textContent = `epoch ${own.epoch[place]} of ${own.epoch.length}${detail.row.state === "running" ? " so far" : ""}${round}`;
    if (own.theta) theta.show(at, own.choices[place]);
    const key = `${own.seed} ${place}`;
    if (asked !== key) { asked = key; cell.load({ id, seed: own.seed, place }); }
    for (const field of strip.querySelectorAll("td")) {
      field.classList.toggle("now", field.dataset.place === String(place));
    }
  }

  slider.addEventListener("input", () => {
    follows = Number(slider.value) === Number(slider.max);
    showFrame();
  });
  seeds.addEventListener("change", () => paint());
  play.addEventListener("click", () => {
    if (timer) { stop(); return; }
    if (Number(slider.value) === Number(slider.max)) slider.value = 0;
    play.textContent = "❚❚ stop";
    timer = setInterval(() => {
      slider.value = Number(slider.value) + 1;
      follows = Number(slider.value) === Number(slider.max);
      showFrame();
      if (follows) stop();
    }, 450);
  });

  function stop() {
    clearInterval(timer);
    timer = null;
    play.textContent = "▶ play";
  }

  function paint() {
    const { row } = detail, own = seed(), metric = row.metric;
    seeds.hidden = detail.seeds.length < 2;
    thetaCard.hidden = !own?.theta;
    if (!own) return;
    const lines = [{ name: "valid", x: own.epoch, y: own.valid, colour: 0 }];
    if (metric.learned) {
      lines.push({ name: "train", x: own.epoch, y: own.train, colour: 1, look: "dashed" });
      if (own.architecture.some((value) => value !== null)) {
        lines.push({ name: "architecture", x: own.epoch, y: own.architecture, colour: 2, look: "dotted" });
      }
    }
    losses.set(lines, `${metric.name}, ${metric.higher ? "higher" : "lower"} is better`, { grows: metric.grows });
    decided.set(Object.entries(own.watched).map(([key, y], place) => ({
      name: key.replace("_mad", " deviation").replace("mad", "deviation").replace("_", " "),
      x: own.epoch, y, colour: place, look: key.endsWith("entropy") ? "dashed" : "" })), "");
    slider.max = Math.max(0, frames().length - 1);
    if (own.theta) theta.set(own.theta);
    if (follows && !timer) slider.value = slider.max;
    paintStrip(own);
    showFrame();
  }

  function paintStrip(own) {
    const names = [...new Set(own.choices.flatMap((each) => Object.keys(each)))];
    const every = Math.max(1, Math.ceil(own.choices.length / 60));
    const places = own.choices.map((_, place) => place).filter((place) => place % every === 0 || place === own.choices.length - 1);
    fill(strip, h("h2", {}, "the cell after each epoch (bold: changed)"), h("table", { class: "strip" },
      names.map((each) => h("tr", {}, h("th", {}, each), places.map((place, column) => {
        const text = own.choices[place][each] ?? "";
        const before = column ? own.choices[places[column - 1]][each] : text;
        return h("td", { class: `${text ? `o-${operation(text)}` : "none-yet"}${text !== before ? " changed" : ""}`,
          "data-place": place }, text.replace(/([a-z])(\d)/g, "$1 $2"));
      }))), h("tr", {}, h("th", {}, "epoch"), places.map((place) => h("th", {}, own.epoch[place])))));
  }

  function paintTried() {
    const origin = new Map(detail.candidates.map((each) => [each.id, each]));
    const list = inside(id).filter((row) => row.kind === "run");
    tried.hidden = !list.length;
    const sign = detail.row.metric.higher ? -1 : 1;
    list.sort((a, b) => (b.done ?? 0) - (a.done ?? 0) || (a.value === null) - (b.value === null) || sign * (a.value - b.value));
    const hasOrigins = list.some((row) => origin.get(row.id)?.origin);
    const heads = [[""], ["training"], ["cell", "wide-only"], hasOrigins ? ["comes from"] : null, ["epochs", "right"], [detail.row.metric.name, "right"]];
    fill(tried, h("h2", {}, "candidates, trained to choose among them"), h("table", { class: "plain-table" },
      h("tr", {}, heads.filter(Boolean).map(([text, kind]) => h("th", { class: kind ?? "" }, text))),
      list.slice(0, 200).map((row) => h("tr", { class: origin.get(row.id)?.chosen ? "best" : "" },
        h("td", {}, dot(row.state)), h("td", { class: "named" }, h("a", { href: `#/item/${encodeURIComponent(row.id)}` }, name(row.name, 60))),
        h("td", { class: "named wide-only" }, name(row.cell, 40)), hasOrigins ? h("td", {}, origin.get(row.id)?.origin ?? "") : null,
        h("td", { class: "right" }, `${row.done} of ${row.total}`),
        h("td", { class: "right" }, row.shown ?? "–", origin.get(row.id)?.chosen ? " ✓" : "")))));
  }

  const view = page(id, [time, h("div", { class: "cards" }, thetaCard, cellCard),
    h("div", { class: "cards" }, h("div", { class: "card" }, losses.el), h("div", { class: "card" }, decided.el)),
    strip, tried, about], (next) => {
    detail = next;
    const kept = seeds.value;
    fill(seeds, next.seeds.map((each) => h("option", { value: each.seed }, `seed ${each.seed}`)));
    if (kept) seeds.value = kept;
    if (!seeds.value && next.seeds.length) seeds.value = next.seeds[0].seed;
    paint();
    paintTried();
    fill(about, h("h2", {}, "about"), facts(next.facts), settings(next.settings),
      files(next.row, next.files), commands(next.next));
  }, { watches: (ids) => [...ids].some((each) => rows.get(each)?.parent === id) });
  const { end } = view;
  view.end = () => { stop(); end(); };
  return view;
}
