// Rules that are typed on the page, read as `hegemon.rules` reads reactions, with the same refusals; and the protocol that
// they are, as a laboratory needs it.
import { Refusal } from "./machine.js";

const MOST_STATES = 1000;
const MOST_ENTRIES = 2 ** 22; // of a table of pairs
const [LONGEST_VALUE, MOST_BITS] = [300, 1000];
const [MOST_LEAST_COUNTS, MOST_PRODUCT] = [200, 2000];
const ARROWS = /<->|<=>|⇌|->|>>|→/g;
const REVERSIBLE = ["<->", "<=>", "⇌"];
const TERM = /^(?:(\d+)\s*\*?\s*)?([^\s\d+,@*][^\s+,@]*|\d+)$/u;
const LINES = /\r\n|[\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029]/;
const KINDS = 8; // of states that have colours of their own

// -- fractions: [numerator, denominator], in lowest terms

const gcd = (a, b) => { while (b) [a, b] = [b, a % b]; return a < 0n ? -a : a; };
const fraction = (a, b) => { const common = gcd(a, b) || 1n; return [a / common, b / common]; };
const plus = ([a, b], [c, d]) => fraction(a * d + c * b, b * d);
const over = ([a, b], [c, d]) => fraction(a * d, b * c);
const isMore = ([a, b], [c, d]) => a * d > c * b;
const bits = (number) => (number < 0n ? -number : number).toString(2).length;

// A text such as 2, 0.25, 1e-4 or 1/3, as Python's fractions read it; null if it is none.
function fractionOf(text) {
  if (text.length > LONGEST_VALUE || /[eE][+-]?[\d_]{5}/.test(text)) return null;
  const digits = "\\d+(?:_\\d+)*";
  const ratio = new RegExp(`^([+-]?)(${digits})(?:/(${digits}))?$`).exec(text);
  const decimal = new RegExp(`^([+-]?)(${digits})?(?:\\.(${digits})?)?(?:[eE]([+-]?${digits}))?$`).exec(text);
  const whole = (word) => BigInt((word || "0").replaceAll("_", ""));
  let found;
  if (ratio) {
    if (ratio[3] && !whole(ratio[3])) return null;
    found = fraction(whole(ratio[2]), ratio[3] ? whole(ratio[3]) : 1n);
  } else if (decimal && (decimal[2] || decimal[3])) {
    const after = (decimal[3] || "").replaceAll("_", "");
    const power = Number((decimal[4] || "0").replaceAll("_", "")) - after.length;
    const all = BigInt((decimal[2] || "").replaceAll("_", "") + after);
    found = power >= 0 ? [all * 10n ** BigInt(power), 1n] : fraction(all, 10n ** BigInt(-power));
  } else return null;
  if (Math.max(bits(found[0]), bits(found[1])) > MOST_BITS) return null;
  return (ratio ?? decimal)[1] === "-" ? [-found[0], found[1]] : found;
}

// A text as Python writes it.
function repr(text) {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  const inner = text.replaceAll("\\", "\\\\").replaceAll("\t", "\\t").replaceAll(quote, `\\${quote}`);
  return quote + inner + quote;
}

const firstLetters = (text, count) => [...text].slice(0, count).join("");

function rate(text, what) {
  const value = fractionOf(text.replaceAll(" ", ""));
  if (value === null || value[0] < 0n) throw new Refusal(`${what} is ${firstLetters(repr(text), 40)}; give a number such as 2 or 1/3`);
  return value;
}

// -- reactions

function agents(side, where) {
  const found = [];
  let inside = side.trim();
  if (inside.startsWith("(")) inside = inside.slice(1);
  if (inside.endsWith(")")) inside = inside.slice(0, -1);
  for (const part of inside.split(/[+,]/)) {
    const match = TERM.exec(part.trim());
    if (!match) throw new Refusal(`${where}: ${repr(part.trim())} is no state; write names such as L or F, or 2 U for two`);
    const many = Math.min(Number(match[1] || 1), 9);
    if (match[2] !== "∅") for (let k = 0; k < many; k++) found.push(match[2]);
  }
  return found;
}

