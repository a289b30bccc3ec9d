// A run without a server: its time line, its disturbances, and all that a frame shows. What a session is in Python.
import { Machine, Refusal } from "./machine.js";
import { streamWords } from "./seeds.js";

const [MOST_SNAPSHOTS, MOST_BYTES] = [64, 128e6];
const BETWEEN = 250; // milliseconds of work between two snapshots
const SLICE = 12; // milliseconds of a jump between two looks for commands
const [PATIENCE, LONGEST_JUMP] = [5000, 30000]; // milliseconds of a search for a change, of any other jump
const POINTS = 400; // of the curves
const FAR = 2 ** 53 - 1;
const [LONGEST_RUN, SIDE_BY_SIDE, SAMPLES] = [1e9, 12, 300]; // steps of one of many runs; runs with a curve, and its points
const [MOST_TRIED, SHOWN] = [20000, 40]; // outcomes of which the next one is chosen, and rows of their list
const [ROOM, ROOM_EACH] = [1 << 20, 64]; // bytes for arrays that such a function makes, at all and for each agent
const LARGEST_WHOLE = 200000; // agents of whom a function of all of them is evaluated
const LARGEST_MURDER = 10000;
const MOST_AGENTS = 1e7;
const FAULT = 2; // the purpose of a stream

export class Laboratory {
  constructor(module, content, { table, arcs, looks }) {
    Object.assign(this, { module, content, table, looks, arcs: content.isComplete ? null : arcs });
    this.codes = new Map(content.states.map((state, code) => [JSON.stringify(state), code]));
    const marks = (rows) => (rows ? Uint8Array.from(rows.flat()) : null);
    this.output = marks(content.output);
    this.setMarks = Object.fromEntries(Object.entries(content.sets).map(([name, { marks: rows }]) => [name, marks(rows)]));
    this.wholes = wholesOf(content);
    this.branch = 0;
    this.writing = "";
  }

  // What differs between populations of different size; nothing for an n that is not on this page.
  sizeOf(n) {
    const { sizeOf, sizes } = this.content;
    if (!sizeOf) return sizes[n];
    if (!(n >= 2 && n <= MOST_AGENTS)) throw new Refusal(`n = ${n} is out of range; take a whole number in 2..${MOST_AGENTS.toLocaleString("en")}`);
    return sizeOf(n);
  }

  // A new run; `groups` are those of a configuration that was dropped onto the page.
  begin({ n, start, seed }, groups) {
    const size = this.sizeOf(n);
    if (!size && !groups) throw new Refusal(`n = ${n} is not on this page; choose one of ${Object.keys(this.content.sizes).join(", ")}`);
    const chosen = groups ? { groups } : size.starts[start];
    if (!chosen) throw new Refusal(`with n = ${n} this page has no start ${start}; choose one of ${Object.keys(size.starts).join(", ")}`);
    if (chosen.seed !== undefined && chosen.seed !== String(seed)) {
      throw new Refusal(`the start ${start} was drawn by Python with seed ${chosen.seed}; write this seed, or make another page`);
    }
    if (this.machine?.n !== n) {
      this.machine = new Machine(this.module, { states: this.content.states.length, values: this.content.values, table: this.table, arcs: this.arcs, n });
    }
    Object.assign(this, { n, start, seed, groups: chosen.groups, isDrawn: chosen.seed !== undefined, bounds: (size ?? this.sizeOf(this.n)).bounds });
    this.goals = this.makeGoals();
    this.machine.seek(this.goals.quiet);
    this.machine.begin(chosen.groups, seed);
    Object.assign(this, { chosen: new Map(), storyStart: null, faults: [], applied: 0, snapshots: [], rows: [], spacing: 0, last: {}, note: "", worked: 0, rate: 0, victims: 1 });
    this.branch += 1;
    this.random = xorshift(streamWords(seed, [0, FAULT], 4));
    this.healing = new Map();
    this.since = 0;
    this.size = Math.max(1024, Math.floor(n / 1000));
    this.outside = null;
    this.keep();
    this.outside = { snapshot: this.machine.snapshot(), applied: 0 };
  }

