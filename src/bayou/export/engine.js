// A model exported by bayou: predict(row) gives the probabilities of `classes`, explain(row) what each column adds.
// A row is an object from column names to values; a text column has an object from words to counts, or a text.
const model = "DESCRIPTION";
const number = (v) => (v === "-inf" ? -Infinity : v === "inf" ? Infinity : v);
const infinite = (list) => {
  for (let i = 0; i < list.length; i++) {
    if (Array.isArray(list[i])) infinite(list[i]);
    else list[i] = number(list[i]);
  }
};
for (const node of model.nodes) {
  for (const key of Object.keys(node)) {
    if (Array.isArray(node[key])) infinite(node[key]);
    else if (key !== "op") node[key] = number(node[key]);
  }
}
const codes = model.columns.nominal.map((column) => new Map(column.values.map((value, i) => [value, i])));
const words = model.columns.text.map((column) => new Map(column.values.map((value, i) => [value, i])));

export const classes = model.classes;
export const columns = model.columns;

const present = (v) => v !== undefined && v !== null && v === v;
const value = (row, name) => (Object.prototype.hasOwnProperty.call(row, name) ? row[name] : undefined);

function numeric(row, column) {
  const x = value(row, model.columns.numeric[column].name);
  return typeof x === "number" && Math.abs(x) <= model.missing_beyond ? x : null;
}

function code(row, column) {
  const v = value(row, model.columns.nominal[column].name);
  if (!present(v)) return -1;
  const found = codes[column].get(v);
  return found === undefined ? model.columns.nominal[column].other : found;
}