function reaction(said, where) {
  const at = said.indexOf("@");
  const [body, rates] = at < 0 ? [said, ""] : [said.slice(0, at), said.slice(at + 1)];
  const arrows = [...body.matchAll(ARROWS)];
  if (arrows.length !== 1) throw new Refusal(`${where}: write one reaction on a line, such as L + L -> L + F`);
  const [arrow] = arrows;
  const [left, right] = [body.slice(0, arrow.index), body.slice(arrow.index + arrow[0].length)];
  const [before, after] = [agents(left, where), agents(right, where)];
  if (before.length !== 2) {
    const who = before.length === 1 ? "one agent changes alone" : `${before.length} agents meet`;
    throw new Refusal(`${where}: ${who}, and in a population protocol two agents meet and both may change`);
  }
  if (after.length !== 2) {
    throw new Refusal(`${where}: two agents become ${after.length}, and in a population protocol agents neither appear nor vanish`);
  }
  const backwards = REVERSIBLE.includes(arrow[0]);
  const given = rates ? rates.split(",").map((one) => rate(one, `${where}: the rate`)) : [];
  if (given.length > 1 + backwards || (backwards && given.length === 1)) {
    throw new Refusal(`${where}: give ${backwards ? "two rates, such as @ 2, 1" : "one rate, such as @ 2"}`);
  }
  const [forth, back] = [...given, [1n, 1n], [1n, 1n]];
  const rows = [{ before, after, rate: forth, ordered: left.includes(","), where }];
  if (backwards) rows.push({ before: after, after: before, rate: back, ordered: left.includes(","), where });
  return { rows, rated: given.length > 0 };
}

const keyOf = (pair) => pair.join("\n"); // no name has a line break

// The outcomes of every pair: its key -> { pair, outcomes: key -> { after, chance, line } }.
function reactions(text) {
  const [rows, told] = [[], new Map()];
  let withRates = false;
  text.split(LINES).forEach((line, k) => {
    const said = line.split("#")[0].trim().replace(/;+$/, "");
    if (!said) return;
    const found = reaction(said, `line ${k + 1}, \`${firstLetters(said, 60)}\``);
    rows.push(...found.rows.map((row) => ({ ...row, line: k + 1 })));
    withRates ||= found.rated;
  });
  for (const { before, after, rate: speed, ordered, where, line } of rows) {
    const ways = [[before, after]];
    if (!ordered && before[0] !== before[1]) ways.push([[...before].reverse(), [...after].reverse()]);
    for (const [pair, result] of ways) {
      if (!told.has(keyOf(pair))) told.set(keyOf(pair), { pair, outcomes: new Map() });
      const { outcomes } = told.get(keyOf(pair));
      if (outcomes.size && !withRates) {
        throw new Refusal(`${where}: ${pair.join(" and ")} have an outcome already; give all reactions rates, such as @ 1/2, if both are meant`);
      }
      const known = outcomes.get(keyOf(result));
      outcomes.set(keyOf(result), { after: result, chance: plus(known?.chance ?? [0n, 1n], speed), line: known?.line ?? line });
    }
  }
  if (!told.size) throw new Refusal("there is no reaction; write one on each line, such as L + L -> L + F");
  let fastest = [0n, 1n];
  for (const { outcomes } of told.values()) {
    const sum = [...outcomes.values()].reduce((total, { chance }) => plus(total, chance), [0n, 1n]);
    if (isMore(sum, fastest)) fastest = sum;
  }
  if (fastest[0] <= 0n) throw new Refusal("all rates are 0; give at least one that is not");
  for (const found of told.values()) {
    const likely = [...found.outcomes].filter(([, { chance }]) => chance[0]);
    found.outcomes = new Map(likely.map(([key, one]) => [key, { ...one, chance: over(one.chance, fastest) }]));
  }
  return told;
}