  // What runs look for: nothing, a change of an output, or a set of counts.
  makeGoals() {
    const never = { low: [[1]], high: [[0]] };
    const goals = { quiet: { marks: this.output, ...(this.output ? never : { low: [[]], high: [[]] }), watch: 0 } };
    if (this.output) goals.loud = { marks: this.output, ...never, watch: 1 };
    for (const [name, marks] of Object.entries(this.setMarks)) {
      if (marks.length && !this.content.sets[name].whole) goals[name] = { marks, ...this.bounds[name], watch: 0 };
    }
    return goals;
  }

  get step() { return this.machine.step; }

  moment(step) { return `${this.content.unit.slice(0, -1)} ${step.toLocaleString("en")}`; }

  // -- time

  nextFault() { return this.applied < this.faults.length ? this.faults[this.applied].step : FAR; }

  // Advance to a step with all disturbances on the way; earlier if the deadline passes. With `told`, the last step is described.
  advance(target, deadline = Infinity, told = false) {
    const begin = performance.now();
    this.last = {};
    while (this.step < target) {
      this.planFault();
      const goal = Math.min(target, this.nextFault(), this.nextChosen());
      if (this.chosen.has(this.step)) this.last = this.followChosen();
      else if (told && this.step === goal - 1) this.last = this.toldStep();
      else this.chunk(goal - (told && goal === target ? 1 : 0));
      if (this.apply()) this.last = {};
      if (performance.now() >= deadline) break;
    }
    this.worked += performance.now() - begin;
    if (this.worked > BETWEEN) this.keep();
  }

  // -- steps that a visitor chose

  nextChosen() {
    let next = FAR;
    for (const step of this.chosen.keys()) if (step > this.step && step < next) next = step;
    return next;
  }

  // The step after the uninterrupted series of chosen steps.
  get storyEnd() {
    let end = this.storyStart?.begin ?? 0;
    while (this.chosen.has(end)) end += 1;
    return end;
  }

  followChosen() {
    const [i, j, coin] = this.chosen.get(this.step);
    const { machine } = this;
    const before = [machine.population[i], machine.population[j]];
    [machine.population[i], machine.population[j]] = this.after(before, coin);
    machine.step += 1;
    machine.made = 0;
    machine.recount();
    this.outside = null; // a replay with drawn steps would not repeat it
    return this.told([i, j], before, coin);
  }

  // What two states become.
  after([a, b], coin) {
    const states = this.content.states.length;
    const entry = this.table[(coin * states + a) * states + b];
    if (!entry) throw new Refusal("the rules fail for these two states; hegemon run says why");
    return [(entry >>> 12) & 4095, entry & 4095];
  }

  // Make this step instead of a drawn one; a new future begins.
  choose(pair, coin) {
    const begin = this.step;
    this.after(pair.map((agent) => this.machine.population[agent]), coin);
    const story = this.storyStart;
    const goesOn = story && story.begin <= begin && begin <= this.storyEnd && story.faults === this.applied;
    const codes = this.machine.population.slice();
    this.forgetFuture();
    this.chosen.set(begin, [...pair, coin]);
    this.advance(begin + 1);
    this.storyStart = goesOn ? story : { begin, codes, faults: this.applied };
    this.branch += 1;
  }

  forgetFuture() {
    const { step } = this;
    this.faults = this.faults.slice(0, this.applied);
    for (const at of this.chosen.keys()) if (at >= step) this.chosen.delete(at);
    if (this.storyStart && this.storyStart.begin >= step) this.storyStart = null;
    this.snapshots = this.snapshots.filter(({ snapshot, applied }) => snapshot.step <= step && applied <= this.applied);
    for (const applied of this.healing.keys()) if (applied > this.applied) this.healing.delete(applied);
    this.rows = this.rows.filter(([at]) => at <= step);
  }

