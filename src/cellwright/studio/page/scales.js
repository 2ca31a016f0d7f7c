// Axes: where a value lies, and which values are written beside it.

export function scale(low, high, from, to, log) {
  if (log && low > 0) {
    const a = Math.log(low), span = Math.log(high) - a || 1;
    return (value) => from + ((Math.log(value) - a) / span) * (to - from);
  }
  const span = high - low || 1;
  return (value) => from + ((value - low) / span) * (to - from);
}

// Room around the values, so that no curve lies on the frame.
export function widened(low, high, log) {
  if (log && low > 0) {
    const room = Math.max((high / low) ** 0.05, 1.01);
    return [low / room, high * room];
  }
  const room = (high - low) * 0.06 || Math.abs(high) * 0.05 || 1;
  return [low - room, high + room];
}

export function ticks(low, high, wanted, log) {
  if (log && low > 0 && high / low > 4) {
    const found = [];
    for (const steps of [[1], [1, 3], [1, 2, 5], [1, 1.5, 2, 3, 5, 7]]) {
      found.length = 0;
      for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high); power++) {
        for (const step of steps) {
          const value = step * 10 ** power;
          if (value >= low && value <= high) found.push(value);
        }
      }
      if (found.length >= Math.min(3, wanted)) break;
    }
    const every = Math.ceil(found.length / Math.max(wanted, 2));
    return found.filter((_, place) => place % every === 0);
  }
  const rough = (high - low) / Math.max(wanted, 1);
  const power = 10 ** Math.floor(Math.log10(rough || 1));
  const steps = [0.5, 1, 2, 2.5, 5, 10].map((each) => each * power);
  let place = steps.findIndex((each) => each >= rough);
  // One number alone says nothing about a scale.
  if (place > 0 && multiples(low, high, steps[place]).length < 2) place--;
  return multiples(low, high, steps[place]);
}

function multiples(low, high, step) {
  const found = [];
  for (let place = Math.ceil(low / step - 1e-9); place * step <= high + step * 1e-9; place++) {
    found.push(Number((place * step).toPrecision(12)));
  }
  return found;
}

// There is no epoch 1.5; but where whole numbers would leave one alone on a long axis, others stay.
export function whole(values) {
  const kept = values.filter((value) => Number.isInteger(value));
  const isLong = values[values.length - 1] - values[0] > 1;
  return kept.length > (isLong ? 1 : 0) ? kept : values;
}

// Four digits, so that neighbours on an axis differ: 12.5M is written so, and not as 1e7.
export function written(value) {
  const size = Math.abs(value);
  if (size >= 1e12 || (size < 1e-3 && size > 0)) return value.toExponential(2).replace(/\.?0*e\+?/, "e");
  for (const [unit, letter] of [[1e9, "G"], [1e6, "M"], [1e5, "k"]]) {
    if (size >= unit) return `${Number((value / (letter === "k" ? 1e3 : unit)).toPrecision(4))}${letter}`;
  }
  return String(Number(value.toPrecision(4)));
}