const listed = (names) => names.slice(0, 12).join(", ") + (names.length > 12 ? ` and ${names.length - 12} more` : "");

// The start as shares of states: `L`, or `A = 51, B = 49`; empty: all agents in the first state.
export function readStart(text) {
  if (!text.trim()) return null;
  if (!/[=,]/.test(text)) return [[text.trim(), "1"]];
  return text.split(",").map((part) => {
    const [state, share] = part.split("=").map((word) => word.trim());
    if (!state || !share) throw new Refusal(`the start ${repr(part.trim())} is not understood; write a state, or shares such as A = 51, B = 49`);
    return [state, share];
  });
}

function sharesOf(start, known) {
  if (start === null) return known.length ? [[known[0], 1n]] : [];
  const exact = start.map(([state, share]) => [state, rate(share, `the start of ${repr(state)}`)]);
  const total = exact.reduce((sum, [, share]) => plus(sum, share), [0n, 1n]);
  if (!exact.length || total[0] <= 0n) throw new Refusal("the start has no agents; give a state, or shares such as {'A': 51, 'B': 49}");
  for (const [state] of exact) {
    if (known.length && !known.includes(state)) {
      throw new Refusal(`the start names ${repr(state)}, which is not a state of these rules; the states are ${listed(known)}`);
    }
  }
  const scale = exact.reduce((common, [, [, below]]) => (common * below) / gcd(common, below), 1n);
  return exact.map(([state, [above, below]]) => [state, (above * scale) / below]).filter(([, share]) => share);
}

// What `hegemon.rules(text, start=…, leader=…)` makes of a text: states, rules, leaders, shares of the start.
export function readRules(text, start = null, leader = null) {
  const told = reactions(text);
  const order = new Set();
  for (const { pair, outcomes } of told.values()) {
    pair.forEach((state) => order.add(state));
    for (const { after } of outcomes.values()) after.forEach((state) => order.add(state));
  }
  const shares = sharesOf(start, [...order]);
  const names = [...order];
  if (names.length < 2) throw new Refusal(`these rules have one state, ${repr(names[0])}; a protocol needs two`);
  if (names.length > MOST_STATES) {
    throw new Refusal(`these rules have ${names.length.toLocaleString("en")} states; at most ${MOST_STATES.toLocaleString("en")} fit a table: write a class`);
  }
  const index = new Map(names.map((name, k) => [name, k]));
  const rules = [...told.values()].map(({ pair, outcomes }) => ({
    pair: pair.map((name) => index.get(name)),
    outcomes: [...outcomes.values()].map(({ after, chance, line }) => ({ after: after.map((name) => index.get(name)), chance, line })),
  })).filter(({ pair, outcomes }) => outcomes.some(({ after }) => after.join() !== pair.join()));
  if (!rules.length) throw new Refusal("no rule changes anything; give one that does, such as ('L', 'L'): ('L', 'F')");
  const leaders = leader ?? names.filter((name) => name === "L" || name === "leader");
  for (const name of leaders) {
    if (!index.has(name)) throw new Refusal(`leader = ${repr(name)} is not a state of these rules; the states are ${listed(names)}`);
  }
  const whole = rules.flatMap(({ outcomes }) => outcomes.map(({ chance }) => chance[1])).reduce((common, below) => (common * below) / gcd(common, below), 1n);
  return { names, rules, leaders: [...new Set(leaders.map((name) => index.get(name)))].sort((a, b) => a - b), denominator: whole,
    start: shares.map(([state, share]) => [index.get(state), share]) };
}

// -- what a laboratory needs