function cellOf(row, which) {
  const cell = model.cells[which];
  if (cell.op === "value") {
    const at = code(row, cell.column);
    return at < 0 ? -1 : cell.cells[at];
  }
  const x = numeric(row, cell.column);
  if (x === null) return -1;
  let low = 0, high = cell.cuts.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (x > cell.cuts[middle]) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Words of a text as bayou counts them: two letters or digits at least, in small letters. */
export function tokens(text) {
  const counts = new Map();
  for (const word of text.toLowerCase().match(/[\p{L}\p{N}_]{2,}/gu) || []) counts.set(word, (counts.get(word) || 0) + 1);
  return counts;
}

function counted(row, column) {
  const given = value(row, model.columns.text[column].name);
  if (typeof given === "string" && !model.columns.text[column].plain) {
    throw new Error(`column ${model.columns.text[column].name} is read by a rule of its own: give an object from its words to counts`);
  }
  const said = typeof given === "string" ? tokens(given) : new Map(present(given) ? Object.entries(given) : []);
  const found = new Map();
  for (const [word, n] of said) {
    const known = words[column].get(word);
    const place = known === undefined ? model.columns.text[column].other : known;
    if (place >= 0) found.set(place, (found.get(place) || 0) + n);
  }
  return [...found].sort((a, b) => a[0] - b[0]);
}

const says = (v) => v.some((x) => x !== 0);
const greatest = (v) => v.reduce((a, b) => (b > a ? b : a), -Infinity);
function logSum(v) {
  const top = greatest(v);
  if (top === -Infinity) return top;
  let sum = 0;
  for (const x of v) sum += Math.exp(x - top);
  return top + Math.log(sum);
}

const ops = {
  constant: (n) => n.values,
  table(n, row) {
    let found = n.values;
    for (const which of n.cells) {
      const at = cellOf(row, which);
      if (at < 0) return n.missing;
      found = found[at];
    }
    return found;
  },
  normal(n, row) {
    const x = numeric(row, n.column);
    return n.peak.map((peak, c) => {
      if (x === null) return 0;
      const d = x - n.centre[c];
      return peak - Math.min(d * d * n.half[c], 1e290);
    });
  },
  words(n, row) {
    const out = n.base.slice();
    for (const [place, count] of counted(row, n.column)) {
      const times = n.binary ? (count > 0 ? 1 : 0) : count;
      for (let c = 0; c < out.length; c++) out[c] += times * n.values[place][c];
    }
    return out;
  },
  sum(n, row, of) {
    const out = of(n.parts[0]).slice();
    for (let i = 1; i < n.parts.length; i++) {
      const part = of(n.parts[i]);
      for (let c = 0; c < out.length; c++) out[c] += part[c];
    }
    return out;
  },
  scaled: (n, row, of) => of(n.part).map((v, c) => v * n.by[c]),
  clipped(n, row, of) {
    const part = of(n.part);
    return says(part) ? part.map((v) => Math.min(Math.max(v + n.shift, n.least), n.most)) : part;
  },
  pmi(n, row, of) {
    const part = of(n.part);
    if (!part.some((v, c) => v !== 0 && n.prior[c] > -Infinity)) return part.map(() => 0);
    const whole = logSum(part.map((v, c) => v + n.prior[c]));
    return part.map((v) => Math.max(v - whole, n.least));
  },
  log(n, row, of) {
    const part = of(n.part);
    return says(part) ? part.map((v) => (v > 0 ? Math.log(v) : -1e290)) : part.map(() => -Infinity);
  },
  exp: (n, row, of) => of(n.part).map(Math.exp),
  log_sigmoid: (n, row, of) => of(n.part).map((z) => Math.min(z, 0) - Math.log1p(Math.exp(-Math.abs(z)))),
  log_softmax(n, row, of) {
    const part = of(n.part), top = greatest(part);
    if (top === -Infinity) return part;
    const rest = logSum(part.map((v) => v - top));
    return part.map((v) => v - top - rest);
  },
  folded(n, row, of) {
    const part = of(n.part);
    return n.bias.map((bias, c) => part.reduce((sum, v, b) => sum + v * n.matrix[b][c], bias));
  },
  chosen(n, row, of) {
    const part = of(n.part);
    let best = n.order[0];
    for (const c of n.order) if (part[c] > part[best]) best = c;
    return part.map((v, c) => (c === best && v > -Infinity ? 0 : -Infinity));
  },
  mixture(n, row, of) {
    const parts = n.parts.map(of);
    return parts[0].map((_, c) => logSum(parts.map((part, i) => n.log_weights[i] + part[c])));
  },
  first_possible(n, row, of) {
    for (const which of n.parts.slice(0, -1)) {
      const part = of(which);
      if (greatest(part) > -Infinity) return part;
    }
    return of(n.parts[n.parts.length - 1]);
  },
  branch(n, row, of) {
    const at = cellOf(row, n.cell);
    return of(n.parts[at < 0 ? n.usual : at]);
  },
  trees(n, row) {
    const out = n.values[0].map(() => 0), cells = n.cells.map((which) => cellOf(row, which));
    const ordered = n.cells.map((which) => model.cells[which].op === "interval");
    for (let v of n.roots) {
      while (n.test[v] >= 0) {
        const at = cells[n.test[v]];
        const left = ordered[n.test[v]] ? at <= n.split[v] : n.sets[n.split[v]][at < 0 ? n.sets[0].length - 1 : at] === 1;
        v = n.child[v] + (left ? 0 : 1);
      }
      const found = n.values[n.child[v]];
      for (let c = 0; c < out.length; c++) out[c] += found[c];
    }
    return out;
  },
};

/** log P(c, x) up to a constant, in the order of `classes`. */
export function score(row) {
  const done = new Map();
  const of = (which) => {
    if (!done.has(which)) done.set(which, ops[model.nodes[which].op](model.nodes[which], row, of));
    return done.get(which);
  };
  const root = of(model.root);
  return model.order.map((place) => root[place]);
}

/** Probabilities of the classes, in the order of `classes`. */
export function predict(row) {
  const scores = score(row), top = greatest(scores);
  if (top === -Infinity) return scores.map(() => 1 / scores.length);
  const raised = scores.map((v) => Math.exp(v - top));
  const sum = raised.reduce((a, b) => a + b, 0);
  return raised.map((v) => v / sum);
}

/**
 * What the log-odds of the most probable class against the second lose when a column is missing; `base` is what the
 * model says without any column, `together` what columns say only jointly.
 */
export function explain(row) {
  const proba = predict(row);
  const ranked = proba.map((_, c) => c).sort((a, b) => proba[b] - proba[a] || a - b);
  if (ranked.length < 2) return null;
  const [label, against] = ranked;
  const odds = (given) => {
    const scores = score(given);
    const possible = scores.filter((v) => v > -Infinity);
    const floor = (possible.length ? Math.min(...possible, 0) : 0) - 745;
    const finite = scores.map((v) => (v > -Infinity ? v : floor));
    return finite[label] - finite[against];
  };
  const names = Object.keys(row).filter((name) => present(row[name]));
  const whole = odds(row), base = odds({});
  const terms = names.map((name) => {
    const rest = Object.fromEntries(names.filter((other) => other !== name).map((other) => [other, row[other]]));
    return { name, value: row[name], adds: whole - odds(rest) };
  });
  const together = whole - base - terms.reduce((sum, term) => sum + term.adds, 0);
  return { label: classes[label], against: classes[against], probability: proba[label], odds: whole, base, terms, together };
}
