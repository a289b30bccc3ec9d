// What runs beside the page: it unpacks the laboratory, then obeys commands and sends frames.
import { Desk } from "./desk.js";
import { Laboratory } from "./laboratory.js";

// The parts of a laboratory: its JSON, then arrays, as `page.py` packs them.
export async function unpacked(text) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  const buffer = await new Response(stream).arrayBuffer();
  const sizes = new Uint32Array(buffer, 0, 5);
  let place = 20;
  const parts = Array.from(sizes, (size) => { const part = buffer.slice(place, place + size); place += size; return part; });
  const { greeting, content } = JSON.parse(new TextDecoder().decode(parts[0]));
  const arrays = { table: new Uint32Array(parts[2]), looks: new Uint8Array(parts[3]), arcs: new Int32Array(parts[4]) };
  return { greeting, content, kernels: parts[1], arrays };
}

export async function open(text) {
  const { greeting, content, kernels, arrays } = await unpacked(text);
  return { greeting, laboratory: new Laboratory(new WebAssembly.Module(kernels), content, arrays) };
}

// Obey a page behind `send`; returns what takes its commands.
export function serve(laboratory, greeting, send) {
  const desk = new Desk(laboratory, greeting, send);
  const channel = new MessageChannel(); // its messages come sooner than those of setTimeout
  let timer = null;
  const turn = () => {
    clearTimeout(timer);
    timer = null;
    const wait = desk.tick();
    if (wait === 0) channel.port2.postMessage(null);
    else if (wait !== null) timer = setTimeout(turn, wait);
  };
  channel.port1.onmessage = turn;
  turn();
  return (text) => { desk.take(text); turn(); };
}

if (typeof WorkerGlobalScope !== "undefined") {
  let take = null;
  const early = [];
  onmessage = async ({ data }) => {
    if (data.command !== undefined) { take ? take(data.command) : early.push(data.command); return; }
    try {
      const { greeting, laboratory } = await open(data.laboratory);
      take = serve(laboratory, greeting, (message) => postMessage(message, typeof message === "string" ? [] : [message]));
      early.splice(0).forEach(take);
    } catch (error) {
      postMessage(JSON.stringify({ refused: `this page cannot run here: ${error.message}` }));
    }
  };
}
