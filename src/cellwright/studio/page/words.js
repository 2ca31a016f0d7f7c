// Numbers and times as people read them.

export function duration(seconds) {
  if (seconds === null || seconds === undefined || !Number.isFinite(seconds)) return "–";
  if (seconds < 9.95) return `${seconds.toFixed(1)} s`;
  if (seconds < 59.5) return `${Math.round(seconds)} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 60) return `${minutes} min`;
  if (minutes < 48 * 60) return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
  return `${(seconds / 86400).toFixed(1)} days`;
}

export function number(value, digits = 4) {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  if (Number.isInteger(value) && Math.abs(value) < 1e15) return value.toLocaleString("en");
  const size = Math.abs(value);
  if (size !== 0 && (size >= 1e6 || size < 1e-4)) return value.toExponential(2);
  return String(Number(value.toPrecision(digits)));
}

const DIGITS = { plain: 4, exponential: 1, complement: 3, percent: 2 };

export function measured(metric, value) {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  if (Math.abs(value) >= 1e6) return value.toExponential(0);
  return value.toFixed(DIGITS[metric?.form] ?? 3);
}

export function count(amount, noun) {
  return `${amount.toLocaleString("en")} ${amount === 1 ? noun.replace(/s$/, "") : noun}`;
}

export function moment(seconds) {
  return seconds ? new Date(seconds * 1000).toLocaleString() : "";
}

// How far a thing is, in one line.
export function standing(row) {
  const parts = [];
  if (row.done !== null && row.done !== undefined) {
    const of = row.total ? ` of ${row.total.toLocaleString("en")}` : "";
    parts.push(`${row.done.toLocaleString("en")}${of} ${row.unit ?? ""}`.trim());
  }
  if (row.failed) parts.push(`${row.failed.toLocaleString("en")} failed`);
  if (row.left !== null && row.left !== undefined) parts.push(`${duration(row.left)} left`);
  if (row.note) parts.push(row.note);
  return parts.join(" · ");
}
