/** Something that must never be. `position` is the event that broke the rule. */
export interface Violation {
  readonly position: string;
  readonly rule: string;
}

/** Told are the first ones; all are counted. */
export class Violations {
  readonly first: Violation[] = [];
  count = 0;

  constructor(private readonly most = 1000) {}

  add(violation: Violation): void {
    this.count += 1;
    if (this.first.length < this.most) this.first.push(violation);
  }
}
