// The kernels in WebAssembly and their memory: a population of codes that moves as engine `agents` moves it.
import { startGenerator, streamWords } from "./seeds.js";

const [MET, FAILED] = [1, 2]; // how a kernel ended
const [KERNEL, START] = [1, 0]; // purposes of streams
const MARKED = 1 << 25;
const LONGEST = 2 ** 30; // steps of one call
const NEVER = { marks: null, low: [[]], high: [[]], watch: 0 };

export class Machine {
  // `table` has the pairs of `states` codes, for each of `values` values of the coins; `arcs` is null on complete graphs.
  constructor(module, { states, values, table, arcs, n }) {
    this.exports = new WebAssembly.Instance(module, {}).exports;
    Object.assign(this, { states, values, n, rows: arcs ? arcs.length / 2 : 0, step: 0 });
    this.kernel = this.exports[(arcs ? "arcs" : "complete") + (values > 1 ? "_coins" : "")];
    this.place = this.exports.__heap_base.value;
    const sizes = { population: 2 * n, arcs: 8 * this.rows, rng: 32, before: 32, first: 256, second: 256, coins: 256, tried: 24,
      ended: 4, result: 8, exception: 8, generator: 80, table: 4 * table.length };
    this.at = {};
    for (const [name, size] of Object.entries(sizes)) this.at[name] = this.room(size);
    this.goalPlace = this.place;
    this.grow(this.place);
    this.view(Uint32Array, "table", table.length).set(table);
    if (arcs) this.view(Int32Array, "arcs", arcs.length).set(arcs);
    this.seek(NEVER);
  }

  room(size) {
    const at = 8 * Math.ceil(this.place / 8);
    this.place = at + size;
    return at;
  }

  grow(end) {
    const missing = end - this.exports.memory.buffer.byteLength;
    if (missing <= 0) return;
    try {
      this.exports.memory.grow(Math.ceil(missing / 65536));
    } catch {
      throw new Refusal(`this browser gives a page no ${Math.ceil(end / 1e6)} MB, which n = ${this.n} agents and their rules need; take a smaller n`);
    }
  }

  view(Kind, name, length) {
    return new Kind(this.exports.memory.buffer, this.at[name], length);
  }

  get population() {
    return this.view(Uint16Array, "population", this.n);
  }

  // Begin with these groups, [count, code] each, where code -1 stands for uniform ones.
  begin(groups, seed, trial = 0) {
    const generator = this.view(BigUint64Array, "generator", 10);
    generator.set(startGenerator(seed, [trial, START]));
    let begin = 0;
    for (const [count, code] of groups) {
      if (code >= 0) this.population.fill(code, begin, begin + count);
      else this.exports.draw_states(this.at.result, this.at.exception, this.at.generator, this.states, this.at.population, begin, begin + count);
      begin += count;
    }
    if (begin !== this.n) throw new Refusal(`this start has ${begin} agents, and n = ${this.n}`);
    this.view(Uint32Array, "rng", 8).set(streamWords(seed, [trial, KERNEL], 8));
    this.step = this.made = 0;
    this.recount();
  }

  // Look for this: `marks` has a row of bits for every code, one for each condition; a run stops where the number of
  // agents that meet each condition lies in a row of bounds, or, with `watch`, where the first one changes for an agent.
  seek(goal) {
    if (goal === this.goal) return;
    const conditions = goal.marks ? goal.marks.length / this.states : 0;
    const [before, rows] = [this.goal?.marks ?? null, goal.low.length];
    this.place = this.goalPlace;
    this.conditions = conditions;
    const sizes = { counts: 8 * conditions, low: 8 * rows * conditions, high: 8 * rows * conditions, mark: this.states * conditions };
    for (const [name, size] of Object.entries(sizes)) this.at[name] = this.room(size);
    this.grow(this.place);
    this.goal = goal;
    if (goal.marks) {
      this.view(Uint8Array, "mark", goal.marks.length).set(goal.marks);
      for (const name of ["low", "high"]) this.view(BigInt64Array, name, rows * conditions).set(goal[name].flat().map(BigInt));
    }
    if (goal.marks !== before) this.mark(goal.marks, conditions);
    this.recount();
  }

