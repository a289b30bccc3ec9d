// Rules that a visitor types, on a page that runs by itself: run them, read what is wrong with them, keep them as a file.
import { byId } from "./panels.js";

export class Typing {
  // `ask` sends a command, `save` offers a file.
  constructor(ask, save) {
    Object.assign(this, { ask, save });
    byId("rulesform").onsubmit = (event) => { event.preventDefault(); this.run(); };
    byId("rulesown").onclick = () => this.ask({ do: "own" });
    byId("rulesfile").onclick = async () => {
      const found = await this.ask({ ...this.command(), do: "file" });
      this.show(found.refused);
      if (found.file) this.save(new Blob([found.file], { type: "text/x-python" }), "rules.py");
    };
    byId("rulesn").oninput = () => { byId("rulesmany").value = this.agents().toLocaleString("en"); };
    byId("rulesn").oninput();
  }

  greet(greeting) {
    byId("rulesbox").hidden = !greeting.palette;
    byId("rulesown").hidden = greeting.protocol !== "Rules";
  }

  // The slider: 2, 5, 10, 20, 50 … 10⁷ agents.
  agents() {
    const place = Number(byId("rulesn").value);
    return [2, 5, 10][place % 3] * 10 ** Math.floor(place / 3);
  }

  command() {
    const [text, start, leader] = ["rulestext", "rulesstart", "rulesleader"].map((name) => byId(name).value);
    return { do: "rules", text, start, leader, n: this.agents() };
  }

  async run() {
    const found = await this.ask(this.command());
    this.show(found.refused);
    if (found.note) byId("rulesrefused").textContent = found.note;
  }

  // A refusal; if it names a line, that line is marked.
  show(refused = "") {
    byId("rulesrefused").textContent = refused;
    const line = Number(/^line (\d+),/.exec(refused)?.[1]);
    if (!line) return;
    const text = byId("rulestext");
    const lines = text.value.split("\n");
    const begin = lines.slice(0, line - 1).join("\n").length + (line > 1 ? 1 : 0);
    text.focus();
    text.setSelectionRange(begin, begin + lines[line - 1].length);
  }
}
