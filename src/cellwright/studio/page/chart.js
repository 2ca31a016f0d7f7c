// A chart of curves: axes, legend, a value under the pointer, a logarithmic scale.

import { fill, h, name, s } from "./dom.js";
import { scale, ticks, whole, widened, written } from "./scales.js";

const LEFT = 52, RIGHT = 12, TOP = 10, BOTTOM = 34;

// A series is {name, x, y, colour, look, points}: x and y are lists, null is no value; the look is "",
// "dashed", "dotted" or "thin". Thin ones have no place in the legend.
export function chart({ title, height = 250, xLabel = "epoch", log = false, onPick = null }) {
  let series = [], hidden = new Set(), isLog = log, chosen = false, yLabel = "", drawn = null;
  const logButton = h("button", { "aria-pressed": String(isLog), onclick: () => {
    isLog = !isLog;
    chosen = true;
    logButton.setAttribute("aria-pressed", String(isLog));
    draw();
  } }, "log");
  const heading = h("h2", {}, title);
  const picture = s("svg", { height, role: "img" });
  const legend = h("div", { class: "legend" });
  const tip = h("div", { class: "tip", hidden: true });
  const nothing = h("div", { class: "quiet" }, "nothing measured yet");
  const el = h("figure", { class: "chart" },
    h("div", { class: "corner" }, heading, logButton), picture, nothing, legend, tip);

  function visible() {
    return series.filter((each) => !hidden.has(each.group ?? each.name));
  }

  function draw() {
    const width = Math.max(el.clientWidth, 220);
    const shown = visible();
    let [x0, x1, y0, y1] = [Infinity, -Infinity, Infinity, -Infinity];
    for (const each of shown) {
      each.y.forEach((value, place) => {
        const at = each.x[place];
        if (value === null || at === null || (isLog && value <= 0)) return;
        x0 = Math.min(x0, at); x1 = Math.max(x1, at);
        y0 = Math.min(y0, value); y1 = Math.max(y1, value);
      });
    }
    const isEmpty = !Number.isFinite(y0);
    nothing.hidden = !isEmpty;
    picture.style.display = isEmpty ? "none" : "";
    drawn = null;
    if (isEmpty) return;
    if (x0 === x1) { x0 -= 0.5; x1 += 0.5; }
    [y0, y1] = widened(y0, y1, isLog);
    const right = width - RIGHT, bottom = height - BOTTOM;
    const x = scale(x0, x1, LEFT, right, false), y = scale(y0, y1, bottom, TOP, isLog);
    picture.setAttribute("viewBox", `0 0 ${width} ${height}`);
    const axis = s("g", { class: "axis" });
    for (const value of ticks(y0, y1, 5, isLog)) {
      axis.append(s("line", { x1: LEFT, x2: right, y1: y(value), y2: y(value) }),
        s("text", { x: LEFT - 6, y: y(value) + 4, "text-anchor": "end" }, written(value)));
    }
    for (const value of whole(ticks(x0, x1, Math.max(3, Math.floor(width / 90)), false))) {
      axis.append(s("text", { x: x(value), y: bottom + 16, "text-anchor": "middle" }, written(value)));
    }
    axis.append(s("text", { x: right, y: height - 4, "text-anchor": "end" }, xLabel),
      s("text", { x: LEFT, y: height - 4 }, yLabel));
    const curves = shown.map((each) => curve(each, x, y));
    const cross = s("line", { class: "cross", y1: TOP, y2: bottom, x1: -9, x2: -9 });
    fill(picture, axis, curves, cross);
    picture.setAttribute("aria-label", `${title}: ${shown.filter((each) => each.look !== "thin")
      .map((each) => `${each.name} ${written(lastOf(each.y) ?? NaN)}`).join(", ")}`);
    drawn = { x, y, x0, x1, cross, width };
  }

  function curve(each, x, y) {
    let path = "", pen = "M";  // "M" begins anew where values are missing
    const marks = [];
    const few = each.y.filter((value) => value !== null).length <= 40;
    each.y.forEach((value, place) => {
      if (value === null || each.x[place] === null || (isLog && value <= 0)) { pen = "M"; return; }
      const px = x(each.x[place]).toFixed(1), py = y(value).toFixed(1);
      path += pen === "M" ? `M${px} ${py}` : each.stepped ? `H${px}V${py}` : `L${px} ${py}`;
      pen = "L";
      if (few && each.look !== "thin" && each.points !== false) {
        marks.push(s("circle", { class: "mark", cx: px, cy: py, r: 3 }));
      }
    });
    return s("g", { class: `k${each.colour % 8}` },
      s("path", { class: `curve k${each.colour % 8} ${each.look ?? ""}`, d: path }), marks);
  }

  function point(event) {
    if (!drawn) return;
    const box = picture.getBoundingClientRect();
    const at = event.clientX - box.left;
    let best = null;
    for (const each of visible()) {
      if (each.look === "thin") continue;
      each.x.forEach((value, place) => {
        if (value === null || each.y[place] === null) return;
        const away = Math.abs(drawn.x(value) - at);
        if (best === null || away < best.away) best = { away, value };
      });
    }
    if (!best) return;
    const lines = [];
    for (const each of visible()) {
      if (each.look === "thin") continue;
      const place = nearest(each.x, best.value);
      if (place >= 0 && each.y[place] !== null) lines.push([each, each.y[place]]);
    }
    fill(tip, `${xLabel} ${written(best.value)}`, lines.map(([each, value]) => h("div", {},
      h("span", { class: `swatch k${each.colour % 8} ${each.look ?? ""}` }), name(each.name, 40), ` ${written(value)}`)));
    const px = drawn.x(best.value);
    drawn.cross.setAttribute("x1", px);
    drawn.cross.setAttribute("x2", px);
    tip.hidden = false;
    tip.style.top = "34px";
    if (px > drawn.width / 2) {
      tip.style.left = ""; tip.style.right = `${drawn.width - px + 12}px`;
    } else {
      tip.style.right = ""; tip.style.left = `${px + 12}px`;
    }
    if (onPick && event.type === "click") onPick(best.value);
  }

  picture.addEventListener("pointermove", point);
  picture.addEventListener("click", point);
  picture.addEventListener("pointerleave", () => {
    tip.hidden = true;
    drawn?.cross.setAttribute("x1", -9);
    drawn?.cross.setAttribute("x2", -9);
  });
  new ResizeObserver(() => draw()).observe(el);

  return { el, set(next, label, { words = title, grows = null } = {}) {
    series = next;
    if (!chosen && grows !== null && grows !== isLog) {
      isLog = grows;
      logButton.setAttribute("aria-pressed", String(isLog));
    }
    yLabel = label;
    title = words;
    heading.textContent = words;
    const names = series.filter((each) => each.look !== "thin");
    fill(legend, names.length > 1 ? names.map((each) => h("button", {
      class: "clip", "aria-pressed": String(!hidden.has(each.group ?? each.name)),
      onclick: (event) => {
        const key = each.group ?? each.name;
        if (!hidden.delete(key)) hidden.add(key);
        event.currentTarget.setAttribute("aria-pressed", String(!hidden.has(key)));
        draw();
      },
    }, h("span", { class: `swatch k${each.colour % 8} ${each.look ?? ""}` }), name(each.name, 60))) : null);
    draw();
  } };
}

function lastOf(values) {
  for (let place = values.length - 1; place >= 0; place--) {
    if (values[place] !== null) return values[place];
  }
  return null;
}

function nearest(list, wanted) {
  let best = -1, away = Infinity;
  list.forEach((value, place) => {
    if (value !== null && Math.abs(value - wanted) < away) { away = Math.abs(value - wanted); best = place; }
  });
  return best;
}
