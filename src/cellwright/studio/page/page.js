// What every view has: a head with the state and the time left, and following what changes.

import { ask, rows } from "./feed.js";
import { dot, fill, h, name, stateClass } from "./dom.js";
import { duration, measured, moment, standing } from "./words.js";

const PAUSE = 700;

// `update` gets the detail each time that the thing, or what is inside it, has changed; `first` is
// what is done before the detail is asked for.
export function page(id, parts, update, { tiles = () => [], watches = () => false, first = async () => {} } = {}) {
  const head = h("div", { class: "head" }), trouble = h("div", {}), tileLine = h("div", { class: "tiles" });
  const bar = h("div", { class: "progress" }, h("div", {}));
  const el = h("div", {}, head, trouble, bar, tileLine, parts);
  let asking = false, again = false, over = false, last = 0, pause = PAUSE;

  function paintHead(row) {
    const compare = h("button", { title: "set beside another (c)", onclick: () => el.dispatchEvent(
      new CustomEvent("pick", { bubbles: true, detail: id })) }, "compare");
    const parent = row.parent ? rows.get(row.parent) : null;
    fill(head, h("div", { class: "titles" }, h("h1", {}, name(row.name, 12000)),
      h("div", { class: "sub" }, dot(row.state), " ",
        h("b", { class: `s-${stateClass(row.state)}` }, row.state), ` · ${row.kind} · `,
        standing(row) || row.method),
      h("div", { class: "sub" }, parent ? ["in ", h("a", { href: `#/item/${encodeURIComponent(parent.id)}` },
        name(parent.name, 80)), " · "] : null, name(row.id, 160), row.created ? ` · ${moment(row.created)}` : "")),
    ["run", "search", "study", "tuning"].includes(row.kind) ? compare : null);
    bar.hidden = !(row.state === "running" && row.part !== null);
    bar.firstChild.style.width = `${100 * (row.part ?? 0)}%`;
    const own = [
      row.shown ? [row.shown, `best ${row.metric?.name ?? ""}`] : null,
      row.left !== null && row.left !== undefined ? [duration(row.left), "left"] : null,
      row.seconds ? [duration(row.seconds), "spent"] : null,
      ...tiles(row),
    ].filter(Boolean);
    tileLine.hidden = !own.length;
    fill(tileLine, own.map(([value, label]) => h("div", { class: "tile" }, h("b", {}, value),
      h("span", {}, label))));
  }

  async function refresh() {
    if (asking) { again = true; return; }
    asking = true;
    const begun = performance.now();
    try {
      if (rows.get(id)?.state !== "damaged") await first();
      const detail = await ask("/api/item", { id });
      if (over) return;
      paintHead(detail.row);
      fill(trouble, detail.error ? h("div", { class: "card error" }, detail.error) : null);
      if (!detail.error) await update(detail);
    } catch (error) {
      if (!over) fill(trouble, h("div", { class: "card error" }, error.message));
    }
    last = performance.now();
    pause = Math.max(PAUSE, 3 * (last - begun));  // what is slow to read is not asked for all the time
    asking = false;
    if (again && !over) { again = false; later(); }
  }

  function later() {
    setTimeout(() => { if (!over) refresh(); }, Math.max(0, pause - (performance.now() - last)));
  }

  if (rows.has(id)) paintHead(rows.get(id));
  refresh();
  return {
    el, refresh,
    changed(ids, gone) {
      if (gone.has(id)) fill(trouble, h("div", { class: "card error" }, "this is gone from the folder"));
      else if (ids.has(id) || watches(ids)) {
        if (asking) again = true;
        else later();
      }
    },
    end() { over = true; },
  };
}

export { measured };
