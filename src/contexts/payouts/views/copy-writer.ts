import { pipeline } from 'node:stream/promises';
import type { PoolClient } from 'pg';
import { from as copyFrom } from 'pg-copy-streams';

/** Characters that are gathered before they are sent; the next part is gathered while the database takes this one. */
const PART_LENGTH = 1 << 20;

/** Fills several tables through one connection by COPY, in parts, with at most two parts per table in memory. */
export class CopyWriter {
  private readonly parts = new Map<string, string>();
  private sending: Promise<void> = Promise.resolve();

  constructor(private readonly tx: PoolClient) {}

  /** Adds a row to `target`, written as `table (columns)` or `table`. Call {@link sendFull} now and then. */
  add(target: string, ...values: readonly (string | number | bigint)[]): void {
    this.parts.set(target, `${this.parts.get(target) ?? ''}${values.map(copyText).join('\t')}\n`);
  }

  /** Sends what has become a part; waits only for the part before it. */
  async sendFull(): Promise<void> {
    for (const [target, { length }] of this.parts) if (length >= PART_LENGTH) await this.send(target);
  }

  /** Sends all that is left and waits until the database has it. */
  async finish(): Promise<void> {
    for (const target of [...this.parts.keys()]) await this.send(target);
    await this.sending;
  }

  private async send(target: string): Promise<void> {
    const lines = this.parts.get(target)!;
    this.parts.delete(target);
    await this.sending;
    this.sending = pipeline([lines], this.tx.query(copyFrom(`copy ${target} from stdin`)));
    // The failure is met by the next send or by finish; until then it must not count as unhandled.
    this.sending.catch(() => undefined);
  }
}

const ESCAPES: Readonly<Record<string, string>> = { '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' };

function copyText(value: string | number | bigint): string {
  if (typeof value !== 'string') return value.toString();
  return value.replace(/[\\\n\r\t]/g, (character) => ESCAPES[character]!);
}
