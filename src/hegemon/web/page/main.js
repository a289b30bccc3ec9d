// One page for a live run and for a film; `window.hegemon` tells what is on it.
import { Look } from "./look.js";
import { Stage } from "./stage.js";
import { Curves, figure } from "./curves.js";
import { byId, element, markSource, showAgent, showBands, showFacts, showKill, showLamps, showLegend, sentence, showSource, tipText } from "./panels.js";
import { introduce } from "./introduction.js";
import { Setup } from "./setup.js";
import { Choosing } from "./choosing.js";
import { Many } from "./many.js";
import { Typing } from "./typing.js";
import { Settings } from "./settings.js";
import { Film, Live } from "./sources.js";

const stage = new Stage(byId("canvas"));
const curves = new Curves(byId("curves"));
const state = { ready: false, frames: 0, film: false, selected: null, refused: "", gone: false };
window.hegemon = state;
let source = null;

// -- light and dark

const darkly = matchMedia("(prefers-color-scheme: dark)");
let theme = new URLSearchParams(location.search).get("theme") || window.HEGEMON_THEME;
const isDark = () => (theme ? theme === "dark" : darkly.matches);

function applyTheme() {
  document.documentElement.dataset.theme = isDark() ? "dark" : "light";
  byId("themename").textContent = isDark() ? "light" : "dark"; // what a click makes of it
  if (!state.greeting) return;
  stage.restyle(new Look(state.greeting, isDark()));
  if (state.greeting.kind !== "bands") showLegend(stage);
  if (curves.rows.length && curves.values) curves.draw();
}
byId("theme").onclick = () => { theme = isDark() ? "light" : "dark"; applyTheme(); };
darkly.addEventListener("change", applyTheme);
applyTheme();

// What stays beside the panels while they scroll: if it is taller than the window, its end is what stays.
const left = byId("left");
const settle = () => { left.style.top = `${Math.min(16, innerHeight - left.offsetHeight - 16)}px`; };
new ResizeObserver(settle).observe(left);
addEventListener("resize", settle);

// -- what comes

const BESIDE = 200; // milliseconds between two looks at what stands beside the agents, while it plays
const READABLE = 10; // steps per second up to which every one of them is told
const PREPARING = "Compiling what the first step needs. The first time this takes some seconds; commands wait until it is done.";
let beside = -Infinity;
let patience;

function showBeside(head, before) {
  if (head.values) curves.draw();
  showLamps(state.greeting, head);
  showKill(head.values?.leaders);
  if (head.bands) showBands(stage, head);
  showSettings();
  clearTimeout(patience);
  if (head.preparing) patience = setTimeout(() => { byId("happened").textContent = PREPARING; }, 400);
  byId("happened").textContent = told(head);
  if (head.last?.lines || !head.playing) markSource(head.last?.lines);
  if (head.command) byId("command").textContent = head.command;
  byId("disturbed").textContent = head.disturbances ? `${head.disturbances} so far` : "none so far";
  byId("chosen").textContent = head.chosen ? `${head.chosen} chosen` : "nothing chosen yet";
  choosing.frame(head);
  if (state.film) byId("scrub").value = head.index;
  stage.canvas.setAttribute("aria-label", `${state.greeting.protocol} at ${state.greeting.unit.slice(0, -1)} ${figure(head.step)}`);
  if (state.selected !== null && (!before || before.step !== head.step || before.branch !== head.branch)) refreshAgent();
  if (head.playing) byId("refused").textContent = state.refused = "";
}

// What happened last, or what takes longer than a moment and how to stop it.
function told(head) {
  if (head.making) return "making the new run, whose graph or code takes a while; pause stops it";
  return head.jump ? jumping(head) : [head.last?.text, head.note].filter(Boolean).join(" · ");
}

function jumping(head) {
  const [from, to] = head.jump;
  const unit = state.greeting.unit.slice(0, -1);
  if (to === null) return `looking for the next change, now at ${unit} ${figure(head.step)}; pause stops it`;
  const share = Math.max(0, Math.min(1, (head.step - from) / (to - from || 1)));
  return `on the way to ${unit} ${figure(to)}, now at ${figure(head.step)} (${Math.floor(100 * share)} %); pause stops it`;
}

