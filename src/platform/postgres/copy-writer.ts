import type { PoolClient } from 'pg';
import { from as copyFrom } from 'pg-copy-streams';

/** Bytes that are gathered before they are sent; the next part is gathered while the database takes this one. */
const PART_BYTES = 1 << 20;
/** A UTF-16 unit is at most three bytes of UTF-8. */
const BYTES_PER_UNIT = 3;

type CopyValue = string | number | bigint | null;

interface Part {
  bytes: Buffer;
  length: number;
}

/**
 * Fills several tables through one connection by COPY, in parts, with at most two parts per table in memory. Rows
 * become bytes at once: kept as strings, they would be most of what the garbage collector has to move.
 */
export class CopyWriter {
  private readonly parts = new Map<string, Part>();
  private sending: Promise<void> = Promise.resolve();

  constructor(private readonly tx: PoolClient) {}

  /** Adds a row to `target`, written as `table (columns)` or `table`. Call {@link sendFull} now and then. */
  add(target: string, ...values: readonly CopyValue[]): void {
    let line = copyText(values[0]!);
    for (let index = 1; index < values.length; index += 1) line += `\t${copyText(values[index]!)}`;
    line += '\n';
    const part = this.part(target, line.length * BYTES_PER_UNIT);
    part.length += part.bytes.write(line, part.length);
  }

  /** Sends what has become a part; waits only for the part before it. */
  async sendFull(): Promise<void> {
    for (const [target, { length }] of this.parts) if (length >= PART_BYTES) await this.send(target);
  }

  /** Sends all that is left and waits until the database has it. */
  async finish(): Promise<void> {
    for (const target of [...this.parts.keys()]) await this.send(target);
    await this.sending;
  }

  /** What is gathered for `target`, with room for so many bytes more. */
  private part(target: string, room: number): Part {
    let part = this.parts.get(target);
    if (part === undefined)
      this.parts.set(target, (part = { bytes: Buffer.allocUnsafe(2 * PART_BYTES), length: 0 }));
    if (part.length + room > part.bytes.length) {
      const larger = Buffer.allocUnsafe(2 * (part.length + room));
      part.bytes.copy(larger, 0, 0, part.length);
      part.bytes = larger;
    }
    return part;
  }

  private async send(target: string): Promise<void> {
    const { bytes, length } = this.parts.get(target)!;
    this.parts.delete(target);
    await this.sending;
    this.sending = this.copy(target, bytes.subarray(0, length));
    // The failure is met by the next send or by finish; until then it must not count as unhandled.
    this.sending.catch(() => undefined);
  }

  private copy(target: string, lines: Buffer): Promise<void> {
    const stream = this.tx.query(copyFrom(`copy ${target} from stdin`));
    return new Promise((resolve, reject) => {
      stream.on('finish', resolve).on('error', reject);
      stream.end(lines);
    });
  }
}

const ESCAPES: Readonly<Record<string, string>> = { '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' };

function copyText(value: CopyValue): string {
  if (value === null) return '\\N';
  if (typeof value !== 'string') return value.toString();
  return value.replace(/[\\\n\r\t]/g, (character) => ESCAPES[character]!);
}
