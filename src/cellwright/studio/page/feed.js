// What the server knows: asked for once, then followed by server-sent events.

export const rows = new Map();
export const notes = { lines: [], title: "" };
const listeners = new Set();

export function onChange(listener) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function tell(changed, gone) {
  for (const listener of [...listeners]) listener(changed, gone);
}

export async function ask(path, values = {}) {
  const query = new URLSearchParams(values);
  const answer = await fetch(`${path}?${query}`, { cache: "no-store" });
  const value = await answer.json();
  if (!answer.ok) throw new Error(value.error ?? `the server answered ${answer.status}`);
  return value;
}

function takeAll(value) {
  const gone = new Set(rows.keys());
  const changed = new Set();
  for (const row of value.rows) {
    gone.delete(row.id);
    if (rows.get(row.id)?.version !== row.version) changed.add(row.id);
    rows.set(row.id, row);
  }
  for (const id of gone) rows.delete(id);
  notes.lines = value.notes ?? [];
  if (value.title) notes.title = value.title;
  tell(changed, gone);
}

export async function begin(shown) {
  // A store that is away is said as long as it is: what is shown is how it was before.
  const say = (value) => (value.trouble ? shown("off", "out of date; trying again", value.trouble) : shown("on", "live"));
  takeAll(await ask("/api/list"));
  const source = new EventSource("/api/events");
  source.addEventListener("error", () => shown("off", "not connected; trying again"));
  source.addEventListener("all", (event) => { const value = JSON.parse(event.data); say(value); takeAll(value); });
  source.addEventListener("change", (event) => {
    const value = JSON.parse(event.data);
    say(value);
    for (const row of value.rows) rows.set(row.id, row);
    for (const id of value.gone) rows.delete(id);
    notes.lines = value.notes ?? [];
    tell(new Set(value.rows.map((row) => row.id)), new Set(value.gone));
  });
}

export function inside(id) {
  return [...rows.values()].filter((row) => row.parent === id);
}