  // What may happen next, of all pairs or of one: meetings of the same states with the same result are one row.
  successors(pair) {
    const { content, n, arcs, machine: { population } } = this;
    const tried = (arcs ? arcs.length / 2 : n * (n - 1)) * content.values;
    if (!pair && tried > MOST_TRIED) {
      throw new Refusal(`${tried.toLocaleString("en")} things may happen next, and at most ${MOST_TRIED.toLocaleString("en")} are listed; choose by clicking`);
    }
    const rows = new Map();
    let pairs = 0;
    const meet = (i, j) => {
      pairs += 1;
      for (let coin = 0; coin < content.values; coin++) {
        const before = [population[i], population[j]];
        const after = this.after(before, coin);
        const key = [...before, ...after].join();
        if (!rows.has(key)) rows.set(key, { before, after, choose: { pair: [i, j], coin }, ways: 0, met: new Set() });
        const row = rows.get(key);
        row.ways += 1;
        row.met.add(i * n + j);
      }
    };
    if (pair) meet(...this.joined(pair));
    else if (arcs) for (let k = 0; k < arcs.length; k += 2) meet(arcs[k], arcs[k + 1]);
    else for (let i = 0; i < n; i++) for (let j = 0; j < n; j++) if (i !== j) meet(i, j);
    const found = [...rows.values()].map(({ before, after, choose, ways, met }) => {
      const more = met.size > 1 ? ` (and ${met.size - 1} other pairs)` : "";
      const all = pairs * content.values;
      const common = divisor(ways, all);
      const share = ways === all ? "1" : `${ways / common}/${all / common}`;
      return { text: `${choose.pair[0]} → ${choose.pair[1]}${more}: ${this.told(choose.pair, before, choose.coin).text}`, probability: ways / all, share,
        choose, changes: before.join() !== after.join() };
    });
    found.sort((a, b) => a.changes === b.changes ? b.probability - a.probability : Number(b.changes) - Number(a.changes));
    return { successors: found.slice(0, SHOWN), more: Math.max(0, found.length - SHOWN), moment: [this.branch, this.step] };
  }

  joined([i, j]) {
    const isArc = !this.arcs || this.arcs.some((_, k) => k % 2 === 0 && this.arcs[k] === i && this.arcs[k + 1] === j);
    if (i === j || !isArc) throw new Refusal(`agents ${i} and ${j} are not joined by an arc of ${this.graph}; choose two that are`);
    return [i, j];
  }

  get graph() { return this.content.isComplete ? `complete:${this.n}` : this.content.story.graph; }

  // The chosen steps and the configuration before them, as `hegemon run --start` reads them.
  story() {
    if (!this.storyStart) throw new Refusal("nothing was chosen yet; choose what happens next, and the story is written");
    const { states, coins, story } = this.content;
    const { begin, codes: start } = this.storyStart;
    const codes = start.slice();
    const [interactions, lines] = [[], Array.from(start, (code, agent) => `agent ${agent}: ${short(states[code])}`)];
    for (let step = begin; step < this.storyEnd; step++) {
      const [i, j, coin] = this.chosen.get(step);
      const before = [codes[i], codes[j]];
      [codes[i], codes[j]] = this.after(before, coin);
      const shown = coins[coin];
      interactions.push(shown && Object.keys(shown).length ? [i, j, shown] : [i, j]);
      lines.push(`step ${interactions.length}: ${this.told([i, j], before, coin).text}`);
    }
    return { ...story, graph: this.graph, agents: Array.from(start, (code) => states[code]), interactions, story: lines };
  }

  // As many steps as take a few milliseconds.
  chunk(goal) {
    const [begin, before] = [this.step, performance.now()];
    this.machine.advance(Math.min(goal, begin + this.size));
    if (this.step - begin < this.size) return;
    const spent = performance.now() - before;
    if (spent > 2 * SLICE) this.size = Math.max(1, Math.floor(this.size / 2));
    else if (spent < SLICE / 2) this.size *= 2;
  }

  toldStep() {
    const { machine } = this;
    const before = machine.n <= 3000 ? machine.population.slice() : null;
    machine.advance(this.step + 1);
    const met = machine.lastMeeting();
    if (!met || !before) return {};
    const [first, second, coin] = met;
    return this.told([first, second], [before[first], before[second]], coin);
  }

  // A meeting of two states in words, and its lines of source.
  told(pair, [a, b], coin) {
    const states = this.content.states;
    const entry = this.table[(coin * states.length + a) * states.length + b];
    const after = [(entry >>> 12) & 4095, entry & 4095];
    const change = ["initiator", "responder"].map((role, k) => `${role} ${pair[k]}: ${difference(states[[a, b][k]], states[after[k]])}`);
    const coins = this.content.coins[coin];
    if (coins && Object.keys(coins).length) change.push(`coins ${short(coins)}`);
    const { lines } = this.content;
    return { pair, text: change.join("; "), lines: lines ? lines.kinds[lines.places[(coin * states.length + a) * states.length + b]] : [],
      changed: after[0] !== a || after[1] !== b };
  }

