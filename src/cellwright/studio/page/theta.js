// θ of a search: how much each candidate edge counts, settling from epoch to epoch.

import { fill, h, s } from "./dom.js";

const OPERATIONS = ["tanh", "relu", "sigmoid", "identity", "none"];
const PARTS = { intra: "inside the cell", f: "gate on ĥ", g: "gate on x̂", f_alpha: "gate on ĥ, α",
  g_alpha: "gate on x̂, α" };

export function operation(op) {
  const word = String(op).replace(/[0-9 ].*$/, "").replace("drop", "none");
  return OPERATIONS.includes(word) ? word : "other";
}

export function operationLegend(ops) {
  return h("div", { class: "ops" }, [...new Set(ops)].map((op) => h("span", {},
    h("i", { class: `o-${operation(op)}` }), op)));
}

export function thetaView() {
  const graph = s("svg", { class: "theta-graph", role: "img", "aria-label": "edges of the search" });
  const legend = h("div", {});
  const boxes = h("div", {});
  const el = h("div", {}, legend, graph, boxes);
  let theta = null, made = null;

  // The edges of the cell that the search would choose, from the words for its nodes: "tanh2" is the
  // operation tanh on node 2; a gate has one operation for each step back.
  function chosen(choices) {
    const taken = new Set();
    for (const [row, text] of Object.entries(choices ?? {})) {
      const node = row.match(/^node (\d+)$/), gate = row.match(/^(ĥ|x̂) gate, .*−(\d+)\)$/);
      for (const word of node ? text.split(" ") : []) {
        const source = word.match(/(\d+)$/);
        if (source) taken.add(`intra ${node[1]} ${source[1]}`);
      }
      if (gate && text !== "none") taken.add(`${gate[1] === "ĥ" ? "f" : "g"} ${gate[2]} 0`);
    }
    return taken;
  }

  function build() {
    const nodes = Math.max(1, ...theta.edges.filter((each) => each.part === "intra").map((each) => each.target));
    const gap = Math.max(64, Math.min(110, 760 / (nodes + 1)));
    const width = gap * (nodes + 1) + 20, height = Math.min(60 + nodes * 24, 230);
    const line = height - 30;
    graph.setAttribute("viewBox", `0 0 ${width} ${height}`);
    const edges = [], intra = theta.edges.some((each) => each.part === "intra");
    graph.style.display = intra ? "" : "none";
    theta.edges.forEach((edge, place) => {
      if (edge.part !== "intra") return;
      const from = 10 + gap * (edge.source + 0.5), to = 10 + gap * (edge.target + 0.5);
      const lift = Math.min(line - 12, 22 + (edge.target - edge.source - 1) * 26);
      const path = s("path", { class: "edge",
        d: `M${from} ${line} C${from + 8} ${line - lift * 1.3} ${to - 8} ${line - lift * 1.3} ${to} ${line}` });
      path.append(s("title"));
      edges.push([place, path]);
    });
    const circles = [];
    for (let node = 0; node <= nodes; node++) {
      circles.push(s("circle", { cx: 10 + gap * (node + 0.5), cy: line, r: 13 }),
        s("text", { x: 10 + gap * (node + 0.5), y: line + 4 }, node));
    }
    fill(graph, edges.map(([, path]) => path), circles);
    const bars = theta.edges.map((edge) => {
      const inner = edge.ops.map((op) => h("i", { class: `o-${operation(op)}` }));
      const from = edge.part === "intra" ? `${edge.source} → ${edge.target}` : `t−${edge.target}`;
      const box = h("div", { class: "theta-box" }, h("div", { class: "theta-bars" }, inner),
        h("span", {}, from));
      return { box, inner };
    });
    const parts = Object.keys(PARTS).filter((part) => theta.edges.some((each) => each.part === part));
    fill(boxes, parts.map((part) => group(part, bars)));
    fill(legend, operationLegend(theta.edges.flatMap((each) => each.ops)));
    made = { edges, bars };
  }

  function group(part, bars) {
    const own = theta.edges.map((edge, place) => ({ edge, place })).filter(({ edge }) => edge.part === part);
    const targets = [...new Set(own.map(({ edge }) => edge.target))];
    return h("div", { class: "scroll" }, h("p", { class: "quiet" }, PARTS[part]),
      part === "intra"
        ? targets.map((target) => h("div", { class: "line theta-row" }, own
          .filter(({ edge }) => edge.target === target).map(({ place }) => bars[place].box)))
        : h("div", { class: "line" }, own.map(({ place }) => bars[place].box)));
  }

  function show(place, choices) {
    const frame = theta.frames[place];
    if (!frame) return;
    const taken = chosen(choices);
    const isTaken = (edge) => taken.has(`${edge.part} ${edge.target} ${edge.source}`);
    // What is undecided looks so: no bar is full before one edge counts for this much.
    const highest = Math.max(theta.softmax === "node" ? 0.15 : 0.4, ...frame.flat());
    made.bars.forEach(({ box, inner }, number) => {
      const edge = theta.edges[number];
      box.classList.toggle("chosen", isTaken(edge));
      inner.forEach((bar, op) => { bar.style.height = `${(100 * frame[number][op]) / highest}%`; });
      box.title = edge.ops.map((op, at) => `${op} ${frame[number][at].toFixed(3)}`).join("\n");
    });
    for (const [number, path] of made.edges) {
      const edge = theta.edges[number], weights = frame[number];
      let best = -1;
      edge.ops.forEach((op, at) => {
        if (op !== "none" && (best < 0 || weights[at] > weights[best])) best = at;
      });
      const isChosen = isTaken(edge);
      path.setAttribute("class", `edge o-${operation(edge.ops[Math.max(best, 0)])}`);
      const strength = best < 0 ? 0 : weights[best] / highest;
      path.setAttribute("stroke-width", (0.6 + 5 * strength).toFixed(2));
      path.setAttribute("stroke-opacity", (isChosen ? 1 : 0.15 + 0.5 * strength).toFixed(2));
      path.firstChild.textContent = `${edge.source} → ${edge.target}: ${
        edge.ops.map((op, at) => `${op} ${weights[at].toFixed(3)}`).join(", ")}`;
    }
  }

  return { el, show, set(next) {
    const same = theta && next && JSON.stringify(theta.edges) === JSON.stringify(next.edges);
    theta = next;
    if (!same) build();
  } };
}
