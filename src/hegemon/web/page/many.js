// Many runs of a page that runs by itself: a histogram that grows, and the first twelve side by side.
import { byId, element } from "./panels.js";
import { figure } from "./curves.js";

const [BINS, TRIALS] = [40, 1000];

export class Many {
  constructor(ask) {
    byId("manyrun").onclick = async () => {
      const found = await ask({ do: "many", count: this.busy ? 0 : TRIALS });
      byId("manytold").textContent = found.refused || byId("manytold").textContent;
    };
  }

  greet(greeting) {
    byId("manybox").hidden = !greeting.palette;
    for (const name of ["manytold", "manycommand"]) byId(name).textContent = "";
    byId("manystrip").replaceChildren();
    this.told = null;
    this.draw();
  }

  show(told) {
    this.told = told;
    this.busy = told.busy;
    byId("manyrun").textContent = told.busy ? "stop" : "make 1,000 runs";
    const mean = told.steps.reduce((sum, step) => sum + step, 0) / told.steps.length;
    const missed = told.missed ? `; ${told.missed} not in safe after ${figure(told.limit)}` : "";
    const counted = `${figure(told.done)} of ${figure(told.count)} runs`;
    byId("manytold").textContent = told.steps.length ? `${counted}: safe after ${figure(Math.round(mean))} steps on average, ${figure(Math.min(...told.steps))} to ${figure(Math.max(...told.steps))}${missed}` : counted + missed;
    byId("manycommand").textContent = told.command;
    this.draw();
  }

  draw() {
    const canvas = byId("manyplot");
    const steps = this.told?.steps ?? [];
    canvas.hidden = !steps.length;
    if (!steps.length) return;
    const [context, width, height] = this.blank(canvas);
    const [low, high] = [Math.min(...steps), Math.max(...steps) + 1];
    const counts = new Array(BINS).fill(0);
    for (const step of steps) counts[Math.floor(((step - low) * BINS) / (high - low))] += 1;
    const most = Math.max(...counts);
    context.fillStyle = getComputedStyle(document.documentElement).getPropertyValue("--accent");
    counts.forEach((count, k) => context.fillRect((k * width) / BINS, height - (count * height) / most, width / BINS - 1, (count * height) / most));
    byId("manyaxis").firstChild.textContent = figure(low);
    byId("manyaxis").lastChild.textContent = `${figure(high - 1)} steps`;
    this.drawStrip();
  }

  drawStrip() {
    const box = byId("manystrip");
    const { curves } = this.told;
    while (box.children.length < curves.length) {
      const one = element("figure");
      one.append(element("canvas"), element("figcaption", ""));
      box.append(one);
    }
    const end = Math.max(1, ...curves.map(({ rows }) => rows[rows.length - 1][0]));
    const top = Math.max(1, ...curves.flatMap(({ rows }) => rows.map(([, value]) => value)));
    curves.forEach(({ rows, step }, k) => {
      const [canvas, caption] = box.children[k].children;
      const [context, width, height] = this.blank(canvas);
      caption.textContent = step === null ? `run ${k}` : figure(step);
      context.strokeStyle = getComputedStyle(document.documentElement).getPropertyValue("--accent");
      context.beginPath();
      rows.forEach(([at, value], j) => (j ? context.lineTo : context.moveTo).call(context, 1 + (at * (width - 2)) / end, height - 2 - (value * (height - 4)) / top));
      context.stroke();
    });
  }

  blank(canvas) {
    const ratio = window.devicePixelRatio || 1;
    const [width, height] = [canvas.clientWidth || 300, canvas.clientHeight || 60];
    [canvas.width, canvas.height] = [Math.round(width * ratio), Math.round(height * ratio)];
    const context = canvas.getContext("2d");
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    return [context, width, height];
  }
}