  // A jump to any step, in slices.
  *jump(target) {
    if (!(target >= 0 && target <= FAR)) throw new Refusal(`there is no such step; the last one is ${FAR.toLocaleString("en")}`);
    if (target < this.step) {
      const kept = this.snapshots.filter(({ snapshot }) => snapshot.step <= target).pop();
      this.applied = kept.applied;
      this.machine.restore(kept.snapshot);
      this.last = {};
      this.since = Math.max(0, ...this.faults.slice(0, this.applied).map((fault) => fault.step));
      this.outside = null;
      this.apply();
    }
    const deadline = performance.now() + LONGEST_JUMP;
    while (this.step < target) {
      if (performance.now() > deadline) {
        this.note = `after ${LONGEST_JUMP / 1000} seconds at ${this.moment(this.step)}, on the way to ${target.toLocaleString("en")}`;
        return false;
      }
      this.advance(target, performance.now() + SLICE, true);
      yield;
    }
    return this.step === target;
  }

  // A jump to the next change of an output.
  *jumpToChange() {
    const chosen = Math.max(-1, ...this.chosen.keys()) + 1;
    if (chosen > this.step) yield* this.jump(chosen);
    if (!this.output) throw new Refusal("there is no output, so no change of it can be looked for");
    this.planFault();
    const [begin, deadline, limit] = [this.step, performance.now() + PATIENCE, this.nextFault()];
    let met = false;
    try {
      this.machine.seek(this.goals.loud);
      while (!met && this.step < limit && performance.now() < deadline) {
        met = this.machine.advance(Math.min(limit, this.step + 1e6));
        if (!met) yield;
      }
    } finally {
      this.machine.seek(this.goals.quiet);
    }
    this.apply();
    this.last = {};
    this.keep();
    if (met && this.step > begin) { // repeat the last step, to get its description
      const { step } = this;
      if (yield* this.jump(step - 1)) this.advance(step, Infinity, true);
    }
    this.note = met ? "" : `no output changed up to ${this.moment(this.step)}`;
    return met;
  }

  // Keep a snapshot of the present; if there are too many, drop every second one, but never the first.
  keep() {
    this.worked = 0;
    const { step, applied } = this;
    this.snapshots = this.snapshots.filter(({ snapshot, applied: faults }) => snapshot.step !== step || faults !== applied);
    const place = this.snapshots.findIndex(({ snapshot, applied: faults }) => snapshot.step > step || (snapshot.step === step && faults > applied));
    this.snapshots.splice(place < 0 ? this.snapshots.length : place, 0, { snapshot: this.machine.snapshot(), applied });
    const most = Math.max(4, Math.min(MOST_SNAPSHOTS, Math.floor(MOST_BYTES / (2 * this.n + 64))));
    if (this.snapshots.length > most) this.snapshots = [this.snapshots[0], ...this.snapshots.slice(2).filter((_, k) => k % 2 === 0)];
  }

  // -- disturbances: each names its agents and their new values, so that a file repeats it exactly

  apply() {
    const begin = this.applied;
    while (this.applied < this.faults.length && this.faults[this.applied].step <= this.step) {
      const { agents, codes } = this.faults[this.applied];
      const { population } = this.machine;
      agents.forEach((agent, k) => { population[agent] = codes[k] ?? codes[0]; });
      this.applied += 1;
    }
    if (this.applied === begin) return false;
    this.machine.made = 0;
    this.machine.recount();
    this.since = this.step;
    this.outside = { snapshot: this.machine.snapshot(), applied: this.applied };
    this.keep();
    return true;
  }

  planFault() {
    if (!(this.rate > 0) || this.applied < this.faults.length) return;
    const wait = Math.max(1, Math.round((-Math.log(1 - this.random()) * this.n) / this.rate));
    const moment = this.step + wait;
    if (moment < FAR) this.faults.push(...this.corruption(this.victims, moment));
  }

  // Random agents in random states, one record for each.
  corruption(count, step) {
    const chosen = new Set();
    while (chosen.size < count) chosen.add(Math.floor(this.random() * this.n));
    const { states, inputs, inputNames } = this.content;
    return [...chosen].map((agent) => {
      let code;
      do code = Math.floor(this.random() * states.length);
      while (inputs && inputs[code].join() !== inputs[this.machine.population[agent]].join());
      const values = Object.fromEntries(Object.entries(states[code]).filter(([name]) => !inputNames.includes(name)));
      return { step, agents: [agent], values, codes: [code] };
    });
  }

