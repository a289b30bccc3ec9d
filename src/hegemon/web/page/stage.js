// The agents: as a graph, as a raster, or as bands of counts.
import { mix } from "./look.js";
import { CanvasPen, SvgPen } from "./pens.js";
import { Discs, Raster } from "./pixels.js";
import { Torus } from "./torus.js";

const COLUMNS = 500; // of the bands
const TOP = 38; // pixels for the clock
const MANY = 300; // agents: from here on they are drawn pixel by pixel

export class Stage {
  constructor(canvas) {
    this.canvas = canvas;
    this.context = canvas.getContext("2d");
    this.calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
    this.bands = [];
    this.moved = 1;
    new ResizeObserver(() => this.resize()).observe(canvas);
  }

  greet(greeting, look) {
    this.greeting = greeting;
    this.torus = greeting.torus && new Torus(greeting.torus);
    this.look = look;
    this.picture = null;
    this.head = null;
    this.bands = [];
    this.selected = null;
    this.resize();
  }

  restyle(look) {
    this.look = look;
    this.resize();
  }

  resize() {
    const ratio = window.devicePixelRatio || 1;
    this.width = this.canvas.clientWidth || 600;
    this.height = this.canvas.clientHeight || 400;
    this.canvas.width = Math.round(this.width * ratio);
    this.canvas.height = Math.round(this.height * ratio);
    this.ratio = ratio;
    this.discs = this.raster = null;
    if (!this.greeting) return;
    if (this.greeting.kind === "graph") this.place();
    this.draw();
  }

  place() {
    const { torus } = this;
    const places = this.greeting.places ?? [torus.at(0, 0)];
    let [w, h] = [0.05, 0.05];
    for (const [x, y] of places) { w = Math.max(w, Math.abs(x)); h = Math.max(h, Math.abs(y)); }
    const gap = torus?.gap ?? Stage.nearest(places);
    const room = 1 + Math.min(0.25, gap * 0.6);
    const tall = this.height - TOP - 8;
    const scale = Math.min(this.width / 2 / (w * room + 0.02), tall / 2 / (h * room + 0.02));
    this.onPaper = ([x, y]) => [this.width / 2 + x * scale, TOP + tall / 2 + y * scale];
    this.scale = scale;
    this.radius = Math.max(1.2, Math.min(17, gap * scale * 0.36));
    this.move();
  }

  // Agents on a torus are where the frame says, all others where the greeting does.
  move() {
    const places = this.torus ? this.head && this.torus.places(this.head) : this.greeting.places;
    this.points = places?.map(this.onPaper) ?? [];
  }

  static nearest(places) {
    if (places.length < 2) return 1;
    const sample = places.length > 400 ? places.filter((_, k) => k % Math.ceil(places.length / 400) === 0) : places;
    const found = sample.map(([x, y]) => {
      let least = Infinity;
      for (const [a, b] of places) {
        const d = (a - x) ** 2 + (b - y) ** 2;
        if (d > 1e-9 && d < least) least = d;
      }
      return Math.sqrt(least);
    });
    found.sort((a, b) => a - b);
    return found[Math.floor(found.length / 4)];
  }

  show(head, picture) {
    this.head = head;
    this.picture = picture;
    if (head.bands) this.flow(head);
    if (this.torus) this.move();
    if (head.messages && !this.calm && !document.hidden) this.travel();
    else this.moved = 1;
    this.draw();
  }

  // Messages move along their edges once.
  travel() {
    const begin = performance.now();
    const shown = this.head;
    const tick = (now) => {
      if (this.head !== shown) return;
      this.moved = Math.min(1, (now - begin) / 350);
      this.draw();
      if (this.moved < 1) requestAnimationFrame(tick);
    };
    this.moved = 0;
    requestAnimationFrame(tick);
  }

