// Choose what happens next: from a list of what may, or by clicking two agents, an arc or a node.
import { byId, element } from "./panels.js";

export class Choosing {
  // `ask` asks what may happen, `choose` makes one of it happen, `mark` marks the agent that was clicked first.
  constructor(ask, choose, mark) {
    Object.assign(this, { ask, choose, mark, first: null, refusal: "", denial: "", seen: "", number: 0 });
    byId("nextbox").ontoggle = () => this.refresh(true);
    byId("choosing").onchange = () => this.restart();
  }

  greet(greeting) {
    this.greeting = greeting;
    this.isRounds = greeting.unit === "rounds";
    byId("nextbox").hidden = !greeting.canChoose;
    byId("clicked").textContent = this.isRounds ? "a node, which then moves alone" : "two agents or an arc";
    this.restart();
  }

  get isOn() {
    return byId("choosing").checked && !byId("nextbox").hidden;
  }

  restart() {
    this.pointAt(null);
    this.refresh(true);
  }

  // The first of the two agents that meet; null: none yet.
  pointAt(agent) {
    this.first = agent;
    this.denial = "";
    this.mark(agent);
    this.hint();
  }

  hint() {
    const initiator = `agent ${this.first} is the initiator; click the responder`;
    byId("nexthint").textContent = this.first === null ? this.denial || this.refusal : initiator;
  }

  // A new moment: the whole list again.
  frame(head) {
    this.head = head;
    this.refresh();
  }

  refresh(again = false) {
    if (!byId("nextbox").open || byId("nextbox").hidden || !this.head || this.head.playing || this.head.jump) return;
    const moment = `${this.head.branch} ${this.head.step} ${this.head.disturbances}`;
    if (moment === this.seen && !again) return;
    this.seen = moment;
    this.list({});
  }

  // Show what may happen; a reply that comes after a later question is not shown.
  async list(about) {
    const number = (this.number += 1);
    const found = await this.ask({ do: "successors", ...about });
    if (number !== this.number) return;
    this.refusal = found.refused || "";
    this.hint();
    this.show(found);
  }

  show({ successors = [], more, moment }) {
    byId("successors").replaceChildren(...successors.map((row) => {
      const button = element("button");
      button.append(element("b", percentage(row.probability)), element("span", row.text));
      button.title = row.share ? `probability ${row.share}` : "";
      button.onclick = () => this.choose({ ...row.choose, moment });
      return button;
    }));
    if (more) byId("successors").append(element("p", `and ${more.toLocaleString("en")} more, each less likely`, "hint"));
  }

  click(agent, arc) {
    if (this.isRounds) {
      if (agent !== null) { this.mark(agent); this.list({ node: agent }); }
    } else if (agent === null) {
      if (arc) this.meet(arc);
    } else if (this.first === null || this.first === agent) {
      this.pointAt(this.first === agent ? null : agent);
    } else {
      this.meet([this.first, agent]);
    }
  }

  // Two agents meet: at once where coins do not matter, else one of the outcomes is chosen from the list.
  async meet(pair) {
    this.pointAt(null);
    const found = await this.ask({ do: "successors", pair });
    if (found.refused) {
      this.denial = found.refused;
      this.hint();
    } else if (found.successors.length === 1) {
      this.choose({ ...found.successors[0].choose, moment: found.moment });
    } else {
      this.number += 1; // what was asked before is out of date
      this.show(found);
    }
  }
}

function percentage(probability) {
  if (probability === null || probability === undefined) return "";
  const percent = 100 * probability;
  return `${percent >= 10 ? percent.toFixed(0) : percent.toPrecision(2)} %`;
}