const take = {
  greeting(greeting) {
    state.greeting = greeting;
    state.film = Boolean(greeting.film);
    state.selected = null;
    document.body.classList.toggle("film", state.film);
    showFacts(greeting);
    byId("lamps").dataset.names = ""; // lamps of one name may mean something else
    byId("absentbox").hidden = !greeting.absent;
    byId("absent").replaceChildren(...(greeting.absent ?? []).map((text) => element("li", text)));
    byId("bandaxis").hidden = true;
    stage.greet(greeting, new Look(greeting, isDark()));
    curves.greet(greeting);
    showSource(greeting);
    if (greeting.kind !== "bands") showLegend(stage);
    byId("unit").textContent = greeting.unit;
    byId("round").hidden = greeting.unit === "rounds" || state.film;
    const what = greeting.fields.leader || greeting.model === "messages" ? "leader" : "output";
    byId("change").hidden = !greeting.hasOutput;
    byId("change").title = `to the next change of ${what} (n)`;
    byId("change").setAttribute("aria-label", `to the next change of ${what}`);
    byId("safebox").hidden = state.film || greeting.hasEvents || !("safe" in greeting.sets);
    byId("disturbbox").hidden = state.film;
    byId("disturbing").hidden = !greeting.canDisturb;
    byId("undisturbed").hidden = greeting.canDisturb;
    byId("undisturbed").textContent = sentence(greeting.undisturbed);
    byId("agentbox").hidden = greeting.kind === "bands" || state.film;
    if (byId("hintedit")) byId("hintedit").hidden = !greeting.canDisturb;
    if (byId("film")) byId("film").hidden = state.film;
    settings.forget();
    setup.greet(greeting);
    typing.greet(greeting);
    many.greet(greeting);
    choosing.greet(greeting);
    byId("victims").max = greeting.n;
    byId("writebox").hidden = state.film || !greeting.writable.length;
    byId("write").replaceChildren(...["", ...greeting.writable].map((name) => new Option(name ? name.replaceAll("_", " ") : "nothing", name)));
    byId("killing").hidden = !greeting.fields.leader;
    byId("scrub").hidden = !state.film;
    byId("speed").max = state.film ? 2 : 7; // a film: a tenth of its pace to ten times of it
    byId("scrub").max = (greeting.film || 1) - 1;
  },

  frame(head, picture) {
    const before = state.head;
    Object.assign(state, { head, picture, ready: true, frames: state.frames + 1, step: head.step, playing: head.playing });
    Object.assign(state, { values: head.values, lamps: head.lamps, healing: head.healing, command: head.command, speed: head.speed });
    stage.show(head, picture);
    if (head.rows) curves.rows = head.rows; // a newcomer here or in another tab: what all have seen
    if (head.values) curves.add(head.readAt, head.values, head.branch); // while it plays, not of every frame
    byId("step").textContent = figure(head.step);
    const now = performance.now();
    if (head.playing && before?.playing && now - beside < (head.speed && head.speed <= READABLE ? 0 : BESIDE)) return;
    beside = now;
    showBeside(head, before);
  },

  refused(text) {
    byId("refused").textContent = state.refused = text;
  },

  gone() {
    state.gone = true;
    byId("refused").textContent = "The run has ended: its terminal is closed.";
  },

  many(told) {
    state.many = told;
    many.show(told);
  },

  name: (byte) => stage.look.name(byte),
};

// -- time

// Send a command; its refusal is shown.
async function tell(command) {
  byId("refused").textContent = state.refused = "";
  const found = await source.ask(command);
  if (found.refused) take.refused(found.refused);
  return found;
}
const settings = new Settings(tell, () => { if (state.head) showSettings(); });
const isMoving = () => settings.of("moving", state.head, state.head.playing || Boolean(state.head.jump) || Boolean(state.head.making));
const actions = {
  first: () => tell({ do: "goto", step: 0 }),
  back: () => tell({ do: "step", count: -1 }),
  play: () => settings.set("moving", !isMoving(), { do: isMoving() ? "pause" : "play" }),
  forward: () => tell({ do: "step", count: 1 }),
  round: () => tell({ do: "step", count: state.greeting.unit === "rounds" ? 1 : state.greeting.n }),
  change: () => tell({ do: "change" }),
};
for (const [name, act] of Object.entries(actions)) byId(name).onclick = act;
byId("scrub").oninput = () => tell({ do: "frameAt", index: Number(byId("scrub").value) });