  // Flag the pairs that change what is counted.
  mark(marks, conditions) {
    const table = this.view(Uint32Array, "table", this.values * this.states ** 2);
    const kinds = new Map(); // rows of marks as numbers
    const kind = new Int32Array(this.states);
    for (let code = 0; code < this.states && marks; code++) {
      const row = marks.subarray(code * conditions, (code + 1) * conditions).join("");
      kind[code] = kinds.has(row) ? kinds.get(row) : kinds.set(row, kinds.size).size - 1;
    }
    for (let coin = 0, place = 0; coin < this.values; coin++) {
      for (let a = 0; a < this.states; a++) {
        for (let b = 0; b < this.states; b++, place++) {
          const entry = table[place];
          if (!entry) continue; // this pair fails
          const changed = kind[a] !== kind[(entry >>> 12) & 4095] || kind[b] !== kind[entry & 4095];
          table[place] = changed ? entry | MARKED : entry & ~MARKED;
        }
      }
    }
  }

  // How many agents are in each state.
  census() {
    const counts = new Uint32Array(this.states);
    const population = this.population;
    for (let agent = 0; agent < population.length; agent++) counts[population[agent]] += 1;
    return counts;
  }

  // How many agents meet each condition.
  recount() {
    if (!this.conditions) return;
    const [numbers, { marks }] = [this.census(), this.goal];
    const counts = this.view(BigInt64Array, "counts", this.conditions);
    for (let k = 0; k < this.conditions; k++) {
      let sum = 0;
      for (let code = 0; code < this.states; code++) if (marks[code * this.conditions + k]) sum += numbers[code];
      counts[k] = BigInt(sum);
    }
  }

  // Whether the goal, bounds of counts, is met now.
  get holds() {
    const counts = Array.from(this.view(BigInt64Array, "counts", this.conditions), Number);
    const { low, high } = this.goal;
    return low.some((row, k) => counts.every((count, j) => row[j] <= count && count <= high[k][j]));
  }

  // Advance to a step, or to the first one that meets the goal; returns whether it is met.
  advance(limit) {
    while (this.step < limit) {
      this.made = this.move(Math.min(limit - this.step, LONGEST));
      this.step += this.made;
      const ended = this.view(Int32Array, "ended", 1)[0];
      if (ended === MET) return true;
      if (ended === FAILED) {
        const [first, second] = this.view(BigInt64Array, "tried", 3);
        throw new Refusal(`the rules fail where agents ${first} and ${second} meet; hegemon run says why`);
      }
    }
    return false;
  }

  // One call of the kernel: the steps made. Kernels of Numba write their result to an address, and return a status.
  move(budget) {
    const { at, goal } = this;
    const status = this.kernel(at.result, at.exception, at.population, this.n, at.arcs, this.rows, at.rng, at.before, this.values,
      at.first, at.second, at.coins, at.counts, this.conditions, at.low, at.high, goal.low.length, goal.watch, at.tried, at.table,
      at.mark, this.states, budget, at.ended);
    if (status) throw new Error(`a kernel returned the status ${status}`);
    return this.view(Int32Array, "result", 1)[0];
  }

  // Initiator, responder and coins of the last step.
  lastMeeting() {
    if (!this.made) return null;
    const place = (this.made - 1) % 32;
    return ["first", "second", "coins"].map((name) => Number(this.view(BigInt64Array, name, 32)[place]));
  }

  snapshot() {
    return { step: this.step, population: this.population.slice(), rng: this.view(Uint32Array, "rng", 8).slice() };
  }

  restore(snapshot) {
    this.step = snapshot.step;
    this.made = 0;
    this.population.set(snapshot.population);
    this.view(Uint32Array, "rng", 8).set(snapshot.rng);
    this.recount();
  }
}

// A sentence for the reader of the page.
export class Refusal extends Error {}