// What all pairs become for every value of the coin, and the lines that say so.
function tableOf({ names, rules, denominator }) {
  const states = names.length;
  if (BigInt(states ** 2) * denominator > BigInt(MOST_ENTRIES)) {
    throw new Refusal(`the table of these rules is too large for a live page: ${states.toLocaleString("en")} states and ${denominator} values of the coin; at most ${MOST_ENTRIES.toLocaleString("en")} pairs are allowed`);
  }
  const values = Number(denominator);
  const [table, lines] = [new Uint32Array(values * states ** 2), new Uint16Array(values * states ** 2)];
  for (let coin = 0, place = 0; coin < values; coin++) {
    for (let a = 0; a < states; a++) for (let b = 0; b < states; b++) table[place++] = (1 << 24) | (a << 12) | b;
  }
  for (const { pair: [a, b], outcomes } of rules) {
    let coin = 0;
    for (const { after: [x, y], chance: [above, below], line } of outcomes) {
      for (const last = coin + Number((above * denominator) / below); coin < last; coin++) {
        const place = (coin * states + a) * states + b;
        table[place] = (1 << 24) | (x << 12) | y;
        lines[place] = line;
      }
    }
  }
  return { table, lines, values };
}

// The least counts from which an output can still change, on complete graphs; null if there are too many to list.
function unsettled({ names, rules, leaders }) {
  const changes = rules.flatMap(({ pair, outcomes }) => outcomes.map(({ after }) => [pair, after]).filter(([, after]) => after.join() !== pair.join()));
  if (names.length * changes.length > MOST_PRODUCT) return null;
  const unit = (pair) => names.map((_, k) => pair.filter((state) => state === k).length);
  const outputs = (pair) => pair.map((state) => leaders.includes(state)).join();
  const covers = (counts, other) => counts.every((count, k) => count >= other[k]);
  const waiting = changes.filter(([pair, after]) => (leaders.length ? outputs(pair) !== outputs(after) : true)).map(([pair]) => unit(pair));
  let least = [];
  while (waiting.length) {
    const counts = waiting.pop();
    if (least.some((other) => covers(counts, other))) continue;
    least = [...least.filter((other) => !covers(other, counts)), counts];
    if (least.length > MOST_LEAST_COUNTS) return null;
    for (const [pair, after] of changes) {
      const [gained, met] = [unit(after), unit(pair)];
      waiting.push(counts.map((count, k) => Math.max(0, count - gained[k]) + met[k]));
    }
  }
  return least;
}