// ×1 … ×10⁶, and as fast as it goes
const unitSpeed = () => (!state.film && state.greeting.kind === "bands" && state.greeting.model === "population" ? state.greeting.n / 1000 : 1);
function showSpeed(speed) {
  byId("speed").value = speed === null ? 7 : Math.round(Math.log10(speed / unitSpeed()));
  if (state.film) {
    byId("speedtext").textContent = `×${speed / 10}`;
    return;
  }
  byId("speedtext").textContent = speed === null ? "as fast as it goes" : `×${Math.round(speed / unitSpeed()).toLocaleString("en")} /s`;
}
byId("speed").oninput = () => {
  const exponent = Number(byId("speed").value);
  const value = state.film ? 10 ** exponent : exponent === 7 ? null : unitSpeed() * 10 ** exponent;
  settings.set("speed", value, { do: "speed", value });
};
byId("write").onchange = () => {
  settings.set("writing", byId("write").value, { do: "write", name: byId("write").value });
  byId("write").blur();
};
byId("stopsafe").onchange = () => {
  settings.set("stopsAtSafe", byId("stopsafe").checked, { do: "stop_at_safe", value: byId("stopsafe").checked });
};

function showSettings() {
  const { head } = state;
  const moves = isMoving();
  byId("playicon").setAttribute("d", moves ? "M6 4h4.5v16H6zM13.5 4H18v16h-4.5z" : "M7 4v16l13-8z");
  byId("play").setAttribute("aria-label", moves ? "pause" : "play");
  byId("playword").textContent = moves ? "pause" : "play";
  byId("stopsafe").checked = settings.of("stopsAtSafe", head, Boolean(head.stopsAtSafe));
  byId("write").value = settings.of("writing", head, head.writing || "");
  showSpeed(settings.of("speed", head, head.speed));
}

// What was clicked does not keep the keys: space plays, also after a click on a button.
document.addEventListener("click", (event) => {
  if (event.detail && document.activeElement.matches("button, a, input[type=checkbox], input[type=range]")) document.activeElement.blur();
});

byId("helper").onclick = () => byId("help").showModal();
byId("helpclose").onclick = () => byId("help").close();
byId("help").onclick = (event) => { if (event.target === byId("help")) byId("help").close(); };

document.addEventListener("keydown", (event) => {
  if (event.target.matches("input, select, textarea") || event.ctrlKey || event.metaKey || event.altKey || !state.ready || byId("help").open) return;
  const faster = (by) => { const s = byId("speed"); s.value = Number(s.value) + by; s.oninput(); };
  const keys = {
    " ": actions.play, ArrowLeft: actions.back, ArrowRight: event.shiftKey ? actions.round : actions.forward,
    Home: actions.first, n: byId("change").hidden ? undefined : actions.change, "?": byId("helper").onclick, ArrowUp: () => faster(1), ArrowDown: () => faster(-1),
  };
  if (!keys[event.key] || (event.target.matches("button, a") && event.key === " ")) return;
  event.preventDefault();
  keys[event.key]();
});

// -- one agent

async function refreshAgent() {
  const agent = state.selected;
  const isEdited = () => byId("agent").contains(document.activeElement) && document.activeElement.matches("input, select");
  if (isEdited()) return;
  const found = await source.ask({ do: "state", agent });
  if (found.refused || agent !== state.selected || isEdited()) return;
  state.agent = found;
  const change = state.greeting.canDisturb && !state.film ? (field, value) => tell({ do: "set", agent, field, value }) : null;
  showAgent(state.greeting, found, change);
}

function select(agent) {
  state.selected = stage.selected = agent;
  source.send({ do: "focus", agent });
  stage.draw();
  if (agent !== null) refreshAgent();
}
state.select = select;

