// Commands and frames of a run in this page: what the server's simulation is, in slices, so that nothing ever freezes.
import { Laboratory } from "./laboratory.js";
import { Refusal } from "./machine.js";
import { fileOf, idleLines, protocolOf, readRules, readStart } from "./rules.js";

const FRAME = 1000 / 45; // least milliseconds between two frames
const WORK = 10; // milliseconds of work between two looks for commands
const SHARE = 5; // readings take at most one part in this many of the time
const TOLD = 400; // steps per second up to which each shown step is described
const SEEN = 1000; // milliseconds between two readings while nothing else asks for one
const [MOST_RUNS, TELL] = [10000, 250]; // of a histogram; milliseconds between two reports on it
const LARGEST_START = 200000;
const LONGEST_RULES = 100000; // characters
const AT_ONCE = new Set(["frame", "state", "file", "disturbances", "pause", "speed", "focus", "stop_at_safe", "write"]);
const NOT_UNDERSTOOD = "the page sent a command that is not understood";

export class Desk {
  // `send` passes a text (greeting, answer) or a buffer (a frame) to the page.
  constructor(laboratory, greeting, send) {
    Object.assign(this, { laboratory, greeting, send, playing: false, wanted: true, changed: true, obeyed: 0, later: [] });
    Object.assign(this, { stopsAtSafe: false, playedFrom: 0, jump: null, debt: 0, sent: -Infinity, read: -Infinity, cost: 0, readings: {} });
    laboratory.fields = greeting.fields;
    this.own = { laboratory, greeting: { ...greeting } };
    this.start({ n: greeting.n, start: greeting.start, seed: BigInt(greeting.setup.seed) });
    this.then = performance.now();
  }

  start(values, groups) {
    this.laboratory.begin(values, groups);
    const { n, start, seed } = this.laboratory;
    if (this.agents !== n) this.speed = 10 ** Math.min(6, Math.max(1, String(n).length - 1));
    this.agents = n;
    this.many = null; // runs of what is no longer shown
    const setup = { ...this.greeting.setup, n: String(n), start, seed: String(seed) };
    Object.assign(this.greeting, { n, start, seed: String(seed), setup, ...shapeOf(this.greeting, n) });
    this.readings = this.laboratory.readings();
    this.send(JSON.stringify({ ...this.greeting, rows: this.laboratory.rows }));
    this.changed = this.newcomer = true;
  }

  // One slice of work; returns how long to wait for the next, in milliseconds, or null: until a command comes.
  tick() {
    const now = performance.now();
    const elapsed = now - this.then;
    this.then = now;
    if (this.wanted && this.changed && now - this.sent >= FRAME) this.sendFrame();
    if (this.jump) this.jumpOn();
    else if (this.playing) this.play(elapsed);
    if (this.playing && performance.now() - this.read > Math.max(SEEN, SHARE * this.cost)) this.look();
    if (this.many) this.makeMany();
    if (this.jump || this.many || (this.playing && (this.speed === null || this.debt >= 1))) return 0;
    const frame = Math.max(0, this.sent + FRAME - performance.now());
    if (this.wanted && this.changed) return frame;
    return this.playing ? Math.min(250, Math.max(this.wanted ? frame : FRAME, (1000 * (1 - this.debt)) / this.speed)) : null;
  }

  play(elapsed) {
    const { laboratory, speed } = this;
    const before = laboratory.step;
    try {
      const deadline = performance.now() + WORK;
      if (speed === null) laboratory.advance(Number.MAX_SAFE_INTEGER, deadline);
      else {
        this.debt = Math.min(this.debt + (elapsed * speed) / 1000, 0.25 * speed + 1);
        if (this.debt >= 1) {
          laboratory.advance(before + Math.floor(this.debt), deadline, speed <= TOLD);
          this.debt -= laboratory.step - before;
        }
      }
    } catch (error) { // the rules fail: report it, and stay at this step
      laboratory.note = refusalOf(error);
      this.playing = false;
      this.changed = true;
    }
    this.changed ||= laboratory.step !== before;
  }