  disturb(faults) {
    this.forgetFuture();
    this.faults.push(...faults);
    this.apply();
    Object.assign(this, { last: {}, note: "" });
    this.branch += 1;
  }

  corrupt(agents) { this.disturb(this.corruption(agents, this.step)); }

  setField(agent, field, value) {
    const { writes, states, inputNames } = this.content;
    const code = this.machine.population[agent];
    const state = states[code];
    if (!(field in state)) throw new Refusal(`agent ${agent} has no field ${field} in its present state`);
    if (inputNames.includes(field)) throw new Refusal(`${field} is an input, and no fault changes an input`);
    const after = writes[field] ? writes[field][String(value)]?.[code] : this.codes.get(JSON.stringify({ ...state, [field]: value }));
    if (after === undefined) throw new Refusal(`${field} = ${String(value).slice(0, 40)} is not a value that agent ${agent} can have`);
    this.disturb([{ step: this.step, agents: [agent], values: { [field]: value }, codes: [after] }]);
  }

  killLeader() {
    const { states } = this.content;
    if (!("leader" in this.fields)) throw new Refusal("no field `leader` can be taken from a leader; set a field instead");
    const leaders = [];
    this.machine.population.forEach((code, agent) => { if (this.output[code]) leaders.push(agent); });
    if (leaders.length > LARGEST_MURDER) throw new Refusal(`there are ${leaders.length.toLocaleString("en")} leaders, and at most ${LARGEST_MURDER.toLocaleString("en")} can be named`);
    if (!leaders.length) throw new Refusal("there is no leader to kill");
    const codes = leaders.map((agent) => {
      const code = this.machine.population[agent];
      return this.content.writes.leader?.["0"]?.[code] ?? this.codes.get(JSON.stringify({ ...states[code], leader: 0 }));
    });
    this.disturb([{ step: this.step, agents: leaders, values: { leader: 0 }, codes }]);
  }

  setRate(rate, agents) {
    Object.assign(this, { rate, victims: agents });
    this.faults = this.faults.slice(0, this.applied);
  }

  disturbances() {
    return this.faults.slice(0, this.applied).map(({ step, agents, values }) => ({ step, agents, values }));
  }

  // Many runs to `safe`, as `hegemon run --trials` makes them; each value is what is known by then.
  *manyRuns(count) {
    if (!this.goals.safe) throw new Refusal("runs to safe need a set `safe` that is made of counts, and this one is not");
    if (this.isDrawn) throw new Refusal(`the start ${this.start} was drawn by Python for one run; choose another one`);
    const states = this.content.states.length;
    const machine = new Machine(this.module, { states, values: this.content.values, table: this.table, arcs: this.arcs, n: this.n });
    machine.seek(this.goals.safe);
    const found = { count, done: 0, steps: [], missed: 0, limit: LONGEST_RUN, curves: [], busy: true };
    found.command = `${this.command().replace(/ --until \S+/, "").replace(/ --disturbances \S+/, "")} --trials ${count}`;
    const [shown] = Object.values(this.content.observables).filter(Boolean);
    for (let trial = 0; trial < count; trial++) {
      machine.begin(this.groups, this.seed, trial);
      const curve = trial < SIDE_BY_SIDE && shown ? { rows: [], step: null } : null;
      if (curve) found.curves.push(curve);
      let [met, spacing] = [machine.holds, Math.max(1, Math.floor(this.n / 2))];
      const note = () => {
        if (curve.rows.length >= SAMPLES) {
          curve.rows = curve.rows.filter((_, k) => k % 2 === 0);
          spacing *= 2;
        }
        curve.rows.push([machine.step, measure(shown, machine.census(), this.n)]);
      };
      if (curve) note();
      while (!met && machine.step < LONGEST_RUN) {
        met = machine.advance(Math.min(LONGEST_RUN, machine.step + (curve ? spacing : 1e6)));
        if (curve) note();
        yield found;
      }
      if (curve) curve.step = met ? machine.step : null;
      found.done += 1;
      if (met) found.steps.push(machine.step);
      else found.missed += 1;
      yield found;
    }
  }

  // -- what frames show

