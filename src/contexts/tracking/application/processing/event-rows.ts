import { microsecondsOfIso } from '../../../../kernel/instant.js';
import type { ReadItem } from '../batch-items.js';
import { EPOCH } from './accepted-batches.js';

/** The columns of tracking.events in the order of {@link EventRows}. */
export const EVENT_COLUMNS =
  'merchant_id, event_id, received_at, user_external_id, event_name, event_datetime, device_id, payload';

const FIELDS = 8;
const UUID_BYTES = 16;
const NULL_LENGTH = -1;
const HEADER = Buffer.concat([Buffer.from('PGCOPY\n\xff\r\n\0', 'latin1'), Buffer.alloc(8)]);
const TRAILER = Buffer.from([0xff, 0xff]);
/** A UTF-16 unit is at most three bytes of UTF-8. */
const BYTES_PER_UNIT = 3;
/** Of a row without its texts. */
const FIXED_BYTES = 2 + FIELDS * 4 + 2 * UUID_BYTES + 2 * 8;

/**
 * Rows of tracking.events in the format of COPY (binary): what was sent becomes bytes once, and PostgreSQL parses
 * nothing.
 */
export class EventRows {
  private bytes: Buffer;
  private length = 0;
  /** Where each row begins, and where the last one ends. */
  private readonly starts: number[] = [0];

  constructor(
    private readonly merchant: Buffer,
    expectedBytes: number,
  ) {
    this.bytes = Buffer.allocUnsafe(expectedBytes);
  }

  add(item: ReadItem, id: Buffer, idAt: number, receivedAt: bigint): void {
    const { userExternalId, eventName, deviceId, payload } = item;
    const units = userExternalId.length + eventName.length + (deviceId?.length ?? 0) + payload.length;
    const bytes = this.room(FIXED_BYTES + units * BYTES_PER_UNIT);
    let at = bytes.writeInt16BE(FIELDS, this.length);
    at = uuid(bytes, at, this.merchant, 0);
    at = uuid(bytes, at, id, idAt);
    at = time(bytes, at, receivedAt);
    at = text(bytes, at, userExternalId);
    at = text(bytes, at, eventName);
    at = time(bytes, at, microsecondsOfIso(item.eventDatetime) - EPOCH);
    at = deviceId === null ? bytes.writeInt32BE(NULL_LENGTH, at) : text(bytes, at, deviceId);
    this.length = text(bytes, at, payload);
    this.starts.push(this.length);
  }

  /** What COPY reads: the rows that `wanted` says, by their number, or all of them. */
  copyData(wanted?: (row: number) => boolean): Buffer[] {
    if (wanted === undefined) return [HEADER, this.bytes.subarray(0, this.length), TRAILER];
    const rows: Buffer[] = [];
    for (let row = 0; row + 1 < this.starts.length; row += 1)
      if (wanted(row)) rows.push(this.bytes.subarray(this.starts[row], this.starts[row + 1]));
    return [HEADER, ...rows, TRAILER];
  }

  private room(bytes: number): Buffer {
    if (this.length + bytes > this.bytes.length) {
      const larger = Buffer.allocUnsafe(2 * (this.length + bytes));
      this.bytes.copy(larger, 0, 0, this.length);
      this.bytes = larger;
    }
    return this.bytes;
  }
}

function uuid(bytes: Buffer, at: number, from: Buffer, fromAt: number): number {
  bytes.writeInt32BE(UUID_BYTES, at);
  from.copy(bytes, at + 4, fromAt, fromAt + UUID_BYTES);
  return at + 4 + UUID_BYTES;
}

function time(bytes: Buffer, at: number, value: bigint): number {
  bytes.writeInt32BE(8, at);
  return bytes.writeBigInt64BE(value, at + 4);
}

function text(bytes: Buffer, at: number, value: string): number {
  const written = bytes.write(value, at + 4);
  bytes.writeInt32BE(written, at);
  return at + 4 + written;
}
