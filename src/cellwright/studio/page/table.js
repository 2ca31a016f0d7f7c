// A table of any length: only the rows that are seen are in the document.

import { fill, h } from "./dom.js";

const HEIGHT = 28, SPARE = 6, TALLEST = 440;

// A column is {key, title, width, right, text(row), sort(row), cell(row)}.
export function bigTable({ onOpen, label }) {
  let columns = [], rows = [], order = { key: null, down: false }, cursor = -1, onSort = () => {};
  const head = h("div", { class: "grid-head", role: "row" });
  const body = h("div", { role: "rowgroup" });
  const inner = h("div", { class: "inner" }, head, body);
  const el = h("div", { class: "grid-table", tabindex: "0", role: "grid", "aria-label": label }, inner);
  let asked = false, most = 0;

  function soon() {
    if (asked) return;
    asked = true;
    requestAnimationFrame(() => { asked = false; paint(); });
  }

  function paint() {
    const top = Math.max(0, Math.floor(el.scrollTop / HEIGHT) - SPARE);
    const end = Math.min(rows.length, Math.ceil((el.scrollTop + el.clientHeight) / HEIGHT) + SPARE);
    const shape = columns.map((each) => each.width).join(" ");
    const made = [];
    for (let place = top; place < end; place++) {
      const row = rows[place];
      const line = h("div", { class: `grid-row${place === cursor ? " cursor" : ""}`, role: "row",
        "aria-rowindex": place + 2, "aria-selected": String(place === cursor),
        onclick: () => { cursor = place; paint(); onOpen(row); } },
      columns.map((each) => {
        const shown = each.cell ? each.cell(row) : each.text(row);
        return h("span", { role: "gridcell", class: each.right ? "right" : "", title: typeof shown === "string" && shown.length > 20 ? shown : null }, shown);
      }));
      line.style.top = `${place * HEIGHT}px`;
      line.style.gridTemplateColumns = shape;
      made.push(line);
    }
    // No empty room below a few rows; and no jumping while they are filtered.
    most = Math.max(most, rows.length);
    el.style.height = `${Math.min(TALLEST, (most + 2) * HEIGHT)}px`;
    body.style.height = `${rows.length * HEIGHT}px`;
    body.style.position = "relative";
    fill(body, made);
    el.setAttribute("aria-rowcount", rows.length + 1);
  }

  function paintHead() {
    head.style.gridTemplateColumns = columns.map((each) => each.width).join(" ");
    fill(head, columns.map((each) => h("button", { class: each.right ? "right" : "",
      role: "columnheader", tabindex: "-1", title: `order by ${each.title}`,
      "aria-sort": order.key === each.key ? (order.down ? "descending" : "ascending") : "none",
      onclick: () => {
        order = { key: each.key, down: order.key === each.key ? !order.down : false };
        paintHead();
        onSort(order);
      } }, each.title, order.key === each.key ? (order.down ? " ↓" : " ↑") : "")));
  }

  function move(by) {
    if (!rows.length) return;
    cursor = Math.min(Math.max(cursor + by, 0), rows.length - 1);
    const top = cursor * HEIGHT, room = el.clientHeight - 2 * HEIGHT;
    if (top < el.scrollTop) el.scrollTop = top;
    else if (top > el.scrollTop + room) el.scrollTop = top - room;
    paint();
  }

  el.addEventListener("scroll", soon);
  el.addEventListener("keydown", (event) => {
    const steps = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1, PageDown: 12, PageUp: -12,
      Home: -Infinity, End: Infinity };
    if (event.key === "Enter" && cursor >= 0) onOpen(rows[cursor]);
    else if (event.key in steps && !event.ctrlKey && !event.metaKey) move(steps[event.key]);
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  new ResizeObserver(soon).observe(el);

  return {
    el, paint,
    columns(next, sorted) { columns = next; onSort = sorted; paintHead(); },
    order() { return order; },
    set(next) {
      const kept = cursor >= 0 ? rows[cursor] : null;
      rows = next;
      cursor = kept === null ? -1 : rows.indexOf(kept);
      paint();
    },
    step(by) { move(by); if (cursor >= 0) onOpen(rows[cursor]); },
    choose(row) { cursor = rows.indexOf(row); paint(); },
  };
}
