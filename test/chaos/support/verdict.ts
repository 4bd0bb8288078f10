import { eventually } from '../../../bench/support/wait.js';

/** The true and the false facts of a suite, each as one line. */
export class Verdict {
  readonly broken: string[] = [];
  private held = 0;

  constructor(private readonly say: (line: string) => void = () => undefined) {}

  get facts(): number {
    return this.held + this.broken.length;
  }

  /** Checks one fact. `evidence` is appended if it is false. */
  expect(holds: boolean, fact: string, evidence: unknown = ''): void {
    if (holds) {
      this.held += 1;
      return;
    }
    const text = typeof evidence === 'string' ? evidence : JSON.stringify(evidence);
    const line = text === '' ? fact : `${fact}: ${text.slice(0, 4000)}`;
    this.broken.push(line);
    this.say(`  BROKEN  ${line}`);
  }

  equal(actual: unknown, expected: unknown, fact: string): void {
    this.expect(Object.is(actual, expected), fact, `${String(actual)}, not ${String(expected)}`);
  }

  /** Expects no broken row, by default no row at all. The first few are the evidence. */
  none<Row>(fact: string, rows: Iterable<Row>, isBroken: (row: Row) => boolean = () => true): void {
    const broken = [...rows].filter(isBroken);
    const evidence = `${broken.length} times, such as ${JSON.stringify(broken.slice(0, 3))}`;
    this.expect(broken.length === 0, fact, evidence);
  }

  /** Waits until the condition is true. A timeout is a broken fact, which later checks explain. */
  async eventually(what: string, condition: () => Promise<boolean>, timeoutMs: number): Promise<void> {
    const why = await eventually(what, condition, timeoutMs).then(
      () => null,
      (error: Error) => error.message,
    );
    this.expect(why === null, why ?? what);
  }

  summary(): string {
    return this.broken.length === 0
      ? `${this.held} facts held, none broken`
      : `${this.broken.length} of ${this.facts} facts BROKEN`;
  }
}

/** Counts by name, printed as `a 3, b 1`. */
export class Tally {
  private readonly counts = new Map<string, number>();

  add(name: string, by = 1): void {
    this.counts.set(name, this.of(name) + by);
  }

  of(name: string): number {
    return this.counts.get(name) ?? 0;
  }

  names(): string[] {
    return [...this.counts.keys()];
  }

  toString(): string {
    return [...this.counts]
      .sort(([a], [b]) => a.localeCompare(b))
      .map(([name, count]) => `${name} ${count}`)
      .join(', ');
  }
}
