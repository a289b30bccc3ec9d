// Where frames come from: a run behind a socket, a notebook or a Worker, or a film in this very page.
export function unpack(buffer) {
  const length = new DataView(buffer).getUint32(0, true);
  const head = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
  return [head, new Uint8Array(buffer, 4 + length)];
}

function socket() {
  const address = new URL("socket", location.href);
  address.protocol = address.protocol === "https:" ? "wss:" : "ws:";
  const opened = new WebSocket(address);
  opened.binaryType = "arraybuffer";
  return opened;
}

// In a notebook the page stands in a frame, and talks to the cell around it (widget.js).
function bridge() {
  const opened = { readyState: 1, send: (text) => parent.postMessage({ hegemon: text }, "*") };
  addEventListener("message", (event) => { if (event.source === parent) opened.onmessage({ data: event.data }); });
  opened.send(JSON.stringify({ do: "hello" }));
  return opened;
}

// A page that runs by itself: a Worker has the run. Its script and all that it needs stand in the page as text.
function worker() {
  const text = (name) => document.getElementById(name).textContent;
  const script = URL.createObjectURL(new Blob([text("worker")], { type: "text/javascript" }));
  const made = new Worker(script);
  const opened = { readyState: 1, send: (command) => made.postMessage({ command }) };
  made.onmessage = (event) => opened.onmessage(event);
  made.onerror = (event) => opened.onmessage({ data: JSON.stringify({ refused: `this page cannot run here: ${event.message}` }) });
  made.postMessage({ laboratory: text("laboratory") });
  return opened;
}

export class Live {
  constructor(take) {
    this.take = take;
    this.waiting = new Map();
    this.number = 0;
    this.undrawn = null; // the latest frame that came
    this.owed = false; // whether its acknowledgement waits for the drawing
    this.socket = window.HEGEMON_BRIDGE ? bridge() : window.HEGEMON_LIVE ? worker() : socket();
    this.socket.onmessage = (event) => this.receive(event.data);
    this.socket.onclose = () => take.gone();
  }

  receive(data) {
    if (typeof data !== "string") {
      this.receiveFrame(data);
      return;
    }
    const content = JSON.parse(data);
    if (content.answer !== undefined) {
      this.waiting.get(content.answer)?.(content);
      this.waiting.delete(content.answer);
    } else if (content.refused) this.take.refused(content.refused);
    else if (content.many) this.take.many(content.many);
    else {
      this.draw(); // what is still of the run before
      this.take.greeting(content);
    }
  }

  // One frame is drawn while the next is on its way; whatever comes too early replaces what was not drawn yet.
  receiveFrame(data) {
    if (this.undrawn) this.owed = true;
    else {
      this.send({ do: "frame" });
      requestAnimationFrame(() => this.draw());
    }
    this.undrawn = data;
  }

  draw() {
    if (!this.undrawn) return;
    const [head, picture] = unpack(this.undrawn);
    this.undrawn = null;
    if (this.owed) this.send({ do: "frame" });
    this.owed = false;
    this.take.frame(head, picture);
  }

  send(command) {
    if (this.socket.readyState === 1) this.socket.send(JSON.stringify(command));
  }

  ask(command) {
    return new Promise((resolve) => {
      this.number += 1;
      this.waiting.set(this.number, resolve);
      this.send({ ...command, id: this.number });
    });
  }
}

export class Film {
  constructor(take, text) {
    this.take = take;
    this.index = 0;
    this.playing = false;
    this.speed = 10; // as the slider counts: ten is the film's own pace
    this.open(text);
  }

  async open(text) {
    const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    const buffer = await new Response(stream).arrayBuffer();
    const view = new DataView(buffer);
    const [length, count] = [view.getUint32(0, true), view.getUint32(4, true)];
    const sizes = Array.from({ length: count }, (_, k) => view.getUint32(8 + 4 * k, true));
    let place = 8 + 4 * count;
    const content = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, place, length)));
    place += length;
    this.pictures = sizes.map((size) => { const picture = new Uint8Array(buffer, place, size); place += size; return picture; });
    this.heads = content.heads;
    this.take.greeting({ ...content.greeting, film: this.heads.length });
    this.show(0);
    if (!matchMedia("(prefers-reduced-motion: reduce)").matches) this.send({ do: "play" });
  }

  show(index) {
    this.index = Math.max(0, Math.min(this.heads.length - 1, index));
    this.take.frame({ ...this.heads[this.index], playing: this.playing, speed: this.speed, index: this.index }, this.pictures[this.index]);
  }

  send(command) {
    const kind = command.do;
    if (kind === "play") {
      if (this.playing) return;
      if (this.index === this.heads.length - 1) this.index = 0;
      this.playing = true;
      const pace = () => Math.max(8, (10 * Math.max(60, Math.min(700, 12000 / this.heads.length))) / this.speed);
      const tick = () => {
        if (!this.playing) return;
        if (this.index >= this.heads.length - 1) this.playing = false;
        else setTimeout(tick, pace());
        this.show(this.index + (this.playing ? 1 : 0));
      };
      setTimeout(tick, pace());
      this.show(this.index);
      return;
    }
    if (kind === "speed") {
      this.speed = command.value;
      this.show(this.index);
      return;
    }
    if (kind === "focus" || kind === "frame") return;
    this.playing = false;
    if (kind === "step") this.show(this.index + Math.sign(command.count));
    else if (kind === "frameAt") this.show(command.index);
    else if (kind === "goto") this.show(0);
    else if (kind === "change") {
      let next = this.index + 1;
      while (next < this.heads.length && this.heads[next].values?.leaders === this.heads[this.index].values?.leaders) next += 1;
      this.show(next);
    } else this.show(this.index);
  }

  ask(command) {
    if (command.do !== "state") {
      this.send(command);
      return Promise.resolve({});
    }
    const picture = this.pictures[this.index];
    return Promise.resolve({ agent: command.agent, state: { looks: this.take.name(picture[command.agent]) }, neighbours: [] });
  }
}
