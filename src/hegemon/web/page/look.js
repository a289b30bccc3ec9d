// What a byte looks like: as the greeting says (`colours.py` decides).
export function rgb(hex) {
  return [1, 3, 5].map((k) => parseInt(hex.slice(k, k + 2), 16));
}

export function mix(from, to, share) {
  const [a, b] = [rgb(from), rgb(to)];
  return "#" + a.map((x, k) => Math.round(x + (b[k] - x) * share).toString(16).padStart(2, "0")).join("");
}

// A colour as a pixel of an image.
export function pixelOf(hex) {
  const [r, g, b] = rgb(hex);
  return ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;
}

export class Look {
  constructor(greeting, dark) {
    this.channels = greeting.channels;
    this.kinds = greeting.kindColours;
    this.dark = dark;
    const { ground, ink, bytes } = greeting.looks[dark ? "dark" : "light"];
    Object.assign(this, { ground, ink, bytes });
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

  // {leader, fill, rim, badges: [{place, colour}], pixel}
  of(byte) {
    return this.bytes[byte];
  }

  // In bands, leaders of different classes are distinguished: gold with some of the class.
  band(byte) {
    const { leader, fill, rim } = this.bytes[byte];
    return leader && rim && rim !== this.ink ? mix(fill, rim, 0.4) : fill;
  }

  ofKind(kind) {
    return this.kinds[kind % this.kinds.length];
  }

  // One 32-bit pixel per byte, for rasters.
  pixels() {
    const table = new Uint32Array(256);
    this.bytes.forEach(({ pixel }, byte) => { table[byte] = pixelOf(pixel); });
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
