// Three sentences for whoever comes for the first time; a cookie remembers, since every run has a port of its own.
import { byId } from "./panels.js";

const STEPS = [
  "1 of 3: press space, or the blue button, and the run plays; → makes one step, ← takes it back.",
  "2 of 3: the legend names what is drawn. Point at an agent to read its state, click it to change a field.",
  "3 of 3: beside the picture, lamps light up inside a set, and every value of the run can be changed. ? explains the rest.",
];

export function introduce() {
  let seen;
  try {
    seen = document.cookie.includes("hegemon-seen");
  } catch {
    return; // a frame without cookies, as in a notebook
  }
  if (seen) return;
  let step = 0;
  const close = () => {
    byId("intro").hidden = true;
    document.cookie = "hegemon-seen=1; max-age=31536000; path=/; SameSite=Strict";
  };
  const show = () => { byId("introtext").textContent = STEPS[step]; };
  byId("intronext").onclick = () => { step += 1; step < STEPS.length ? show() : close(); };
  byId("introclose").onclick = close;
  byId("intro").hidden = false;
  show();
}
