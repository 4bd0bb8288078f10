import type { PoolClient } from 'pg';
import { from as copyFrom } from 'pg-copy-streams';

/** Text that is gathered before it is sent; the next part is gathered while the database takes this one. */
const PART_LENGTH = 4_000_000;

/** Fills several tables through one connection by COPY, in parts, with at most two parts per table in memory. */
export class CopyWriter {
  private readonly gathered = new Map<string, string[]>();
  private readonly lengths = new Map<string, number>();
  private sending: Promise<void> = Promise.resolve();

  constructor(private readonly tx: PoolClient) {}

  /** Adds a row to `target`, written as `table (columns)` or `table`. Call {@link pace} now and then. */
  add(target: string, ...values: readonly (string | number | bigint)[]): void {
    const line = values.map(copyText).join('\t') + '\n';
    let lines = this.gathered.get(target);
    if (lines === undefined) this.gathered.set(target, (lines = []));
    lines.push(line);
    this.lengths.set(target, (this.lengths.get(target) ?? 0) + line.length);
  }

  /** Sends what has become a part; waits only for the part before it. */
  async pace(): Promise<void> {
    for (const [target, length] of this.lengths) if (length >= PART_LENGTH) await this.send(target);
  }

  /** Sends all that is left and waits until the database has it. */
  async finish(): Promise<void> {
    for (const target of [...this.lengths.keys()]) await this.send(target);
    await this.sending;
  }

  private async send(target: string): Promise<void> {
    const text = (this.gathered.get(target) ?? []).join('');
    this.gathered.delete(target);
    this.lengths.delete(target);
    await this.sending;
    this.sending = this.copy(target, text);
    // The failure is met by the next send or by finish; until then it must not count as unhandled.
    this.sending.catch(() => undefined);
  }

  private copy(target: string, text: string): Promise<void> {
    const stream = this.tx.query(copyFrom(`copy ${target} from stdin`));
    return new Promise((resolve, reject) => {
      stream.on('finish', resolve).on('error', reject);
      stream.end(text);
    });
  }
}

const ESCAPES: Readonly<Record<string, string>> = { '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' };

function copyText(value: string | number | bigint): string {
  if (typeof value !== 'string') return value.toString();
  return value.replace(/[\\\n\r\t]/g, (character) => ESCAPES[character]!);
}