  flow(head) {
    const total = head.bands.reduce((sum, [, count]) => sum + Number(count), 0);
    const column = { step: head.step, shares: new Map(head.bands.map(([byte, count]) => [byte, Number(count) / total])) };
    while (this.bands.length && this.bands[this.bands.length - 1].step >= head.step) this.bands.pop();
    this.bands.push(column);
    if (this.bands.length > 2 * COLUMNS) this.bands = this.bands.filter((_, k) => k % 2 === 0);
  }

  draw() {
    if (!this.greeting || !this.head) return;
    const c = this.context;
    const kind = this.greeting.kind;
    if (kind === "raster") return this.drawRaster();
    const many = kind === "graph" && this.picture.length >= MANY && !this.head.messages;
    if (many) this.drawDiscs();
    c.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    if (many) return this.paintMarks(new CanvasPen(c));
    c.clearRect(0, 0, this.width, this.height);
    this.paint(new CanvasPen(c));
  }

  drawDiscs() {
    const { look, radius } = this;
    const paper = (context) => {
      context.fillStyle = look.ground;
      context.fillRect(0, 0, this.width, this.height);
      this.paintEdges(new CanvasPen(context));
    };
    const one = (pen, byte, place) => this.paintAgents(pen, look.of(byte), [place], radius);
    this.discs ??= new Discs(this.context, this.ratio, 1.9 * radius + 2, paper, one);
    this.discs.draw(this.picture, this.points, (byte) => look.of(byte).leader);
  }

  drawRaster() {
    const { ratio, look, picture } = this;
    const columns = this.greeting.width;
    const rows = Math.ceil(picture.length / columns);
    if (!this.raster) {
      const [x, y, scale] = (this.box = this.rasterBox(columns, rows));
      const place = [x, y, columns * scale, rows * scale].map((length) => Math.max(1, Math.round(length * ratio)));
      this.raster = new Raster(this.context, look.ground, look.pixels(), columns, rows, place);
    }
    this.raster.draw(picture);
  }

  rasterBox(columns, rows) {
    const tall = this.height - TOP - 10;
    const scale = Math.min((this.width - 20) / columns, tall / rows);
    return [(this.width - columns * scale) / 2, TOP + (tall - rows * scale) / 2, scale];
  }

  svg() {
    const pen = new SvgPen(this.width, this.height, this.look.ground);
    this.paint(pen);
    return pen.text();
  }

  paint(pen) {
    const kind = this.greeting.kind;
    if (kind === "graph") this.paintGraph(pen);
    else if (kind === "raster") this.paintRaster(pen);
    else this.paintBands(pen);
  }

  paintGraph(pen) {
    const { points, radius, look, picture } = this;
    this.paintEdges(pen);
    const messages = this.paintMessages(pen);
    const groups = new Map();
    for (let v = 0; v < picture.length; v++) {
      const byte = picture[v];
      const group = groups.get(byte);
      group ? group.push(points[v]) : groups.set(byte, [points[v]]);
    }
    const ordered = [...groups].sort(([a], [b]) => look.of(a).leader - look.of(b).leader);
    for (const [byte, places] of ordered) this.paintAgents(pen, look.of(byte), places, radius);
    for (const [colour, segments] of messages) this.paintDots(pen, colour, segments);
    this.paintMarks(pen);
  }

  paintEdges(pen) {
    const { points, radius, look } = this;
    const edges = this.greeting.edges;
    if (this.torus) pen.lines(this.torus.lines(this.onPaper, this.scale), mix(look.ground, look.ink, 0.12), 1);
    if (!edges.length) return;
    const segments = [];
    const crowded = edges.length > 600 ? 0.55 : 0.8;
    for (let k = 0; k < edges.length; k += 2) {
      const [a, b] = [points[edges[k]], points[edges[k + 1]]];
      segments.push([a[0], a[1], b[0], b[1]]);
    }
    pen.lines(segments, mix(look.ground, look.ink, 0.28 * crowded), Math.max(0.5, Math.min(1.4, radius / 8)));
  }

