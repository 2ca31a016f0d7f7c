// Making elements. All text goes in as text: nothing that stands in a file is ever read as HTML.

export function h(tag, props = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(props ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (name === "class") made.className = value;
    else made.setAttribute(name, value === true ? "" : value);
  }
  put(made, ...children);
  return made;
}

const SVG = "http://www.w3.org/2000/svg";

export function s(tag, props = {}, ...children) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(props)) made.setAttribute(name, value);
  put(made, ...children);
  return made;
}

export function put(parent, ...children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    parent.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
  return parent;
}

export function fill(parent, ...children) {
  parent.replaceChildren();
  return put(parent, ...children);
}

// A name that somebody has given: it may be of any length and run in either direction.
export function name(text, most = 300) {
  const whole = String(text ?? "");
  const shown = whole.length > most ? `${whole.slice(0, most)}…` : whole;
  return h("bdi", whole.length > 24 ? { title: whole.slice(0, 1000) } : {}, shown);
}

export function facts(list) {
  return h("dl", { class: "facts" }, list.filter(([, text]) => text !== "" && text != null)
    .map(([key, text]) => [h("dt", {}, key), h("dd", {}, h("bdi", {}, String(text).slice(0, 20000)))]));
}

export function settings(values, title = "settings") {
  const list = Object.entries(values ?? {});
  if (!list.length) return null;
  return h("details", {}, h("summary", {}, `${title} (${list.length})`), facts(list));
}

export function dot(state) {
  return h("span", { class: `dot s-${stateClass(state)}`, title: state, "aria-hidden": "true" });
}

const STATES = ["running", "finished", "failed", "damaged", "stopped", "killed", "open", "waiting"];

// What a trial ended with is a word of its evaluator's, such as "loss is nan": it has diverged.
export function stateClass(state) {
  return STATES.includes(state) ? state : "diverged";
}

export function commands(lines) {
  return (lines ?? []).map((line) => h("div", { class: "copy" },
    h("code", { class: "mono clip" }, line),
    h("button", { onclick: (event) => copied(event.target, line) }, "copy")));
}

async function copied(button, text) {
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = "copied";
  } catch {
    button.textContent = "could not copy";
  }
  setTimeout(() => { button.textContent = "copy"; }, 1500);
}

export function files(row, names) {
  if (!names?.length) return null;
  return h("p", { class: "sub" }, "files: ", names.map((each, place) => [place ? ", " : "",
    h("a", { href: `/files/${row.id.split("/").map(encodeURIComponent).join("/")}/${each}`,
      target: "_blank", rel: "noopener noreferrer" }, each)]));
}