  readings() {
    const { machine, content } = this;
    const numbers = machine.census();
    const values = {};
    for (const [name, one] of Object.entries(content.observables)) if (one) values[name] = measure(one, numbers, this.n);
    const lamps = {};
    for (const [name, { whole }] of Object.entries(content.sets)) lamps[name] = this.isInside(name, numbers, whole);
    this.noteRow(values);
    return { readAt: this.step, values, lamps, healing: this.heal(lamps.safe) };
  }

  // Whether the configuration is in a set; null where only Python can decide it.
  isInside(name, numbers, whole) {
    const [{ low, high }, marks] = [this.bounds[name], this.setMarks[name]];
    const sums = low[0].map((_, k) => {
      let sum = 0;
      for (let code = 0; code < numbers.length; code++) if (marks[code * low[0].length + k]) sum += numbers[code];
      return sum;
    });
    const holds = low.some((row, k) => sums.every((sum, j) => row[j] <= sum && sum <= high[k][j]));
    if (!holds || !whole) return holds;
    if (this.wholes[name]) return this.n > LARGEST_WHOLE ? null : this.decide(this.wholes[name]);
    const { least } = this.content.sets[name]; // counts that must not be there, where they are known
    return least ? !least.some((counts) => counts.every((count, code) => numbers[code] >= count)) : null;
  }

  // Whether a function of all agents holds, on their records.
  decide({ exports, records, size }) {
    const { population } = this.machine;
    const parameters = bytesOf(this.sizeOf(this.n).parameters);
    const place = 8 * Math.ceil(exports.__heap_base.value / 8);
    const end = place + 32 + parameters.length + 8 + this.n * size;
    const missing = end + ROOM + this.n * ROOM_EACH - exports.memory.buffer.byteLength;
    if (missing > 0) exports.memory.grow(Math.ceil(missing / 65536));
    const memory = new Uint8Array(exports.memory.buffer);
    memory.set(parameters, place + 32);
    const agents = 8 * Math.ceil((place + 32 + parameters.length) / 8);
    for (let agent = 0; agent < this.n; agent++) memory.set(records.subarray(population[agent] * size, (population[agent] + 1) * size), agents + agent * size);
    exports.begin_room?.(end);
    let status;
    try {
      status = exports.decide(place, place + 8, agents, this.n, place + 32);
    } catch (error) {
      if (!(error instanceof WebAssembly.RuntimeError)) throw error;
      return null; // it needs more memory than this
    }
    return status ? null : new Int32Array(exports.memory.buffer, place, 1)[0] !== 0;
  }

  // The exact step at which `safe` was entered after the last disturbance.
  heal(isSafe) {
    const { applied } = this;
    if (isSafe === false) this.outside = { snapshot: this.machine.snapshot(), applied };
    else if (isSafe && !this.healing.has(applied)) {
      const entry = this.outside?.applied === applied ? this.entry("safe") : null;
      this.healing.set(applied, { step: entry ?? this.step, exact: entry !== null });
    }
    const told = { since: this.since, disturbed: applied > 0 };
    const found = this.healing.get(applied);
    return found && found.step <= this.step ? { ...told, ...found, steps: found.step - this.since } : told;
  }

  entry(name) {
    const [now, limit, { made }] = [this.machine.snapshot(), this.step, this.machine];
    const { snapshot } = this.outside;
    this.machine.seek(this.goals.quiet);
    this.machine.restore(snapshot);
    const step = this.goals[name] ? this.firstMet(name, limit) : this.content.sets[name].closed ? this.firstInside(name, snapshot, limit) : null;
    this.machine.seek(this.goals.quiet);
    this.machine.restore(now);
    this.machine.made = made;
    return step;
  }

  firstMet(name, limit) {
    this.machine.seek(this.goals[name]);
    return this.step === limit || this.machine.advance(limit) ? this.step : null;
  }

  // The first step inside a closed set after a snapshot that is outside, by halving; at `limit` it is inside.
  firstInside(name, snapshot, limit) {
    let [outside, inside] = [snapshot, limit];
    while (inside - outside.step > 1) {
      this.machine.restore(outside);
      this.machine.advance(outside.step + Math.floor((inside - outside.step) / 2));
      if (this.isInside(name, this.machine.census(), true)) inside = this.step;
      else outside = this.machine.snapshot();
    }
    return inside;
  }

