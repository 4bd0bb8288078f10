interface Line {
  taken: number;
  readonly waiting: (() => void)[];
}

/** Lets a few of each name go on at a time; the others wait in their order. */
export class Turns {
  private readonly lines = new Map<string, Line>();

  constructor(private readonly atOnce: number) {}

  /** Resolves when it is the caller's turn. Each turn is to be ended once. */
  take(name: string): Promise<void> {
    let line = this.lines.get(name);
    if (line === undefined) {
      line = { taken: 0, waiting: [] };
      this.lines.set(name, line);
    }
    const { waiting } = line;
    const turn = new Promise<void>((resolve) => waiting.push(resolve));
    this.serve(line, this.atOnce);
    return turn;
  }

  end(name: string): void {
    const line = this.lines.get(name);
    if (line === undefined) return;
    line.taken -= 1;
    this.serve(line, this.atOnce);
    if (line.taken === 0) this.lines.delete(name);
  }

  /** All who wait go on: there is no reason left to hold them up. */
  open(name: string): void {
    const line = this.lines.get(name);
    if (line !== undefined) this.serve(line, Infinity);
  }

  private serve(line: Line, atOnce: number): void {
    while (line.taken < atOnce && line.waiting.length > 0) {
      line.taken += 1;
      line.waiting.shift()!();
    }
  }
}
