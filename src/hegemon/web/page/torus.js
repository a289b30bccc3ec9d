// The torus on which agents walk, in the square from -1 to 1.
const ROOM = 7; // pixels of a cell's side, from which on cells are drawn

export class Torus {
  constructor(given) {
    Object.assign(this, given); // columns, rows, gap, and where in its cell each agent is drawn
    this.side = Math.max(this.columns, this.rows);
  }

  // Whole numbers are corners of cells.
  at(x, y) {
    return [(2 * x - this.columns) / this.side, (2 * y - this.rows) / this.side];
  }

  // Where the agents of a frame are.
  places({ places }) {
    return this.within.map(([x, y], v) => this.at(places[2 * v] + x, places[2 * v + 1] + y));
  }

  // The lines between cells, where there is room for them; else the border.
  lines(onPaper, scale) {
    const { columns, rows, side } = this;
    const every = (2 / side) * scale >= ROOM ? 1 : side;
    const line = (...ends) => ends.flatMap(([x, y]) => onPaper(this.at(x, y)));
    const found = [line([columns, 0], [columns, rows]), line([0, rows], [columns, rows])];
    for (let x = 0; x < columns; x += every) found.push(line([x, 0], [x, rows]));
    for (let y = 0; y < rows; y += every) found.push(line([0, y], [columns, y]));
    return found;
  }

  // Whether two agents meet over the border.
  isAcross({ places }, a, b) {
    const apart = (k) => Math.abs(places[2 * a + k] - places[2 * b + k]);
    return 2 * apart(0) > this.columns || 2 * apart(1) > this.rows;
  }
}
