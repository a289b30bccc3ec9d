// The run's own values as controls: protocol, n, parameters, graph, start and the rest. Empty means the default.
import { byId, element } from "./panels.js";

const OPTIONS = ["n", "graph", "start", "wake", "scheduler", "engine", "rates", "faults", "seed"];

export class Setup {
  // `ask` asks what a protocol offers, and starts over with the values.
  constructor(ask) {
    this.form = byId("setup");
    byId("protocols").onchange = async () => {
      const before = this.values();
      const found = await ask({ do: "choices", protocol: before.protocol });
      if (found.protocol === byId("protocols").value) this.offerAll(found, before);
    };
    this.form.onsubmit = async (event) => {
      event.preventDefault();
      this.busy(true);
      const found = await ask({ do: "start", values: this.values() });
      this.busy(false, found.refused);
    };
  }

  // Another protocol: its defaults, except for what was written while they were on their way.
  offerAll(choices, before) {
    const now = this.values();
    this.fill(choices, { n: now.n, seed: now.seed });
    for (const name of OPTIONS) if (now[name] !== before[name]) this.input(name).value = now[name];
  }

  input(name) {
    return byId(name === "start" ? "starts" : `setup-${name}`);
  }

  greet(greeting) {
    byId("setupbox").hidden = !greeting.setup;
    if (!greeting.setup) return;
    this.fillSelect(byId("protocols"), greeting.protocols, greeting.setup.protocol);
    byId("protocols").closest("label").hidden = Object.keys(greeting.protocols).length < 2;
    this.fill(greeting.choices, greeting.setup);
  }

  // What a protocol offers, with the values of a run, or with its defaults.
  fill(choices, values) {
    const chosen = values.parameters || {};
    byId("parameters").replaceChildren(...choices.parameters.map((one) => {
      const label = element("label", one.name);
      label.title = one.default ? `${one.help} (${one.default})` : one.help; // a field may be too narrow for it
      const input = document.createElement("input");
      Object.assign(input, { value: chosen[one.name] ?? "", placeholder: one.default || "none", autocomplete: "off" });
      input.dataset.parameter = one.name;
      if (one.choices.length) input.setAttribute("list", this.list(one.name, one.choices));
      label.append(input);
      return label;
    }));
    const graph = byId("setup-graph");
    graph.value = values.graph || "";
    graph.placeholder = choices.graph;
    graph.closest("label").hidden = !choices.graphs.length;
    this.list("graphs", choices.graphs.map((one) => one.split(":")[0] + ":"));
    byId("setup-n").value = values.n;
    byId("setup-n").closest("label").hidden = choices.sizes?.length === 1;
    byId("setup-n").setAttribute("list", this.list("sizes", choices.sizes ?? []));
    byId("setup-seed").value = values.seed;
    const starts = { ...choices.starts };
    const start = values.start || choices.start;
    if (start && !(start in starts) && /\.(json|csv)$/.test(start) && start === values.start) starts[start] = "the file of the command line";
    this.offer("start", starts, start in starts ? start : choices.start);
    this.offer("wake", this.named(choices.wakes), values.wake);
    this.offer("engine", this.named(choices.engines), values.engine || "auto");
    const scheduler = byId("setup-scheduler");
    scheduler.closest("label").hidden = !choices.schedulers.length;
    scheduler.value = values.scheduler || choices.schedulers[0] || "";
    this.list("schedulers", choices.schedulers);
    for (const name of ["rates", "faults"]) {
      byId(`setup-${name}`).value = values[name] || "";
      byId(`setup-${name}`).closest("label").hidden = !choices[name];
    }
  }

  named(names) {
    return Object.fromEntries(names.map((name) => [name, ""]));
  }

  offer(name, options, value) {
    const select = this.input(name);
    select.closest("label").hidden = Object.keys(options).length < 2;
    this.fillSelect(select, options, value);
  }

  fillSelect(select, options, value) {
    select.replaceChildren(...Object.entries(options).map(([name, doc]) => {
      const option = element("option", name);
      option.value = name;
      option.title = doc;
      return option;
    }));
    if (value in options) select.value = value;
  }

  list(name, values) {
    const id = `list-${name}`;
    let list = byId(id);
    if (!list) {
      list = element("datalist");
      list.id = id;
      this.form.append(list);
    }
    list.replaceChildren(...values.map((value) => { const option = element("option"); option.value = value; return option; }));
    return id;
  }

  values() {
    const found = { protocol: byId("protocols").value, parameters: {} };
    for (const name of OPTIONS) {
      const input = this.input(name);
      if (!input.closest("label").hidden) found[name] = input.value;
    }
    for (const input of byId("parameters").querySelectorAll("input")) found.parameters[input.dataset.parameter] = input.value;
    return found;
  }

  // While the new run is made, and compiled if it is the first of its kind. The run that comes replaces all values.
  busy(is, refused = "") {
    for (const control of this.form.elements) control.disabled = is;
    byId("restart").textContent = is ? "starting …" : "start over";
    byId("setuprefused").textContent = refused;
  }
}
