// What was set on this page is shown at once, and holds until a frame shows that it was obeyed: frames that were on
// their way meanwhile do not undo it.
export class Settings {
  // `ask` sends a command and gives the reply, `show` shows all settings again.
  constructor(ask, show) {
    Object.assign(this, { ask, show, held: new Map() });
  }

  async set(name, value, command) {
    const own = { value, obeyed: Infinity };
    this.held.set(name, own);
    this.show();
    own.obeyed = (await this.ask(command)).obeyed ?? 0;
    this.show();
  }

  // The value to show beside a frame, in which it is `value`.
  of(name, head, value) {
    const own = this.held.get(name);
    if (!own) return value;
    if ((head.obeyed ?? 0) < own.obeyed) return own.value;
    this.held.delete(name);
    return value;
  }

  forget() {
    this.held.clear();
  }
}