let asking = false;
let pointed = null; // the agent under the pointer
byId("canvas").addEventListener("pointermove", async (event) => {
  const agent = pointed = state.ready ? stage.at(event.offsetX, event.offsetY) : null;
  const tip = byId("tip");
  byId("canvas").style.cursor = agent === null ? "" : "pointer";
  if (agent === null) { tip.hidden = true; return; }
  if (asking) return;
  asking = true;
  const found = await source.ask({ do: "state", agent });
  asking = false;
  if (!found.state || pointed !== agent) return;
  tip.textContent = tipText(state.greeting, found);
  tip.hidden = false;
  tip.style.left = `${Math.min(event.offsetX + 14, stage.width - tip.offsetWidth - 6)}px`;
  tip.style.top = `${Math.min(event.offsetY + 14, stage.height - tip.offsetHeight - 6)}px`;
});
byId("canvas").addEventListener("pointerleave", () => { pointed = null; byId("tip").hidden = true; });
byId("canvas").addEventListener("click", (event) => {
  if (!state.ready || state.film) return;
  const agent = stage.at(event.offsetX, event.offsetY);
  if (choosing.isOn) choosing.click(agent, stage.arcAt(event.offsetX, event.offsetY));
  else if (agent !== null) select(agent === state.selected ? null : agent);
});

const choosing = new Choosing(
  (command) => source.ask(command),
  (choice) => tell({ do: "choose", ...choice }),
  (agent) => { stage.selected = agent ?? state.selected; stage.draw(); },
);
const setup = new Setup((command) => source.ask(command));
const many = new Many((command) => source.ask(command));
const typing = new Typing((command) => source.ask(command), (content, name) => download(content, name));

// -- disturb

byId("corrupt").onclick = () => tell({ do: "corrupt", agents: Number(byId("victims").value) });
byId("kill").onclick = () => tell({ do: "kill" });
byId("rate").onchange = () => tell({ do: "rate", rate: Number(byId("rate").value), agents: Number(byId("victims").value) });
const area = byId("stage");
area.addEventListener("dragover", (event) => { if (!state.film && state.greeting?.canDisturb) { event.preventDefault(); byId("drop").hidden = false; } });
area.addEventListener("dragleave", (event) => { if (!area.contains(event.relatedTarget)) byId("drop").hidden = true; });
area.addEventListener("drop", async (event) => {
  event.preventDefault();
  byId("drop").hidden = true;
  const file = event.dataTransfer.files[0];
  if (!file) return;
  try {
    tell({ do: "start", states: JSON.parse(await file.text()), file: file.name });
  } catch {
    take.refused(`${file.name} is not JSON: drop a list of states, one per agent`);
  }
});

// -- keep

function download(content, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 5000);
}
const pictureName = (ending) => `${state.greeting.protocol}-${state.step}.${ending}`;
byId("png").onclick = () => {
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [stage.canvas.width, stage.canvas.height];
  const context = canvas.getContext("2d");
  context.fillStyle = stage.look.ground;
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.drawImage(stage.canvas, 0, 0);
  canvas.toBlob((blob) => download(blob, pictureName("png")));
};
byId("svg").onclick = () => download(new Blob([stage.svg()], { type: "image/svg+xml" }), pictureName("svg"));
byId("copy").onclick = async () => {
  getSelection().selectAllChildren(byId("command")); // where a frame may not write to the clipboard, it may copy what is marked
  const copied = await navigator.clipboard?.writeText(byId("command").textContent).then(() => true, () => document.execCommand("copy"));
  byId("copy").textContent = copied ? "copied" : "marked";
  setTimeout(() => { byId("copy").textContent = "copy"; }, 1200);
};
state.svg = () => stage.svg();
state.ask = (command) => source.ask(command);
state.relist = () => choosing.refresh(true);
state.draw = () => stage.draw();
state.points = () => stage.points;
state.history = () => curves.rows.map(([step]) => step);

const addressless = window.HEGEMON_BRIDGE ? ["film", "disturbances", "story"] : window.HEGEMON_LIVE ? ["film"] : [];
for (const id of addressless) byId(id).remove(); // there is no address to take them from
if (window.HEGEMON_LIVE) {
  for (const id of ["disturbances", "story"]) {
    byId(id).onclick = async (event) => {
      event.preventDefault();
      const found = await tell({ do: id });
      if (!found.refused) download(new Blob([JSON.stringify(found[id], null, 1)], { type: "application/json" }), `${id}.json`);
    };
  }
}
if (!window.HEGEMON_FILM) introduce();
source = window.HEGEMON_FILM ? new Film(take, window.HEGEMON_FILM) : new Live(take);