  look() {
    const begin = performance.now();
    this.readings = this.laboratory.readings();
    this.read = performance.now();
    this.cost = this.read - begin;
    const entry = this.readings.healing.step ?? 0;
    if (this.playing && this.stopsAtSafe && entry > this.playedFrom) {
      this.playing = false;
      this.changed = true;
      if (entry < this.laboratory.step) this.jump = { work: this.retraced(entry), course: [this.laboratory.step, entry], number: null };
    }
  }

  // Go back to the step at which the run should have stopped.
  *retraced(entry) {
    this.laboratory.rows = this.laboratory.rows.filter(([step]) => step < entry);
    yield* this.laboratory.jump(entry);
    this.newcomer = true;
  }

  sendFrame() {
    const { laboratory } = this;
    Object.assign(this, { wanted: false, changed: false, sent: performance.now() });
    if (!this.playing && !this.jump || performance.now() - this.read > SHARE * this.cost) this.look();
    const { step, last, note, branch, writing, applied } = laboratory;
    const head = { step, last, note, silent: false, playing: this.playing, speed: this.speed, start: laboratory.start, branch,
      rate: [laboratory.rate, laboratory.victims], stopsAtSafe: this.stopsAtSafe, jump: this.jump?.course ?? null, obeyed: this.obeyed,
      command: laboratory.command(), disturbances: applied, chosen: laboratory.storyStart ? laboratory.storyEnd - laboratory.storyStart.begin : 0, ...this.readings };
    if (writing) Object.assign(head, { writing, texts: laboratory.texts() });
    if (this.newcomer) head.rows = laboratory.rows.slice();
    this.newcomer = false;
    this.send(packed(head, laboratory.picture()));
  }

  // -- commands

  take(text) {
    const command = JSON.parse(text);
    if (!this.jump || AT_ONCE.has(command.do)) this.obey(command);
    else this.later.push(command);
  }

  obey(command) {
    this.obeyed += command.do !== "frame";
    let answer;
    try {
      answer = this.carryOut(command);
    } catch (error) {
      answer = { refused: refusalOf(error) };
    }
    if (answer) this.answer(command.id, answer);
  }

  answer(number, content) {
    if (number !== undefined && number !== null) this.send(JSON.stringify({ answer: number, ...content, obeyed: this.obeyed }));
    else if (content.refused) this.send(JSON.stringify({ refused: content.refused }));
  }

  agent({ agent }) { return whole("agent", agent, 0, this.laboratory.n - 1); }

  // The reply to a command; nothing if a jump will send it.
  carryOut(command) {
    const { laboratory } = this;
    switch (command.do) {
      case "frame": this.wanted = true; return {};
      case "state": { const agent = this.agent(command); return { agent, state: laboratory.state(agent), neighbours: [] }; }
      case "successors": return laboratory.successors(command.pair && this.pair(command.pair));
      case "story": return { story: laboratory.story() };
      case "disturbances": return { disturbances: laboratory.disturbances() };
      case "file": { const { text, shares, leaders } = this.typed(command); readRules(text, shares, leaders); return { file: fileOf(text, shares, leaders) }; }
      case "focus": return {};
      case "many": return this.beginMany(command.count);
    }
    this.changed = true;
    this.debt = 0;
    switch (command.do) {
      case "play": case "pause":
        this.playing = command.do === "play";
        laboratory.note = "";
        this.playedFrom = laboratory.step;
        this.giveUp();
        return {};
      case "speed":
        if (command.value !== null && !(command.value >= 0.1)) throw new Refusal("the speed is out of range");
        this.speed = command.value;
        return {};
      case "write": return this.write(String(command.name));
      case "stop_at_safe": this.stopsAtSafe = command.value === true; return {};
      case "rate":
        if (!(command.rate >= 0 && command.rate <= 1000)) throw new Refusal("the rate of faults must be in 0..1,000");
        laboratory.setRate(command.rate, whole("agents", command.agents, 1, laboratory.n));
        return {};
    }
    this.playing = false;
    laboratory.note = "";
    const from = laboratory.step;
    switch (command.do) {
      case "step": {
        const target = Math.max(0, from + whole("count", command.count ?? 1, -Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER));
        return this.begin(laboratory.jump(target), [from, target], command.id);
      }
      case "goto": return this.begin(laboratory.jump(command.step), [from, command.step], command.id);
      case "change": return this.begin(laboratory.jumpToChange(), [from, null], command.id);
      case "choose": return this.choose(command);
      case "set": laboratory.setField(this.agent(command), String(command.field), command.value); return {};
      case "corrupt": laboratory.corrupt(whole("agents", command.agents, 1, laboratory.n)); return {};
      case "kill": laboratory.killLeader(); return {};
      case "start": return this.startOver(command);
      case "rules": return this.runRules(command);
      case "own": return this.runOwn();
    }
    throw new Refusal(NOT_UNDERSTOOD);
  }

