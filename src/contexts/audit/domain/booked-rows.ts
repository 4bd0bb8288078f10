import { isUuid } from '../../../kernel/ids.js';
import { sha256 } from '../../../kernel/sha256.js';
import { grown, NameTable } from '../../../kernel/name-table.js';

const BYTES = 16;

/** What the rows of a table have to say, as hashes by their ids (uuids): some 50 bytes a row. */
export class BookedRows {
  readonly ids = new NameTable();
  private readonly seen = { bits: new Uint8Array(1 << 10), count: 0 };
  /** 16 bytes of id and 16 of hash each. */
  private bytes = new Uint8Array(1 << 15);

  /** In place of what was said of the row before. */
  put(id: string, row: readonly unknown[]): void {
    const number = this.ids.add(id);
    if (2 * BYTES * (number + 1) > this.bytes.length) {
      this.bytes = grown(this.bytes);
      this.seen.bits = grown(this.seen.bits);
    }
    this.bytes.set(isUuid(id) ? Buffer.from(id.replaceAll('-', ''), 'hex') : [], 2 * BYTES * number);
    this.bytes.set(hashOf(row), 2 * BYTES * number + BYTES);
  }

  /** Whether a row that is there is as it has to be; null: it has not to be there. */
  agrees(id: string, row: readonly unknown[]): boolean | null {
    const number = this.ids.find(id);
    if (number < 0) return null;
    if (this.seen.bits[number] === 0) this.seen.count += 1;
    this.seen.bits[number] = 1;
    const at = 2 * BYTES * number + BYTES;
    return hashOf(row).equals(this.bytes.subarray(at, at + BYTES));
  }

  /** Ids of rows that nobody asked for. */
  *unseen(): Generator<string> {
    if (this.seen.count === this.ids.size) return;
    for (let number = 0; number < this.ids.size; number += 1) {
      if (this.seen.bits[number] !== 0) continue;
      const hex = Buffer.from(this.bytes.subarray(2 * BYTES * number, 2 * BYTES * number + BYTES)).toString(
        'hex',
      );
      yield hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
    }
  }
}

function hashOf(row: readonly unknown[]): Buffer {
  return sha256(row.join('\u0000')).subarray(0, BYTES);
}