// Content and greeting of rules on a complete graph, beside the greeting of the page.
export function protocolOf(read, text, greeting) {
  const { names, leaders, start } = read;
  const { table, lines, values } = tableOf(read);
  const least = unsettled(read);
  const isLeader = names.map((_, k) => Number(leaders.includes(k)));
  const total = start.reduce((sum, [, share]) => sum + share, 0n);
  const startName = start.length === 1 ? "uniform" : "given";
  const groups = (n) => {
    let before = 0n;
    return start.map(([state, share]) => {
      const from = (BigInt(n) * before) / total;
      before += share;
      return [Number((BigInt(n) * before) / total - from), state];
    });
  };
  const sizeOf = (n) => ({
    bounds: { safe: leaders.length ? { low: [[1]], high: [[1]] } : { low: [[]], high: [[]] } },
    starts: { [startName]: { groups: groups(n) }, random: { groups: [[n, -1]] } },
  });
  const kinds = [...lines].reduce((found, line) => found.add(line), new Set([0]));
  const numbered = [...kinds];
  const content = {
    states: names.map((state) => ({ state })), values, unit: "steps", sizeOf, isComplete: true, inputs: null, inputNames: [], labels: null,
    coins: Array.from({ length: values }, (_, k) => (values === 1 ? {} : values === 2 ? { heads: k } : { draw: k + 1 })),
    output: leaders.length ? isLeader.map((bit) => [bit]) : null, writes: {},
    sets: { safe: { marks: leaders.length ? isLeader.map((bit) => [bit]) : [], whole: leaders.length ? least === null || least.length > 0 : true, least } },
    observables: leaders.length ? { leaders: { reduce: "count", values: isLeader } } : {},
    lines: { kinds: numbered.map((line) => (line ? [["rules", line]] : [])), places: Array.from(lines, (line) => numbered.indexOf(line)) },
    command: "hegemon run rules.py:Rules --n 2 --start uniform --until steps:0 --seed 0 --engine agents",
  };
  const safe = least === null && leaders.length ? "exactly one leader, who may still lose it" : leaders.length ? "one leader, and no output ever changes" : "no state ever changes";
  const channels = [];
  if (leaders.length) channels.push({ part: "leader", name: "output", labels: ["", "leader"], colours: [null, null] });
  const kindNames = names.length > KINDS ? [...names.slice(0, KINDS - 1), "others"] : names;
  channels.push({ part: "class", name: "state", labels: kindNames, colours: kindNames.map(() => null) });
  const looks = Uint8Array.from(names, (_, k) => (leaders.length ? isLeader[k] * kindNames.length : 0) + Math.min(k, kindNames.length - 1));
  const palette = (ground) => {
    const chosen = greeting.palette[ground];
    const bytes = (lead) => chosen.bytes.slice(lead * KINDS, lead * KINDS + kindNames.length);
    return { ...chosen, bytes: leaders.length ? [...bytes(0), ...bytes(1)] : bytes(0) };
  };
  const shown = {
    ...greeting, protocol: "Rules", name: "Rules", summary: `${text.split(LINES).filter((line) => line.split("#")[0].trim()).slice(0, 6).join("; ")}.`,
    reference: "", parameters: {}, graph: "complete", directed: false, channels, looks: { light: palette("light"), dark: palette("dark") },
    fields: { state: { low: 0, high: names.length - 1, names } }, sets: { safe }, observables: leaders.length ? { leaders: "agents that are leaders" } : {},
    listing: [{ name: "rules", first: 1, lines: text.split(LINES) }], hasOutput: leaders.length > 0, writable: ["number", "state"],
    choices: { ...greeting.choices, protocol: "Rules", sizes: [], starts: { [startName]: "the start of the rules", random: "every agent uniform over all states" }, start: startName },
    setup: { ...greeting.setup, protocol: "Rules", parameters: {} }, protocols: { Rules: "" }, canChoose: false, start: startName, n: 0,
  };
  return { content, greeting: shown, arrays: { table, looks, arcs: new Int32Array(0) } };
}

// The lines whose states no agent ever has, from this start.
export function idleLines({ rules, start }) {
  const reached = new Set(start.map(([state]) => state));
  const isMet = ({ pair }) => pair.every((state) => reached.has(state));
  for (let before = -1; before < reached.size;) {
    before = reached.size;
    for (const { outcomes } of rules.filter(isMet)) for (const { after } of outcomes) after.forEach((state) => reached.add(state));
  }
  const linesOf = (some) => new Set(some.flatMap(({ outcomes }) => outcomes.map(({ line }) => line)));
  const used = linesOf(rules.filter(isMet));
  return [...linesOf(rules)].filter((line) => !used.has(line)).sort((a, b) => a - b);
}

// The rules as a Python file, which `hegemon check` accepts.
export function fileOf(text, start, leader) {
  const written = (value) => JSON.stringify(value);
  const lines = text.split(LINES).map((line) => `        ${written(line)},`).join("\n");
  const shares = start ? `{${start.map(([state, share]) => `${written(state)}: ${written(share)}`).join(", ")}}` : "None";
  return `"""Rules that were typed on a live page."""\n\nfrom hegemon import rules\n\nRules = rules(\n    [\n${lines}\n    ],\n    start=${shares},\n    leader=${leader ? `[${leader.map(written).join(", ")}]` : "None"},\n    name="Rules",\n)\n`;
}