  pair(pair) {
    if (!Array.isArray(pair) || pair.length !== 2) throw new Refusal(NOT_UNDERSTOOD);
    return pair.map((agent) => this.agent({ agent }));
  }

  choose({ pair, coin, moment }) {
    const { laboratory } = this;
    if (moment && moment.join() !== [laboratory.branch, laboratory.step].join()) {
      throw new Refusal("the run has moved on since this choice was offered; choose again");
    }
    laboratory.choose(laboratory.joined(this.pair(pair)), whole("coin", coin ?? 0, 0, laboratory.content.values - 1));
    return {};
  }

  write(name) {
    if (name && !this.greeting.writable.includes(name)) throw new Refusal(`nothing called ${name.slice(0, 60)} can be written on agents`);
    this.laboratory.writing = name;
    return {};
  }

  startOver({ values, states, file }) {
    const { laboratory } = this;
    if (!states) {
      values = { n: laboratory.n, seed: laboratory.seed, ...values };
      const [n, seed] = [numberIn("n", values.n), numberIn("seed", values.seed)];
      this.start({ n: Number(n), seed, start: values.start || laboratory.start });
      return {};
    }
    const rows = Array.isArray(states) ? states : states?.agents;
    if (!Array.isArray(rows) || rows.length > LARGEST_START || rows.length !== laboratory.n) {
      throw new Refusal(`the dropped file must hold a list of ${laboratory.n} states, one per agent`);
    }
    const { states: known } = laboratory.content;
    const groups = rows.map((row, agent) => {
      const code = known.findIndex((state) => Object.keys(state).length === Object.keys(row).length && Object.entries(state).every(([name, value]) => JSON.stringify(row[name]) === JSON.stringify(value)));
      if (code < 0) throw new Refusal(`the state of agent ${agent} in the dropped file is none of this protocol`);
      return [1, code];
    });
    this.start({ n: laboratory.n, seed: laboratory.seed, start: String(file ?? "dropped.json").slice(0, 100) }, groups);
    return {};
  }

  // -- rules that are typed on the page

  typed({ text, start, leader }) {
    const shares = readStart(String(start ?? ""));
    const leaders = String(leader ?? "").split(",").map((name) => name.trim()).filter(Boolean);
    return { text: String(text).slice(0, LONGEST_RULES), shares, leaders: leaders.length ? leaders : null };
  }

  runRules(command) {
    const { text, shares, leaders } = this.typed(command);
    const read = readRules(text, shares, leaders);
    const made = protocolOf(read, text, this.own.greeting);
    const laboratory = new Laboratory(this.laboratory.module, made.content, made.arrays);
    laboratory.branch = this.laboratory.branch;
    const n = command.n === undefined ? Math.min(100, this.laboratory.n) : numberIn("n", command.n);
    const seed = command.seed === undefined ? this.laboratory.seed : numberIn("seed", command.seed);
    laboratory.fields = made.greeting.fields;
    laboratory.begin({ n: Number(n), start: made.greeting.start, seed }); // refused before anything else changes
    Object.assign(this, { laboratory, greeting: made.greeting });
    this.start({ n: Number(n), start: made.greeting.start, seed });
    const idle = idleLines(read);
    return idle.length ? { note: `line ${idle.join(", ")}: never used, because no agent ever gets into one of its states` } : {};
  }

  // Back to the protocol of the page.
  runOwn() {
    const { laboratory, greeting } = this.own;
    laboratory.branch = this.laboratory.branch;
    Object.assign(this, { laboratory, greeting: { ...greeting } });
    const { n, start, setup } = greeting;
    this.start({ n, start, seed: BigInt(setup.seed) });
    return {};
  }

  // -- many runs

