// The same strokes on a canvas and in an SVG text.
export class CanvasPen {
  constructor(context) {
    this.c = context;
  }
  circles(places, radius, fill, rim, width) {
    const c = this.c;
    c.beginPath();
    for (const [x, y] of places) {
      c.moveTo(x + radius, y);
      c.arc(x, y, radius, 0, 2 * Math.PI);
    }
    if (fill) { c.fillStyle = fill; c.fill(); }
    if (rim) { c.strokeStyle = rim; c.lineWidth = width || 1; c.stroke(); }
  }
  lines(segments, colour, width) {
    const c = this.c;
    c.beginPath();
    for (const [a, b, d, e] of segments) { c.moveTo(a, b); c.lineTo(d, e); }
    c.strokeStyle = colour; c.lineWidth = width; c.lineCap = "round"; c.stroke();
  }
  polygon(points, fill) {
    const c = this.c;
    c.beginPath();
    points.forEach(([x, y], k) => (k ? c.lineTo(x, y) : c.moveTo(x, y)));
    c.closePath(); c.fillStyle = fill; c.fill();
  }
  texts(texts, places, size, ink, halo) {
    const c = this.c;
    c.font = `600 ${size}px system-ui, sans-serif`;
    [c.textAlign, c.textBaseline, c.lineJoin, c.lineWidth] = ["center", "middle", "round", Math.max(2, size / 4)];
    [c.fillStyle, c.strokeStyle] = [ink, halo];
    texts.forEach((text, v) => {
      for (const [part, x, y] of lines(text, places[v], size)) { c.strokeText(part, x, y); c.fillText(part, x, y); }
    });
  }
}

// A text in lines, around its place.
function lines(text, [x, y], size) {
  const parts = text.split("\n").filter(Boolean);
  return parts.map((part, k) => [part, x, y + (k - (parts.length - 1) / 2) * size * 1.05]);
}

export class SvgPen {
  constructor(width, height, ground) {
    this.parts = [`<rect width="${width}" height="${height}" fill="${ground}"/>`];
    this.width = width;
    this.height = height;
  }
  circles(places, radius, fill, rim, width) {
    const stroke = rim ? ` stroke="${rim}" stroke-width="${width || 1}"` : "";
    this.parts.push(`<g fill="${fill || "none"}"${stroke}>`);
    for (const [x, y] of places) this.parts.push(`<circle cx="${x.toFixed(1)}" cy="${y.toFixed(1)}" r="${radius.toFixed(1)}"/>`);
    this.parts.push("</g>");
  }
  lines(segments, colour, width) {
    const d = segments.map(([a, b, c, e]) => `M${a.toFixed(1)} ${b.toFixed(1)}L${c.toFixed(1)} ${e.toFixed(1)}`).join("");
    this.parts.push(`<path d="${d}" stroke="${colour}" stroke-width="${width}" fill="none" stroke-linecap="round"/>`);
  }
  polygon(points, fill) {
    this.parts.push(`<polygon points="${points.map(([x, y]) => `${x.toFixed(1)},${y.toFixed(1)}`).join(" ")}" fill="${fill}"/>`);
  }
  texts(texts, places, size, ink, halo) {
    const escape = (text) => text.replace(/[&<>]/g, (letter) => `&#${letter.charCodeAt(0)};`);
    this.parts.push(`<g font-family="sans-serif" font-weight="600" font-size="${size.toFixed(1)}" text-anchor="middle" dominant-baseline="central" fill="${ink}" stroke="${halo}" stroke-width="${Math.max(2, size / 4).toFixed(1)}" stroke-linejoin="round" paint-order="stroke">`);
    texts.forEach((text, v) => {
      for (const [part, x, y] of lines(text, places[v], size)) this.parts.push(`<text x="${x.toFixed(1)}" y="${y.toFixed(1)}">${escape(part)}</text>`);
    });
    this.parts.push("</g>");
  }
  image(canvas, x, y, width, height) {
    this.parts.push(`<image href="${canvas.toDataURL()}" x="${x}" y="${y}" width="${width}" height="${height}" style="image-rendering:pixelated"/>`);
  }
  text() {
    return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${this.width} ${this.height}">${this.parts.join("")}</svg>`;
  }
}
