// Everything beside the stage that is text: lamps, one agent, legend, source.
import { figure } from "./curves.js";
import { CanvasPen } from "./pens.js";

export const byId = (name) => document.getElementById(name);

export function element(kind, text, name) {
  const made = document.createElement(kind);
  if (text !== undefined) made.textContent = text;
  if (name) made.className = name;
  return made;
}

// A text in which names stand between backticks.
function worded(text) {
  return text.split("`").map((part, k) => (k % 2 ? element("code", part) : part));
}

export const sentence = (text) => (text ? `${text[0].toUpperCase()}${text.slice(1)}.` : "");

export function showFacts(greeting) {
  byId("protocol").textContent = greeting.protocol;
  const parameters = Object.entries(greeting.parameters).map(([name, value]) => `${name} = ${figure(value)}`);
  const { torus } = greeting;
  const graph = torus ? `torus of ${torus.columns} × ${torus.rows} cells` : greeting.graph.startsWith("complete") ? "complete graph" : greeting.graph;
  byId("facts").textContent = [`n = ${greeting.n.toLocaleString("en")}`, graph, ...parameters, `seed ${greeting.seed}`, `engine ${greeting.engine}`].join(" · ");
  byId("facts").title = greeting.reason;
  const manner = element("span", ` ${greeting.manner}`);
  manner.id = "manner";
  byId("summary").replaceChildren(...worded(greeting.summary), manner);
  byId("helpprotocol").textContent = greeting.protocol;
  byId("helpabout").replaceChildren(...worded(`${greeting.summary} ${greeting.manner}`));
  byId("helpsets").replaceChildren(...Object.entries(greeting.sets).map(([name, doc]) => {
    const row = element("tr");
    const cell = element("td");
    cell.append(...worded(doc));
    row.append(element("td", name), cell);
    return row;
  }));
  byId("reference").textContent = greeting.reference;
  document.title = `${greeting.protocol} · hegemon`;
}

export function showLamps(greeting, head) {
  const box = byId("lamps");
  const lamps = head.lamps || {};
  byId("lampbox").hidden = !Object.keys(lamps).length;
  if (box.dataset.names !== Object.keys(lamps).join()) {
    box.dataset.names = Object.keys(lamps).join();
    box.replaceChildren(...Object.keys(lamps).map((name) => {
      const row = element("div", undefined, "lamp");
      row.dataset.name = name;
      const said = element("span");
      said.append(...worded(greeting.sets[name] || ""));
      row.append(element("i"), element("b", name), said);
      return row;
    }));
  }
  for (const row of box.children) {
    const lit = lamps[row.dataset.name];
    row.className = `lamp ${lit === null ? "unknown" : lit ? "on" : ""}`;
    row.title = lit === null ? (greeting.absent ? "this page cannot decide it" : greeting.hasEvents || head.agents !== undefined ? "agents come and go, and this set is about all n" : "too many agents to be looked at") : lit ? "inside" : "outside";
  }
  byId("healing").textContent = head.events ? happened(head.events) : [present(head), healing(greeting, head)].filter(Boolean).join("; ");
}

function happened({ events, agents }) {
  return `${figure(events)} event${events === 1 ? "" : "s"}` + (agents === undefined ? "" : `, ${figure(agents)} agents`);
}

function present({ agents }) {
  return agents === undefined ? "" : `${figure(agents)} agents`;
}

function healing(greeting, head) {
  const found = head.healing;
  if (!found || !("safe" in (head.lamps || {}))) return "";
  const unit = greeting.unit;
  const what = found.disturbed ? "healed" : "safe";
  if (found.steps === undefined) return found.disturbed ? `disturbed at ${figure(found.since)}, not yet safe again` : "";
  const one = unit.slice(0, -1);
  const after = `${what} ${found.exact ? "after" : "after at most"} ${figure(found.steps)} ${unit}, at ${figure(found.step)}`;
  if (head.lamps.safe === false) { // a set that is not closed
    const { leaders } = head.values || {};
    const now = leaders === undefined ? "" : leaders === 1 ? "; there is still one leader" : `; there are ${figure(leaders)} leaders`;
    return `${found.disturbed ? after : `reached safe at ${one} ${figure(found.step)}`}; now outside safe${now}`;
  }
  return found.disturbed ? after : `${what} ${found.exact ? "from" : "at the latest from"} ${one} ${figure(found.step)} on`;
}

export function showAgent(greeting, found, change) {
  const box = byId("agent");
  byId("agenttitle").textContent = `${greeting.model === "population" ? "Agent" : "Node"} ${found.agent}`;
  const table = element("table");
  for (const [name, value] of Object.entries(found.state)) {
    const row = element("tr");
    const cell = element("td");
    const field = greeting.fields[name];
    if (change && field) cell.append(editor(name, value, field, change));
    else cell.textContent = figure(value);
    row.append(element("td", name), cell);
    table.append(row);
  }
  box.replaceChildren(table);
  if (change && greeting.fields.leader && found.state.leader === 1) {
    const button = element("button", "kill this leader");
    button.id = "killone";
    button.onclick = () => change("leader", 0);
    box.append(button);
  }
}

export function showKill(leaders) {
  byId("kill").textContent = leaders === 0 ? "no leader to kill" : leaders > 1 ? `kill all leaders (${figure(leaders)})` : "kill the leader";
  byId("kill").disabled = leaders === 0;
}

