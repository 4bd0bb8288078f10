import { isDeepStrictEqual } from 'node:util';

export interface Check {
  readonly what: string;
  readonly ok: boolean;
  readonly detail: string;
}

/** The counts of a row. One that is off fails the row: a fast variant that loses work is not fast. */
export class Checks {
  private readonly list: Check[] = [];

  equal(what: string, actual: unknown, expected: unknown): void {
    const ok = isDeepStrictEqual(actual, expected);
    this.list.push({ what, ok, detail: ok ? show(actual) : `${show(actual)}, expected ${show(expected)}` });
  }

  /** Notes a failure that is not a comparison of two values. */
  fail(what: string, detail: string): void {
    this.list.push({ what, ok: false, detail });
  }

  get all(): readonly Check[] {
    return this.list;
  }

  get failed(): readonly Check[] {
    return this.list.filter((check) => !check.ok);
  }
}

function show(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value, bigints);
  return text.length > 200 ? `${text.slice(0, 200)}...` : text;
}

const bigints = (_: string, value: unknown): unknown =>
  typeof value === 'bigint' ? value.toString() : value;
