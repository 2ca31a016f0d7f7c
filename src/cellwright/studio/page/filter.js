// What a filter over columns means: words, and conditions such as value<100 or state:failed.

const CONDITION = /^([\w.]+)(<=|>=|<|>|=|:)(.+)$/;
const NAMES = { trial: "number", time: "seconds", from: "origin", error: "reason" };

export function compile(text, columns, texts) {
  const tests = [];
  for (const word of text.toLowerCase().split(/\s+/).filter(Boolean)) {
    const found = word.match(CONDITION);
    const key = found && (NAMES[found[1]] ?? found[1]);
    const column = key && (columns[key] ?? columns[Object.keys(columns).find((each) => each.toLowerCase() === `set.${key}`)]);
    if (column) tests.push(condition(column, found[2], found[3], texts, key));
    else if (word.startsWith("-") && word.length > 1) tests.push(not(anywhere(word.slice(1), columns, texts)));
    else tests.push(anywhere(word, columns, texts));
  }
  return (row) => tests.every((test) => test(row));
}

const TEXTS = ["state", "cell", "how", "reason"];

const not = (test) => (row) => !test(row);

function condition(column, sign, wanted, texts, key) {
  const limit = Number(wanted);
  if (sign === "<") return (row) => column[row] !== null && column[row] < limit;
  if (sign === ">") return (row) => column[row] !== null && column[row] > limit;
  if (sign === "<=") return (row) => column[row] !== null && column[row] <= limit;
  if (sign === ">=") return (row) => column[row] !== null && column[row] >= limit;
  if (TEXTS.includes(key)) {
    const fits = fitting(wanted, texts);
    return (row) => fits.has(column[row]);
  }
  return (row) => (Number.isNaN(limit) ? String(column[row]).toLowerCase().includes(wanted) : column[row] === limit);
}

// Texts are numbers of a list: each is looked at once, whatever the number of trials.
function fitting(word, texts) {
  const found = new Set();
  texts.forEach((text, place) => { if (text.includes(word)) found.add(place); });
  return found;
}

function anywhere(word, columns, texts) {
  const fits = fitting(word, texts);
  const wanted = Number(word.replace(/^#/, ""));
  const own = TEXTS.map((key) => columns[key]).filter(Boolean);
  const settings = Object.keys(columns).filter((key) => key.startsWith("set.")).map((key) => columns[key]);
  return (row) => own.some((column) => fits.has(column[row])) || columns.number[row] === wanted
    || settings.some((column) => typeof column[row] === "string" && column[row].toLowerCase().includes(word));
}