function editor(name, value, field, change) {
  const few = field.names.length || field.high - field.low < 12;
  const input = document.createElement(few ? "select" : "input");
  input.setAttribute("aria-label", name);
  input.dataset.field = name;
  if (few) {
    const values = field.names.length ? field.names : Array.from({ length: field.high - field.low + 1 }, (_, k) => field.low + k);
    input.append(...values.map((one) => { const option = element("option", String(one)); option.value = one; return option; }));
  } else {
    Object.assign(input, { type: "number", min: field.low, max: field.high });
  }
  input.value = value;
  input.addEventListener("change", () => change(name, field.names.length ? input.value : Number(input.value)));
  return input;
}

export function tipText(greeting, found) {
  const who = greeting.model === "population" ? "agent" : "node";
  return `${who} ${found.agent}: ` + Object.entries(found.state).map(([name, value]) => `${name} ${value}`).join(", ");
}

export function showLegend(stage) {
  const { look, greeting } = stage;
  const box = byId("legend");
  const sizes = look.channels.map((channel) => channel.labels.length);
  const byteOf = (values) => values.reduce((sum, value, k) => sum * sizes[k] + value, 0);
  const keys = [];
  look.channels.forEach((channel, k) => {
    const wanted = channel.part === "shade" ? [0, sizes[k] - 1] : channel.part === "class" ? [...Array(sizes[k]).keys()] : [...Array(sizes[k]).keys()].slice(1);
    for (const value of wanted) {
      const values = look.channels.map((other, j) => (other.part === "shade" ? sizes[j] - 1 : 0)); // full colours
      values[k] = value;
      const label = channel.labels[value];
      const text = channel.part === "shade" ? `${channel.name} ${label}` : channel.part === "badge" && !label.includes("=") ? `${channel.name} ${label}` : label;
      keys.push(key(stage, byteOf(values), text));
    }
  });
  for (const [k, name] of greeting.kinds.entries()) {
    const one = element("span", undefined, "key");
    const dot = element("i");
    dot.style.cssText = `width:.7rem;height:.7rem;border-radius:50%;background:${look.ofKind(k)}`;
    one.append(dot, element("span", `message ${name}`));
    keys.push(one);
  }
  box.className = "";
  box.replaceChildren(...keys);
}

function key(stage, byte, text) {
  const one = element("span", undefined, "key");
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = 44;
  const context = canvas.getContext("2d");
  context.scale(2, 2);
  stage.paintAgents(new CanvasPen(context), stage.look.of(byte), [[11, 11]], 6.5);
  one.append(canvas, element("span", text));
  return one;
}

export function showBands(stage, head) {
  const totals = new Map();
  for (const [byte, count] of head.bands) {
    const name = stage.look.name(byte);
    const found = totals.get(name) || { byte, count: 0n };
    totals.set(name, { byte: Math.max(byte, found.byte), count: found.count + BigInt(count) });
  }
  const unit = stage.greeting.unit;
  byId("bandaxis").hidden = false;
  byId("bandfirst").textContent = `${figure(stage.bands[0]?.step ?? 0)} ${unit}`;
  byId("bandlast").textContent = `${figure(head.step)} ${unit} = ${figure(head.step / (unit === "rounds" ? 1 : stage.greeting.n))} ${unit === "rounds" ? "rounds" : "parallel time"}`;
  const rows = [...totals].filter(([, { count }]) => count > 0n).sort(([, a], [, b]) => (a.count < b.count ? 1 : -1)).slice(0, 14);
  rows.sort(([, a], [, b]) => b.byte - a.byte); // as they lie in the picture, whatever their counts become
  const box = byId("legend");
  box.className = "bands";
  box.style.setProperty("--rows", Math.max(rows.length, box.style.getPropertyValue("--rows") || 0));
  box.replaceChildren(...rows.map(([name, { byte, count }]) => {
    const row = element("div", undefined, "bandrow");
    const dot = element("i");
    dot.style.background = stage.look.band(byte);
    row.append(dot, element("span", name), element("span", count.toLocaleString("en")));
    return row;
  }));
}

export function showSource(greeting) {
  const box = byId("source");
  byId("sourcebox").hidden = !greeting.listing.length;
  byId("sourcetitle").textContent = greeting.listing.length ? `Source of ${greeting.listing[0].name}` : "Source";
  box.replaceChildren();
  for (const block of greeting.listing) {
    if (box.children.length) box.append(element("span", "", "gap"));
    block.lines.forEach((line, k) => {
      const row = element("span", line || " ");
      row.dataset.line = `${block.name}:${block.first + k}`;
      box.append(row);
    });
  }
}

export function markSource(lines) {
  const box = byId("source");
  const wanted = new Set((lines || []).map(([name, line]) => `${name}:${line}`));
  let first = null;
  for (const row of box.children) {
    const hit = wanted.has(row.dataset.line);
    row.classList.toggle("hit", hit);
    if (hit && !first) first = row;
  }
  if (first && (first.offsetTop - box.offsetTop < box.scrollTop || first.offsetTop - box.offsetTop > box.scrollTop + box.clientHeight - 30)) {
    box.scrollTop = first.offsetTop - box.offsetTop - 30;
  }
}
