// A study, a tuning or a benchmark: its trials as points and as a table, the best, the failures.

import { cellView } from "./cell.js";
import { chart } from "./chart.js";
import { commands, dot, facts, fill, h, name, settings, stateClass } from "./dom.js";
import { ask, rows } from "./feed.js";
import { compile } from "./filter.js";
import { page } from "./page.js";
import { scatter } from "./scatter.js";
import { bigTable } from "./table.js";
import { Trials } from "./trials.js";
import { duration, measured, number } from "./words.js";

const BEST = 10;

export function studyView(id, isBenchmark = false) {
  const trials = new Trials(id), noun = isBenchmark ? "architecture" : "trial";
  const points = scatter({ onOpen: (row) => open(trials.columns.number[row]), describe });
  const table = bigTable({ label: `${noun}s`, onOpen: (row) => open(trials.columns.number[row]) });
  const filter = h("input", { type: "search", class: "trial-filter", spellcheck: "false",
    placeholder: "filter   f      words, value<100, state:failed, from:12", "aria-label": `filter ${noun}s` });
  const amount = h("span", { class: "quiet", role: "status" });
  const best = h("div", { class: "card scroll" }), failures = h("div", { class: "card" });
  const about = h("div", { class: "card" });
  const panel = h("aside", { class: "card panel", hidden: true, "aria-label": noun });
  const pointsCard = h("div", { class: "card", hidden: true }, points.el);
  const around = h("div", { class: "with-panel" }, h("div", {},
    pointsCard, h("div", { class: "cards" }, best, failures),
    h("div", { class: "card" }, h("div", { class: "corner" }, h("h2", {}, `${noun}s`), amount), filter, table.el),
    about), panel);
  let row = null, shown = [], opened = null, shownState, lastColumns = "";

  const metric = () => row?.metric;
  const sign = () => (metric()?.higher ? -1 : 1);

  function describe(place) {
    const { columns } = trials;
    return [h("b", {}, `${noun} ${columns.number[place]}`), h("div", {}, `${metric()?.name ?? "value"} ${measured(metric(), columns.value[place])}`),
      h("div", { class: "quiet" }, name(trials.word("cell", place), 60)), h("div", { class: "quiet" }, origin(place))];
  }

  function origin(place) {
    const from = columnsOf("origin")[place];
    return from === null || from === undefined ? "" : `${columnsOf("goes_on")[place] ? "goes on with" : "changed from"} ${from}`;
  }

  function setColumns() {
    const { columns } = trials, key = Object.keys(columns).join();
    if (key === lastColumns) return;
    lastColumns = key;
    const list = [
      { key: "number", title: noun, width: isBenchmark ? "110px" : "64px", right: true, text: (place) => columnsOf("number")[place] },
      { key: "state", title: "state", width: "104px", cell: (place) => {
        const state = trials.word("state", place);
        return [dot(state), " ", h("span", { class: `s-${stateClass(state)}` }, state)];
      } },
      { key: "value", title: metric()?.name ?? "value", width: "110px", right: true, text: (place) => measured(metric(), columnsOf("value")[place]) },
      { key: "epochs", title: "epochs", width: "76px", right: true },
      { key: "seconds", title: "time", width: "86px", right: true, text: (place) => duration(columnsOf("seconds")[place]) },
      { key: "parameters", title: "parameters", width: "104px", right: true },
      { key: "origin", title: "comes from", width: "136px", text: origin },
      { key: "how", title: "method's note", width: "170px", text: (place) => trials.word("how", place) },
      { key: "cell", title: isBenchmark ? "name" : "cell", width: "168px", cell: (place) => name(trials.word("cell", place), 80) },
      { key: "attempts", title: isBenchmark ? "trainings" : "attempts", width: "84px", right: true },
      ...Object.keys(columns).filter((each) => each.startsWith("set.")).map((each) => ({ key: each,
        title: each.slice(4), width: `${Math.max(90, 24 + 8 * (each.length - 4))}px`, right: columns[each].some((value) => typeof value === "number"),
        text: (place) => { const value = columnsOf(each)[place]; return typeof value === "number" ? number(value) : value ?? ""; } })),
      { key: "reason", title: "reason", width: "minmax(220px, 1fr)", text: (place) => trials.word("reason", place) },
    ].filter((each) => columns[each.key]?.some((value) => value !== null));
    for (const each of list) each.text ??= (place) => number(columnsOf(each.key)[place]);
    table.columns(list, () => apply());
  }

  const columnsOf = (key) => trials.columns[key] ?? [];

  function apply() {
    const test = compile(filter.value, trials.columns, trials.lower);
    shown = trials.all().filter(test);
    const { key, down } = table.order();
    if (key) {
      const column = columnsOf(key), isText = ["state", "cell", "how", "reason"].includes(key);
      const value = isText ? (place) => trials.word(key, place) : (place) => column[place];
      const factor = (down ? -1 : 1) * (key === "value" ? sign() : 1);
      shown.sort((a, b) => {
        const [x, y] = [value(a), value(b)];
        if (x === null || y === null || x === "" || y === "") return (x === null || x === "") - (y === null || y === "");
        return (x < y ? -1 : x > y ? 1 : 0) * factor || a - b;
      });
    } else shown.reverse();
    amount.textContent = `${shown.length.toLocaleString("en")} of ${trials.length.toLocaleString("en")}`;
    table.set(shown);
  }

  function paintPoints() {
    pointsCard.hidden = !columnsOf("value").some((value) => value !== null);
    points.set({ columns: trials.columns, rows: trials.all(), higher: metric()?.higher, noun,
      log: metric()?.grows ?? false, inTime: !isBenchmark, title: isBenchmark ? "architectures" : "trials and the best so far",
      label: `${metric()?.name ?? "value"}, ${metric()?.higher ? "higher" : "lower"} is better` });
  }

  function paintBest() {
    const { columns } = trials;
    const list = trials.all().filter((place) => columns.value[place] !== null)
      .sort((a, b) => sign() * (columns.value[a] - columns.value[b]) || a - b).slice(0, BEST);
    const tuned = Object.keys(columns).filter((key) => key.startsWith("set.")).slice(0, 6);
    const hasOrigins = columnsOf("origin").some((value) => value !== null);
    // In a narrow window one setting has room; all of them are with the trial.
    const heads = [[noun], [metric()?.name ?? "value", "right"], [isBenchmark ? "name" : "cell"], hasOrigins ? ["comes from"] : null,
      ...tuned.map((key, place) => [broken(key.slice(4)), place ? "wide-only" : ""])];
    fill(best, h("h2", {}, `the best ${noun}s`), list.length ? h("table", { class: "plain-table" },
      h("tr", {}, heads.filter(Boolean).map(([text, kind]) => h("th", { class: kind ?? "" }, text))),
      list.map((place) => h("tr", {}, h("td", {}, h("a", { href: link(columns.number[place]) }, columns.number[place])),
        h("td", { class: "right" }, measured(metric(), columns.value[place])), h("td", { class: "named" }, name(trials.word("cell", place), 40)), hasOrigins ? h("td", {}, ancestry(place)) : null,
        tuned.map((key, at) => h("td", { class: at ? "wide-only" : "" }, typeof columns[key][place] === "number" ? number(columns[key][place]) : columns[key][place] ?? "")))))
      : h("p", { class: "quiet" }, row?.state === "running" ? "none has a value yet" : "none has a value"));
  }

  // The line of trials that one comes from, nearest first.
  function ancestry(place) {
    const parts = [], seen = new Set([place]);
    let at = columnsOf("origin")[place];
    while (at !== null && at !== undefined && parts.length < 5) {
      parts.push(" ← ", h("a", { href: link(at) }, at));
      const next = trials.places.get(at);
      if (next === undefined || seen.has(next)) break;
      seen.add(next);
      at = columnsOf("origin")[next];
    }
    return parts.length ? parts.slice(1) : "new";
  }

  function paintFailures() {
    const groups = new Map();
    for (const place of trials.all()) {
      const state = trials.word("state", place);
      if (["finished", "running", "waiting"].includes(state)) continue;
      const reason = trials.word("reason", place) || state;
      const known = groups.get(reason) ?? { state, list: [] };
      known.list.push(trials.columns.number[place]);
      groups.set(reason, known);
    }
    const list = [...groups].sort((a, b) => b[1].list.length - a[1].list.length);
    failures.hidden = !list.length;
    fill(failures, h("h2", {}, "without a value, and why"), h("table", { class: "plain-table" }, list.slice(0, 12)
      .map(([reason, { state, list: numbers }]) => h("tr", {}, h("td", {}, dot(state)), h("td", { class: "right" }, numbers.length.toLocaleString("en")),
        h("td", {}, name(reason, 300)), h("td", {}, "e.g. ", h("a", { href: link(numbers[0]) }, numbers[0]))))),
    list.length > 12 ? h("p", { class: "quiet" }, `and ${list.length - 12} more reasons`) : null);
  }

  // A dotted name may go on in the next line.
  const broken = (text) => text.split(/(?<=[._])/).flatMap((part) => [part, h("wbr")]);

  const link = (which) => `#/item/${encodeURIComponent(id)}/trial/${which}`;
  const open = (which) => { location.hash = link(which); };

  const stateOf = (which) => trials.word("state", trials.places.get(which));

  async function showTrial(which) {
    opened = which;
    shownState = undefined;
    panel.hidden = which === null;
    around.classList.toggle("has-panel", which !== null);
    if (which === null) return;
    table.choose(trials.places.get(which));
    let detail;
    try {
      detail = await ask("/api/trial", { id, number: which });
      shownState = stateOf(which);
    } catch (error) {
      shownState = null;  // asked for again with the next change
      detail = { facts: [], error: error.message, curves: { epoch: [], valid: [] }, lineage: [] };
    }
    if (opened !== which) return;
    const curve = chart({ title: "curve", height: 170, log: detail.metric?.grows ?? false });
    const cell = cellView();
    fill(panel, h("div", { class: "corner" }, h("h2", {}, `${noun} ${which}`), h("span", { class: "line" },
      h("button", { onclick: () => panel.dispatchEvent(new CustomEvent("pick", { bubbles: true, detail: `${id}@${which}` })) }, "compare"),
      h("button", { "aria-label": "close", onclick: close }, "close"))),
    detail.error ? h("div", { class: "card error mono" }, detail.error) : null, facts(detail.facts), settings(detail.settings),
    detail.curves.epoch.length ? curve.el : null,
    detail.lineage.length > 1 ? [h("h2", {}, "where it comes from"), h("div", { class: "lineage" }, detail.lineage.map((each, place) => [place ? "←" : "",
      h("button", { onclick: () => open(each.number), title: each.how ?? "new" }, `${each.number}: ${each.shown ?? "–"}`)]))] : null,
    detail.cell_id ? cell.el : null);
    if (detail.curves.epoch.length) curve.set([{ name: "valid", x: detail.curves.epoch, y: detail.curves.valid, colour: 0 }], detail.metric?.name ?? "");
    if (detail.cell_id) cell.load({ id, trial: which });
  }

  function close() { location.hash = `#/item/${encodeURIComponent(id)}`; }

  filter.addEventListener("input", apply);
  async function update() {
    await trials.update();
    row = rows.get(id) ?? row;
    setColumns();
    apply();
    paintPoints();
    paintBest();
    paintFailures();
    if (opened !== null) table.choose(trials.places.get(opened));
    if (opened !== null && shownState !== undefined && shownState !== stateOf(opened)) showTrial(opened);
    view.el.dataset.trials = trials.length;
  }

  const view = page(id, [around], (detail) => {
    fill(about, h("h2", {}, "about"), facts(detail.facts), settings(detail.settings), commands(detail.next));
  }, { first: update, tiles: (now) => [
    [now.done?.toLocaleString("en") ?? "–", `${now.unit}${now.total ? ` of ${now.total.toLocaleString("en")}` : ""}`],
    now.running ? [now.running, "running"] : null,
    now.failed ? [now.failed.toLocaleString("en"), "failed"] : null,
    now.state === "running" && now.rate ? [Math.round(now.rate).toLocaleString("en"), "trials an hour"] : null,
  ] });
  return { ...view, trial: showTrial, filter, close: () => { if (opened !== null) { close(); return true; } return false; },
    step: (by) => table.step(by) };
}
