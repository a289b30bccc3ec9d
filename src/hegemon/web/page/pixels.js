// Many agents, pixel by pixel: a browser without a graphics card takes several times as long for two thousand discs.
import { pixelOf } from "./look.js";
import { CanvasPen } from "./pens.js";

const PHASES = 4; // places between two pixels, in each direction, that a disc can have

function scratch(width, height) {
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [width, height];
  return canvas.getContext("2d", { willReadFrequently: true });
}

// Discs on a paper that is painted once. `paintOne(pen, byte, place)` paints one agent.
export class Discs {
  constructor(context, ratio, reach, paintPaper, paintOne) {
    const { width, height } = context.canvas;
    Object.assign(this, { context, ratio, width, paintOne, stamps: new Map() });
    this.side = 2 * Math.ceil(reach * ratio) + 2;
    this.pen = scratch(this.side, this.side);
    const paper = scratch(width, height);
    paper.scale(ratio, ratio);
    paintPaper(paper);
    this.paper = new Uint32Array(paper.getImageData(0, 0, width, height).data.buffer);
    this.image = context.createImageData(width, height);
    this.words = new Uint32Array(this.image.data.buffer);
  }

  draw(picture, points, isLeader) {
    this.words.set(this.paper);
    const leaders = [];
    for (let v = 0; v < picture.length; v++) isLeader(picture[v]) ? leaders.push(v) : this.stamp(picture[v], points[v]);
    for (const v of leaders) this.stamp(picture[v], points[v]);
    this.context.putImageData(this.image, 0, 0);
  }

  stamp(byte, [x, y]) {
    const { words, width, ratio } = this;
    const [across, down] = [Math.round(x * ratio * PHASES), Math.round(y * ratio * PHASES)];
    const [left, top] = [Math.floor(across / PHASES), Math.floor(down / PHASES)];
    const key = (byte * PHASES + across - left * PHASES) * PHASES + down - top * PHASES;
    let stamp = this.stamps.get(key);
    if (!stamp) this.stamps.set(key, (stamp = this.cut(byte, (across / PHASES) % 1, (down / PHASES) % 1)));
    const start = top * width + left;
    const { solid, colour, soft, rest, redBlue, green } = stamp;
    for (let k = 0; k < solid.length; k++) words[start + solid[k]] = colour[k];
    for (let k = 0; k < soft.length; k++) {
      const under = words[start + soft[k]];
      const a = (redBlue[k] + (under & 0xff00ff) * rest[k]) >>> 8;
      const b = (green[k] + ((under >>> 8) & 0xff) * rest[k]) >>> 8;
      words[start + soft[k]] = 0xff000000 | (a & 0xff00ff) | ((b & 0xff) << 8);
    }
  }

  // What an agent covers: pixels of its own, and pixels that shine through.
  cut(byte, dx, dy) {
    const { pen, side, ratio, width } = this;
    const middle = side / 2;
    pen.setTransform(1, 0, 0, 1, 0, 0);
    pen.clearRect(0, 0, side, side);
    pen.setTransform(ratio, 0, 0, ratio, middle + dx, middle + dy);
    this.paintOne(new CanvasPen(pen), byte, [0, 0]);
    const seen = new Uint32Array(pen.getImageData(0, 0, side, side).data.buffer);
    const made = { solid: [], colour: [], soft: [], rest: [], redBlue: [], green: [] };
    seen.forEach((value, k) => {
      const alpha = value >>> 24;
      const place = (Math.floor(k / side) - middle) * width + (k % side) - middle;
      if (alpha === 255) { made.solid.push(place); made.colour.push(value); }
      else if (alpha) {
        const share = Math.round((alpha * 256) / 255);
        made.soft.push(place); made.rest.push(256 - share);
        made.redBlue.push((value & 0xff00ff) * share); made.green.push(((value >>> 8) & 0xff) * share);
      }
    });
    return made;
  }
}

// One cell of a raster per agent, at the resolution of the screen.
export class Raster {
  constructor(context, ground, table, columns, rows, [x, y, width, height]) {
    Object.assign(this, { context, table, columns, x, y, width, height, ground: pixelOf(ground) });
    this.image = context.createImageData(width, height);
    this.words = new Uint32Array(this.image.data.buffer);
    this.across = Int32Array.from({ length: width }, (_, k) => Math.floor(((k + 0.5) * columns) / width));
    this.down = Int32Array.from({ length: height }, (_, k) => Math.floor(((k + 0.5) * rows) / height));
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.fillStyle = ground;
    context.fillRect(0, 0, context.canvas.width, context.canvas.height);
  }

  draw(picture) {
    const { words, table, across, down, width, height, columns, ground } = this;
    for (let y = 0; y < height; y++) {
      const line = y * width;
      if (y && down[y] === down[y - 1]) { words.copyWithin(line, line - width, line); continue; }
      const row = down[y] * columns;
      for (let x = 0; x < width; x++) {
        const agent = row + across[x];
        words[line + x] = agent < picture.length ? table[picture[agent]] : ground;
      }
    }
    this.context.putImageData(this.image, this.x, this.y);
  }
}