  beginMany(count) {
    if (count === 0) {
      if (this.many) this.tellMany({ ...this.many.found, busy: false });
      this.many = null;
      return {};
    }
    const work = this.laboratory.manyRuns(whole("count", count, 1, MOST_RUNS));
    this.many = { work, found: work.next().value, told: -Infinity };
    return {};
  }

  makeMany() {
    const end = performance.now() + WORK;
    let isOver = false;
    while (!isOver && performance.now() < end) isOver = this.many.work.next().done;
    const { found, told } = this.many;
    if (!isOver && performance.now() - told < TELL) return;
    this.many.told = performance.now();
    this.tellMany({ ...found, busy: !isOver });
    if (isOver) this.many = null;
  }

  tellMany(many) { this.send(JSON.stringify({ many })); }

  // -- jumps

  begin(work, course, number) {
    this.jump = { work, course, number };
    this.jumpOn();
    return null;
  }

  jumpOn() {
    this.changed = true;
    let answer = {};
    try {
      if (!this.jump.work.next().done) return;
    } catch (error) {
      answer = { refused: refusalOf(error) };
    }
    this.endJump(answer);
    while (this.later.length && !this.jump) this.obey(this.later.shift());
  }

  endJump(answer) {
    const { number } = this.jump;
    this.jump = null;
    this.answer(number, answer);
  }

  // Stop a jump where it is; commands that waited for its end are dropped.
  giveUp() {
    if (!this.jump) return;
    const [, to] = this.jump.course;
    this.jump.work.return();
    this.laboratory.note = `stopped on the way to ${to === null ? "the next change" : this.laboratory.moment(to)}`;
    this.endJump({});
    for (const command of this.later.splice(0)) this.answer(command.id, {});
  }
}

// A whole number that was typed, as a BigInt.
function numberIn(name, text) {
  const word = String(text).trim();
  if (!/^\d{1,20}$/.test(word)) throw new Refusal(`${name} = ${word.slice(0, 40)} is no whole number`);
  if (BigInt(word) >= 2n ** 64n) throw new Refusal(`${name} is out of range 0..2^64 - 1`);
  return BigInt(word);
}

function refusalOf(error) {
  if (error instanceof Refusal) return error.message;
  if (error instanceof RangeError) return "there is not enough memory for that run; take a smaller n";
  if (error instanceof TypeError || error instanceof SyntaxError) return NOT_UNDERSTOOD;
  throw error;
}

function whole(name, value, low, high) {
  if (typeof value === "number" && Number.isInteger(value) && value >= low && value <= high) return value;
  throw new Refusal(`${name} = ${String(value).slice(0, 40)} is out of range; it must be a whole number in ${low.toLocaleString("en")}..${high.toLocaleString("en")}`);
}

export function packed(head, picture) {
  const text = new TextEncoder().encode(JSON.stringify(head));
  const padded = Math.ceil(text.length / 4) * 4;
  const bytes = new Uint8Array(4 + padded + picture.length).fill(32, 4, 4 + padded);
  new DataView(bytes.buffer).setUint32(0, padded, true);
  bytes.set(text, 4);
  bytes.set(picture, 4 + padded);
  return bytes.buffer;
}

// How a population of n agents is drawn: on its own graph as the greeting says, on complete graphs as `layout.py` does.
function shapeOf({ kind, n: before, places, edges, width }, n) {
  if (n === before) return { kind, places, edges, width };
  if (n > 3000) return { kind: "raster", width: Math.ceil(Math.sqrt(n)), places: undefined, edges: undefined };
  const round = (x) => Math.round(1e4 * x) / 1e4;
  const circle = (k) => (2 * Math.PI * k) / n - Math.PI / 2;
  const golden = Math.PI * (3 - Math.sqrt(5));
  const points = Array.from({ length: n }, (_, k) => {
    const [radius, angle] = n <= 30 ? [1, circle(k)] : [Math.sqrt((k + 0.5) / n), (k + 0.5) * golden];
    return [round(radius * Math.cos(angle)), round(radius * Math.sin(angle))];
  });
  const lines = [];
  for (let a = 0; n <= 12 && a < n; a++) for (let b = a + 1; b < n; b++) lines.push(a, b);
  return { kind: "graph", places: points, edges: lines, width: undefined };
}