  // The last interaction or node, and the agent that was chosen.
  paintMarks(pen) {
    const { points, radius, look, head } = this;
    this.paintTexts(pen);
    if (head.last?.pair) this.paintMeeting(pen, head.last.pair);
    if (head.last?.node !== undefined) pen.circles([points[head.last.node]], radius * 1.45, null, look.ink, 1.5);
    if (this.selected !== null && points[this.selected]) {
      pen.circles([points[this.selected]], radius * 1.75, null, look.dark ? "#6cb6f0" : "#0b62a4", 2.5);
    }
  }

  // What the visitor wants written, as large as the room between the agents allows.
  paintTexts(pen) {
    const texts = this.head.texts;
    if (!texts) return;
    const longest = Math.max(1, ...texts.flatMap((text) => text.split("\n").map((part) => part.length)));
    const tall = Math.max(1, ...texts.map((text) => text.split("\n").filter(Boolean).length));
    const size = Math.max(6, Math.min(14, (this.radius * 3.6) / longest, (this.radius * 2.2) / tall));
    pen.texts(texts, this.points, size, this.look.ink, this.look.ground);
  }

  paintAgents(pen, seen, places, radius) {
    const size = seen.leader ? radius * 1.22 : radius;
    pen.circles(places, size, seen.fill, radius >= 2.5 ? seen.rim : null, Math.max(1, radius / 6)); // small: nothing but rims
    if (seen.leader && radius > 4) for (const place of places) pen.polygon(star(place, size * 0.62), "#ffffff");
    if (radius < 2.5) return;
    for (const badge of seen.badges) {
      const [dx, dy, part] = [[0, 0, 0.42], [0, 0, 0], [0.72, -0.72, 0.34], [0.72, 0.72, 0.34], [-0.72, 0.72, 0.42]][badge.place];
      if (badge.place === 1) pen.circles(places, size * 1.12, null, badge.colour, Math.max(1.2, radius * 0.24));
      else pen.circles(places.map(([x, y]) => [x + dx * size, y + dy * size]), Math.max(1, radius * part), badge.colour, this.look.ground, Math.max(0.5, radius / 14));
    }
  }

  paintMeeting(pen, [a, b]) {
    const [from, to] = [this.points[a], this.points[b]];
    const length = Math.hypot(to[0] - from[0], to[1] - from[1]) || 1;
    const [ux, uy] = [(to[0] - from[0]) / length, (to[1] - from[1]) / length];
    const reach = this.radius * 1.35;
    const ink = this.look.ink;
    pen.circles([from, to], this.radius * 1.4, null, ink, 1.6);
    if (length < 2.2 * reach || this.torus?.isAcross(this.head, a, b)) return;
    const tip = [to[0] - ux * reach, to[1] - uy * reach];
    pen.lines([[from[0] + ux * reach, from[1] + uy * reach, tip[0], tip[1]]], ink, 1.6);
    const wing = Math.max(4, Math.min(9, this.radius * 0.8));
    pen.polygon([tip, [tip[0] - ux * wing - uy * wing * 0.5, tip[1] - uy * wing + ux * wing * 0.5], [tip[0] - ux * wing + uy * wing * 0.5, tip[1] - uy * wing - ux * wing * 0.5]], ink);
  }

  // Their lines lie under the agents, their dots above; answers [colour, segments] for the dots.
  paintMessages(pen) {
    const messages = this.head.messages || [];
    const byKind = new Map();
    for (const [v, w, kind] of messages) byKind.has(kind) ? byKind.get(kind).push([v, w]) : byKind.set(kind, [[v, w]]);
    const faint = messages.length > 150 ? 0.25 : 0.6;
    return [...byKind].map(([kind, pairs]) => {
      const colour = this.look.ofKind(kind);
      const segments = pairs.map(([v, w]) => [...this.points[v], ...this.points[w]]);
      pen.lines(segments, mix(this.look.ground, colour, faint), messages.length > 150 ? 0.7 : 1.5);
      return [colour, segments];
    });
  }

