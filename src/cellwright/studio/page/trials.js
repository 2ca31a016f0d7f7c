// The trials of a study in the browser: columns that are brought up to date, never asked for twice.

import { ask } from "./feed.js";

export class Trials {
  constructor(id) {
    this.id = id;
    this.columns = { number: [] };
    this.texts = [];
    this.lower = [];
    this.places = new Map();
    this.known = new Map();
    this.since = 0;
  }

  get length() { return this.columns.number.length; }

  async update() {
    const found = await ask("/api/trials", { id: this.id, since: this.since });
    const words = Object.keys(found.texts).map((text) => this.text(text));
    const named = new Set(["state", "cell", "how", "reason"]);
    const names = Object.keys(found.columns);
    if (found.whole) {
      this.places.clear();
      this.columns = Object.fromEntries(names.map((key) => [key, []]));
    }
    for (const key of names) this.columns[key] ??= new Array(this.length).fill(null);
    found.columns.number.forEach((number, from) => {
      let place = this.places.get(number);
      if (place === undefined) {
        place = this.places.size;
        this.places.set(number, place);
        for (const key of Object.keys(this.columns)) if (!(key in found.columns)) this.columns[key][place] = null;
      }
      for (const key of names) {
        const value = found.columns[key][from];
        this.columns[key][place] = named.has(key) && value !== null ? words[value] : value;
      }
    });
    this.since = found.moment;
  }

  text(text) {
    if (!this.known.has(text)) {
      this.known.set(text, this.texts.length);
      this.texts.push(text);
      this.lower.push(text.toLowerCase());
    }
    return this.known.get(text);
  }

  word(key, row) {
    const value = this.columns[key]?.[row];
    return value === null || value === undefined ? "" : this.texts[value];
  }

  all() { return Array.from({ length: this.length }, (_, place) => place); }
}
