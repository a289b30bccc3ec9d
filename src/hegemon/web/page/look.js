// What a byte looks like. Colours are those of Okabe and Ito, which colour-blind eyes tell apart.
const HUES = ["#0072b2", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#b8a600", "#7f6fbf", "#777777"];
const GOLD = "#e69f00";
const BADGES = ["#d55e00", "#56b4e9", "#009e73", "#cc79a7"];
export const KINDS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"];

export function rgb(hex) {
  return [1, 3, 5].map((k) => parseInt(hex.slice(k, k + 2), 16));
}

export function mix(from, to, share) {
  const [a, b] = [rgb(from), rgb(to)];
  return "#" + a.map((x, k) => Math.round(x + (b[k] - x) * share).toString(16).padStart(2, "0")).join("");
}

export class Look {
  constructor(channels, dark) {
    this.channels = channels;
    this.dark = dark;
    this.ground = dark ? "#1d2127" : "#f5f6f8";
    this.ink = dark ? "#e8ebef" : "#1b1f24";
    this.idle = dark ? "#5d6875" : "#a9b4c0";
    this.cache = new Map();
  }

  values(byte) {
    const found = new Array(this.channels.length);
    for (let k = this.channels.length - 1; k >= 0; k--) {
      const size = this.channels[k].labels.length;
      found[k] = byte % size;
      byte = Math.floor(byte / size);
    }
    return found;
  }

  // {leader, fill, rim, badges: [{value, top, colour, place}]}
  of(byte) {
    let found = this.cache.get(byte);
    if (found) return found;
    const values = this.values(byte);
    let leader = false, hue = null, shade = null, gold = GOLD, place = 0;
    const badges = [];
    this.channels.forEach((channel, k) => {
      const chosen = (channel.colours || [])[values[k]];
      if (channel.part === "leader") {
        leader = values[k] === 1;
        if (chosen) leader ? (gold = chosen) : (hue = chosen);
      } else if (channel.part === "class") {
        hue = chosen || (channel.labels.length === 2 && values[k] === 0 && !this.has("shade") ? this.idle : HUES[values[k] % HUES.length]);
      } else if (channel.part === "shade") {
        shade = values[k] / Math.max(1, channel.labels.length - 1);
      } else {
        const top = channel.labels.length - 1;
        if (values[k] > 0) badges.push({ value: values[k], top, place, colour: chosen || (values[k] === top ? BADGES[place] : mix(BADGES[place], this.ground, 0.55)) });
        place += 1;
      }
    });
    let fill = hue || (shade === null ? this.idle : HUES[0]);
    if (shade !== null) fill = mix(this.ground, fill, 0.22 + 0.68 * shade);
    found = { leader, fill: leader ? gold : fill, rim: leader ? (hue ? fill : this.ink) : null, badges };
    this.cache.set(byte, found);
    return found;
  }

  has(part) {
    return this.channels.some((channel) => channel.part === part);
  }

  // One 32-bit pixel per byte, for rasters.
  pixels() {
    const table = new Uint32Array(256);
    for (let byte = 0; byte < 256; byte++) {
      const { fill, leader, badges } = this.of(byte);
      const [r, g, b] = rgb(!leader && badges.length && !this.has("class") ? mix(fill, badges[0].colour, 0.45) : fill);
      table[byte] = (255 << 24) | (b << 16) | (g << 8) | r;
    }
    return table;
  }

  name(byte) {
    const values = this.values(byte);
    const words = this.channels.map((channel, k) => {
      const label = channel.labels[values[k]];
      if (channel.part === "leader") return values[k] ? label : "";
      if (channel.part === "shade") return channel.name.includes(" / ") ? "" : `${channel.name} ${label}`;
      if (channel.part === "badge") return values[k] ? (label.includes("=") ? label : `${channel.name} ${label}`) : "";
      return label;
    });
    return words.filter(Boolean).join(", ") || this.channels[0]?.labels[values[0]] || "";
  }
}