  paintDots(pen, colour, segments) {
    const share = this.moved < 1 ? this.moved : 0.6;
    const dots = segments.map(([a, b, c, d]) => [a + (c - a) * share, b + (d - b) * share]);
    pen.circles(dots, Math.max(1.4, Math.min(4.5, this.radius * 0.4)), colour, this.look.ground, 1);
  }

  paintRaster(pen) {
    const columns = this.greeting.width;
    const rows = Math.ceil(this.picture.length / columns);
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [columns, rows];
    new Raster(canvas.getContext("2d"), this.look.ground, this.look.pixels(), columns, rows, [0, 0, columns, rows]).draw(this.picture);
    const [x, y, scale] = this.rasterBox(columns, rows);
    pen.image(canvas, x, y, columns * scale, rows * scale);
  }

  paintBands(pen) {
    const columns = this.bands;
    if (!columns.length) return;
    const [left, top, width, height] = [14, 44, this.width - 28, this.height - 74]; // below: the axis of time
    const [first, last] = [columns[0].step, columns[columns.length - 1].step];
    const x = (step) => left + (last === first ? width : (width * (step - first)) / (last - first));
    const bytes = [...new Set(columns.flatMap((column) => [...column.shares.keys()]))].sort((a, b) => a - b);
    const base = columns.map(() => 0);
    for (const byte of bytes) {
      const lower = columns.map((column, k) => [x(column.step), top + height * (1 - base[k]) + (base[k] ? 1 : 0)]); // over the seam
      columns.forEach((column, k) => { base[k] += column.shares.get(byte) || 0; });
      const upper = columns.map((column, k) => [x(column.step), top + height * (1 - base[k])]);
      if (columns.length === 1) { lower.unshift([left, lower[0][1]]); upper.unshift([left, upper[0][1]]); }
      pen.polygon([...lower, ...upper.reverse()], this.look.band(byte));
    }
  }

  // The agent under a point of the page, or null.
  at(x, y) {
    if (!this.picture) return null;
    if (this.greeting.kind === "graph") {
      let [best, least] = [null, (Math.max(9, this.radius * 1.6)) ** 2];
      this.points.forEach(([a, b], v) => {
        const d = (a - x) ** 2 + (b - y) ** 2;
        if (d < least && v < this.picture.length) [best, least] = [v, d];
      });
      return best;
    }
    if (this.greeting.kind === "raster" && this.box && !this.greeting.downsampled) {
      const [column, row] = [Math.floor((x - this.box[0]) / this.box[2]), Math.floor((y - this.box[1]) / this.box[2])];
      const agent = row * this.greeting.width + column;
      return column >= 0 && column < this.greeting.width && row >= 0 && agent < this.picture.length ? agent : null;
    }
    return null;
  }

  // The arc under a point, from the nearer end where both directions are arcs; null if there is none.
  arcAt(x, y) {
    const edges = this.greeting.kind === "graph" ? this.greeting.edges : [];
    let [best, least] = [null, 7];
    for (let k = 0; k < edges.length; k += 2) {
      const [a, b] = [this.points[edges[k]], this.points[edges[k + 1]]];
      const [dx, dy] = [b[0] - a[0], b[1] - a[1]];
      const along = ((x - a[0]) * dx + (y - a[1]) * dy) / (dx * dx + dy * dy || 1);
      const away = along < 0 || along > 1 ? Infinity : Math.hypot(x - a[0] - along * dx, y - a[1] - along * dy);
      if (away < least) [best, least] = [along < 0.5 || this.greeting.directed ? [edges[k], edges[k + 1]] : [edges[k + 1], edges[k]], away];
    }
    return best;
  }
}

function star([x, y], radius) {
  return Array.from({ length: 10 }, (_, k) => {
    const [angle, r] = [(k * Math.PI) / 5 - Math.PI / 2, k % 2 ? radius * 0.45 : radius];
    return [x + r * Math.cos(angle), y + r * Math.sin(angle)];
  });
}
