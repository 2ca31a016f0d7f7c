// Trials as points, tens of thousands of them: drawn on a canvas, with the best so far as a line.

import { fill, h } from "./dom.js";
import { scale, ticks, whole, widened, written } from "./scales.js";

const LEFT = 52, RIGHT = 12, TOP = 10, BOTTOM = 34, HEIGHT = 260;

export function scatter({ onOpen, describe }) {
  let data = null, at = [], isLog = null, axis = "number";
  const canvas = h("canvas", { height: HEIGHT });
  const tip = h("div", { class: "tip", hidden: true });
  const axes = h("select", { "aria-label": "horizontal axis", onchange: () => {
    axis = axes.value;
    draw();
  } });
  const logButton = h("button", { onclick: () => { isLog = !isLog; draw(); } }, "log");
  const heading = h("h2", {}, "trials");
  const el = h("figure", { class: "chart" }, h("div", { class: "corner" }, heading,
    h("span", { class: "line" }, axes, logButton)), canvas, tip);

  function colour(of) {
    return getComputedStyle(document.documentElement).getPropertyValue(of).trim();
  }

  function draw() {
    if (!data) return;
    const width = Math.max(el.clientWidth, 220), ratio = window.devicePixelRatio || 1;
    canvas.width = width * ratio;
    canvas.height = HEIGHT * ratio;
    canvas.style.height = `${HEIGHT}px`;
    const pen = canvas.getContext("2d");
    pen.scale(ratio, ratio);
    logButton.setAttribute("aria-pressed", String(isLog));
    const xs = data.columns[axis] ?? data.columns.number, ys = data.columns.value;
    const rows = data.rows.filter((row) => ys[row] !== null && typeof xs[row] === "number");
    at = [];
    pen.font = "11px system-ui, sans-serif";
    pen.fillStyle = colour("--quiet");
    if (!rows.length) {
      pen.fillText("no trial with a value yet", LEFT, 40);
      return;
    }
    const sorted = rows.map((row) => ys[row]).sort((a, b) => a - b);
    let low = sorted[0], high = sorted[sorted.length - 1];
    // A few that exploded must not press all others into one line.
    if (data.higher) low = sorted[Math.floor(sorted.length * 0.02)];
    else high = sorted[Math.ceil((sorted.length - 1) * 0.98)];
    let [x0, x1] = [Infinity, -Infinity];
    for (const row of rows) { x0 = Math.min(x0, xs[row]); x1 = Math.max(x1, xs[row]); }
    if (x0 === x1) { x0 -= 0.5; x1 += 0.5; }
    const [y0, y1] = widened(low, high, isLog);
    const right = width - RIGHT, bottom = HEIGHT - BOTTOM;
    const x = scale(x0, x1, LEFT + 4, right - 4, false), y = scale(y0, y1, bottom, TOP, isLog);
    pen.strokeStyle = colour("--line");
    pen.textAlign = "right";
    for (const value of ticks(y0, y1, 5, isLog)) {
      pen.beginPath(); pen.moveTo(LEFT, y(value)); pen.lineTo(right, y(value)); pen.stroke();
      pen.fillText(written(value), LEFT - 6, y(value) + 4);
    }
    pen.textAlign = "center";
    for (const value of whole(ticks(x0, x1, Math.max(3, Math.floor(width / 90)), false))) {
      pen.fillText(written(value), x(value), bottom + 16);
    }
    pen.textAlign = "left";
    pen.fillText(data.label, LEFT, HEIGHT - 4);
    pen.textAlign = "right";
    pen.fillText(axis === "number" ? data.noun : axis.replace("set.", ""), right, HEIGHT - 4);
    const radius = rows.length > 4000 ? 1.5 : rows.length > 500 ? 2.2 : 3.2;
    pen.fillStyle = colour("--c0");
    pen.globalAlpha = rows.length > 4000 ? 0.35 : 0.7;
    for (const row of rows) {
      const px = x(xs[row]), py = Math.min(Math.max(y(ys[row]), TOP), bottom);
      at.push([px, py, row]);
      pen.fillRect(px - radius, py - radius, 2 * radius, 2 * radius);
    }
    pen.globalAlpha = 1;
    if (axis === "number" && data.inTime) bestSoFar(pen, rows, xs, ys, x, y);
  }

  function bestSoFar(pen, rows, xs, ys, x, y) {
    const ordered = [...rows].sort((a, b) => xs[a] - xs[b]);
    let best = null;
    pen.save();
    pen.beginPath();
    pen.rect(LEFT, TOP - 2, canvas.clientWidth - LEFT, HEIGHT - TOP - BOTTOM + 4);
    pen.clip();
    pen.strokeStyle = colour("--c1");
    pen.lineWidth = 2;
    pen.beginPath();
    for (const row of ordered) {
      if (best !== null && !(data.higher ? ys[row] > best : ys[row] < best)) continue;
      if (best === null) pen.moveTo(x(xs[row]), y(ys[row]));
      else { pen.lineTo(x(xs[row]), y(best)); pen.lineTo(x(xs[row]), y(ys[row])); }
      best = ys[row];
    }
    if (best !== null) pen.lineTo(x(xs[ordered[ordered.length - 1]]), y(best));
    pen.stroke();
    pen.restore();
  }

  function under(event) {
    const box = canvas.getBoundingClientRect();
    const px = event.clientX - box.left, py = event.clientY - box.top;
    let best = null, away = 144;
    for (const each of at) {
      const far = (each[0] - px) ** 2 + (each[1] - py) ** 2;
      if (far < away) { away = far; best = each; }
    }
    return best;
  }

  canvas.addEventListener("pointermove", (event) => {
    const found = under(event);
    tip.hidden = !found;
    canvas.style.cursor = found ? "pointer" : "";
    if (!found) return;
    fill(tip, describe(found[2]));
    const isRight = found[0] > canvas.clientWidth / 2;
    tip.style.top = `${found[1] + 30}px`;
    tip.style.left = isRight ? "" : `${found[0] + 12}px`;
    tip.style.right = isRight ? `${canvas.clientWidth - found[0] + 12}px` : "";
  });
  canvas.addEventListener("pointerleave", () => { tip.hidden = true; });
  canvas.addEventListener("click", (event) => {
    const found = under(event);
    if (found) onOpen(found[2]);
  });
  new ResizeObserver(() => draw()).observe(el);

  return { el, draw, set(next) {
    data = next;
    heading.textContent = next.title;
    if (isLog === null) {
      isLog = next.log;
      if (!next.inTime) axis = "parameters";
    }
    const numeric = ["number", "parameters", "cost", "seconds", "epochs",
      ...Object.keys(next.columns).filter((each) => each.startsWith("set."))]
      .filter((each) => next.columns[each]?.some((value) => typeof value === "number"));
    if ([...axes.options].map((each) => each.value).join() !== numeric.join()) {
      fill(axes, numeric.map((each) => h("option", { value: each },
        each === "number" ? `by ${next.noun}` : `by ${each.replace("set.", "")}`)));
      axes.value = numeric.includes(axis) ? axis : "number";
      axis = axes.value || "number";
    }
    draw();
  } };
}