  noteRow(values) {
    const place = this.rows.findIndex(([step]) => step >= this.step);
    if (place >= 0 && this.rows[place][0] === this.step) this.rows[place] = [this.step, values];
    else if (place >= 0) this.rows.splice(place, 0, [this.step, values]);
    else if (!this.rows.length || this.step - this.rows[this.rows.length - 1][0] >= this.spacing) this.rows.push([this.step, values]);
    if (this.rows.length > 2 * POINTS) {
      this.rows = [this.rows[0], ...this.rows.slice(2).filter((_, k) => k % 2 === 0)];
      this.spacing = Math.floor((this.rows[this.rows.length - 1][0] - this.rows[0][0]) / POINTS);
    }
  }

  state(agent) { return this.content.states[this.machine.population[agent]]; }

  texts() {
    const [{ labels, states }, { population }] = [this.content, this.machine];
    return Array.from(population, (code, agent) => {
      const text = this.writing === "number" ? agent : this.writing === "label" ? labels[code] : states[code][this.writing];
      return String(text ?? "").slice(0, 24);
    });
  }

  picture() {
    const [{ population }, bytes] = [this.machine, new Uint8Array(this.n)];
    for (let agent = 0; agent < bytes.length; agent++) bytes[agent] = this.looks[population[agent]];
    return bytes;
  }

  command() {
    const quoted = (text) => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\"'\"'")}'`);
    const { command, unit } = this.content;
    const replaced = command.replace(/ --n \d+/, ` --n ${this.n}`).replace(/ --start \S+/, () => ` --start ${quoted(this.start)}`)
      .replace(/ --until \S+/, ` --until ${unit}:${this.step}`).replace(/ --seed \d+/, ` --seed ${this.seed}`);
    if (this.storyStart && this.storyStart.begin < this.step) {
      const { begin, faults } = this.storyStart;
      const isAfter = this.step > this.storyEnd || this.applied > faults;
      if (isAfter && (begin || this.applied)) {
        return `# story.json has the chosen ${unit} ${begin.toLocaleString("en")} to ${this.storyEnd.toLocaleString("en")}; no command repeats the rest`;
      }
      return replaced.replace(/ --start \S+/, " --start story.json").replace(/ --until \S+/, ` --until ${unit}:${this.step - begin}`);
    }
    return this.applied ? `${replaced} --disturbances disturbances.json` : replaced;
  }
}

function measure({ reduce, values }, numbers, n) {
  let [sum, low, high] = [0, Infinity, -Infinity];
  for (let code = 0; code < numbers.length; code++) {
    if (!numbers[code]) continue;
    sum += numbers[code] * (reduce === "count" ? Number(values[code] !== 0) : values[code]);
    low = Math.min(low, values[code]);
    high = Math.max(high, values[code]);
  }
  return reduce === "count" ? sum : reduce === "mean" ? sum / n : reduce === "minimum" ? low : high;
}

const bytesOf = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));

// The sets that functions of all agents decide, by name: their modules, and the records that they read.
function wholesOf({ modules = {}, records }) {
  const made = Object.entries(modules).filter(([, text]) => text).map(([name, text]) => {
    const { exports } = new WebAssembly.Instance(new WebAssembly.Module(bytesOf(text)), {});
    return [name, { exports, records: bytesOf(records.bytes), size: records.size }];
  });
  return Object.fromEntries(made);
}

const divisor = (a, b) => (b ? divisor(b, a % b) : a);

const short = (state) => Object.entries(state).map(([name, value]) => `${name}=${value}`).join(", ");

function difference(before, after) {
  if (JSON.stringify(before) === JSON.stringify(after)) return `unchanged (${short(before)})`;
  if (Object.keys(before).join() !== Object.keys(after).join()) return `${short(before)} becomes ${short(after)}`;
  const changes = [];
  const compare = (name, x, y) => {
    if (Array.isArray(x)) x.forEach((one, k) => compare(`${name}[${k}]`, one, y[k]));
    else if (x !== y) changes.push(`${name} ${x}→${y}`);
  };
  for (const name of Object.keys(before)) compare(name, before[name], after[name]);
  return changes.join(", ");
}

// Uniform numbers below 1 for what a visitor disturbs at random: xorshift128 (Marsaglia 2003).
function xorshift(words) {
  const state = Uint32Array.from(words);
  state[0] |= 1;
  return () => {
    let t = state[3];
    t ^= t << 11;
    t ^= t >>> 8;
    state.copyWithin(1, 0, 3);
    state[0] = t ^ state[1] ^ (state[1] >>> 19);
    return state[0] / 2 ** 32;
  };
}
