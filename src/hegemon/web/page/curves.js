// The observables as live curves, one line each.
const POINTS = 500;

export class Curves {
  constructor(box) {
    this.box = box;
    this.rows = [];
    this.lines = new Map();
  }

  greet(greeting) {
    this.docs = greeting.observables;
    this.unit = greeting.unit;
    this.box.classList.toggle("large", greeting.n >= 1e6); // room for all digits
    this.rows = greeting.rows.slice();
    this.branch = null;
    this.lines.clear();
    this.box.replaceChildren();
  }

  // The values at a step; where the run has gone on since, that is the last one known.
  add(step, values, branch) {
    if (this.branch !== null && branch !== this.branch) this.rows = this.rows.filter((row) => row[0] <= step);
    this.branch = branch;
    this.step = step;
    const last = this.rows.length ? this.rows[this.rows.length - 1][0] : -1;
    if (step > last) this.rows.push([step, values]);
    else {
      const place = this.rows.findIndex((row) => row[0] >= step);
      if (this.rows[place][0] === step) this.rows[place] = [step, values];
    }
    if (this.rows.length > 2 * POINTS) this.rows = this.rows.filter((_, k) => k % 2 === 0);
    for (const name of Object.keys(values)) if (!this.lines.has(name)) this.addLine(name);
    this.values = values;
  }

  addLine(name) {
    const row = document.createElement("div");
    row.className = "curve";
    row.title = this.docs[name] || name;
    const [label, now, canvas, scale] = ["span", "span", "canvas", "span"].map((kind) => document.createElement(kind));
    scale.className = "scale";
    label.className = "name";
    label.textContent = name.replaceAll("_", " ");
    now.className = "now";
    row.append(label, now, canvas, scale);
    this.box.append(row);
    this.lines.set(name, { now, canvas, scale });
  }

  draw() {
    const style = getComputedStyle(document.documentElement);
    const [ink, faint] = [style.getPropertyValue("--accent"), style.getPropertyValue("--line")];
    const rows = this.rows;
    const [first, last] = [rows[0][0], Math.max(rows[rows.length - 1][0], rows[0][0] + 1)];
    const axis = document.getElementById("curveaxis").children;
    [axis[0].textContent, axis[1].textContent] = [figure(first), `${figure(rows[rows.length - 1][0])} ${this.unit}`];
    const ratio = window.devicePixelRatio || 1;
    const sizes = [...this.lines.values()].map(({ canvas }) => [canvas.clientWidth, canvas.clientHeight]); // before any change: one layout
    for (const [k, [name, { now, canvas, scale }]] of [...this.lines].entries()) {
      const [width, height] = sizes[k];
      now.textContent = figure(this.values[name]);
      if (canvas.width !== Math.round(width * ratio)) { canvas.width = Math.round(width * ratio); canvas.height = Math.round(height * ratio); }
      const c = canvas.getContext("2d");
      c.setTransform(ratio, 0, 0, ratio, 0, 0);
      c.clearRect(0, 0, width, height);
      let [low, high] = [Infinity, -Infinity];
      for (const [, values] of rows) { const y = values[name]; if (y < low) low = y; if (y > high) high = y; }
      scale.replaceChildren(...[high, low].map((value, k) => { const one = document.createElement("i"); one.textContent = k || high > low ? figure(value) : ""; return one; }));
      if (!(high > low)) high = low + 1;
      const x = (step) => 2 + ((width - 4) * (step - first)) / (last - first);
      const y = (value) => height - 3 - ((height - 6) * (value - low)) / (high - low);
      c.strokeStyle = faint;
      c.beginPath(); c.moveTo(x(this.step), 0); c.lineTo(x(this.step), height); c.stroke();
      c.strokeStyle = ink;
      c.lineWidth = 1.5;
      c.beginPath();
      rows.forEach(([step, values], k) => (k ? c.lineTo(x(step), y(values[name])) : c.moveTo(x(step), y(values[name]))));
      c.stroke();
    }
  }
}

export function figure(value) {
  if (typeof value !== "number") return String(value ?? "–");
  if (Number.isInteger(value)) return value.toLocaleString("en");
  return Math.abs(value) >= 1e5 ? value.toExponential(2) : value.toLocaleString("en", { maximumSignificantDigits: 4 });
}
