import { Inject, Injectable } from '@nestjs/common';
import { Database } from '../../../platform/postgres/database.js';
import type { PoolClient } from 'pg';
import type { Macs } from '../../../platform/event-store/event-mac.js';
import { LedgerChanged, type SignedExtent } from '../domain/signed-extent.js';
import { hashOfHead, type SignedHead } from '../domain/signed-head.js';

interface Row {
  readonly log_id: string;
  readonly size: string;
  readonly root: Buffer;
  readonly position: string;
  readonly signed_at: Date;
  readonly key_id: string;
  readonly previous: Buffer | null;
  readonly signature: Buffer;
  readonly [column: string]: unknown;
}

interface LastRow {
  readonly size: string;
  readonly hash: string;
  readonly mac: string;
}

const PURPOSE = 'last head';

const HEADS = `select l.log_id, h.size, h.root, h.position, h.signed_at, h.key_id, h.previous, h.signature
  from audit.heads h cross join audit.ledger l`;

/** Signed heads, in `audit.heads`. */
@Injectable()
export class Heads {
  constructor(@Inject(Database) private readonly database: Pick<Database, 'query' | 'transaction'>) {}

  /** The one over the most events, also one that SQL inserted; null without any. The newest that the service signed: {@link lastSigned}. */
  async newest(): Promise<SignedHead | null> {
    const [row] = await this.database.query<Row>(`${HEADS} order by h.size desc limit 1`);
    return row === undefined ? null : headOf(row);
  }

  /** Heads of more than `size` events, in order, at most `limit`. */
  async after(size: number, limit: number): Promise<readonly SignedHead[]> {
    const rows = await this.database.query<Row>(`${HEADS} where h.size > $1 order by h.size limit $2`, [
      size,
      limit,
    ]);
    return rows.map(headOf);
  }

  /** The head over `size` events; null without one. */
  async at(size: number): Promise<SignedHead | null> {
    const [row] = await this.database.query<Row>(`${HEADS} where h.size = $1`, [size]);
    return row === undefined ? null : headOf(row);
  }

  /** What {@link extend} left; null where that row is missing or was not written by the service. */
  async lastSigned(macs: Pick<Macs, 'isAuthentic'>): Promise<SignedExtent | null> {
    const [row] = await this.database.query<LastRow & { [column: string]: unknown }>(
      'select size, hash, mac from audit.last_head',
    );
    const last = row === undefined ? null : { size: Number(row.size), hash: row.hash };
    return last !== null && macs.isAuthentic(PURPOSE, textOf(last), row!.mac) ? last : null;
  }

  /**
   * Adds the head that `make` makes after the one that was signed last, while no other process does; null: none. Throws
   * {@link LedgerChanged} where the row that names the last one is missing or was not written by the service.
   */
  async extend(
    macs: Macs,
    make: (last: SignedExtent) => Promise<SignedHead | null>,
  ): Promise<SignedHead | null> {
    return this.database.transaction(async (tx) => {
      const { rows } = await tx.query<LastRow>('select size, hash, mac from audit.last_head for update');
      if (rows[0] === undefined) throw new LedgerChanged('audit.last_head was emptied');
      const last = { size: Number(rows[0].size), hash: rows[0].hash };
      if (!macs.isAuthentic(PURPOSE, textOf(last), rows[0].mac))
        throw new LedgerChanged('the row of audit.last_head was not written by the service');
      const head = await make(last);
      if (head === null) return null;
      const { size, root, position, signed_at, key_id, previous, signature } = head;
      await tx.query(
        `insert into audit.heads (size, root, position, signed_at, key_id, previous, signature)
         values ($1, decode($2, 'hex'), $3, $4, $5, decode($6, 'hex'), decode($7, 'hex'))`,
        [size, root, position, signed_at, key_id, previous, signature],
      );
      const next = { size, hash: hashOfHead(head) };
      await tx.query('update audit.last_head set size = $1, hash = $2, mac = $3', [
        ...[next.size, next.hash, macs.mac(PURPOSE, textOf(next))],
      ]);
      return head;
    });
  }
}

/** Before the first head. */
export async function beginHeads(tx: Pick<PoolClient, 'query'>, macs: Macs): Promise<void> {
  const none = { size: 0, hash: '' };
  await tx.query('insert into audit.last_head (size, hash, mac) values (0, $1, $2) on conflict do nothing', [
    none.hash,
    macs.mac(PURPOSE, textOf(none)),
  ]);
}

function textOf({ size, hash }: SignedExtent): string {
  return JSON.stringify([size, hash]);
}

function headOf(row: Row): SignedHead {
  return {
    log_id: row.log_id,
    size: Number(row.size),
    root: row.root.toString('hex'),
    position: row.position,
    signed_at: row.signed_at.toISOString(),
    key_id: row.key_id,
    previous: row.previous?.toString('hex') ?? null,
    signature: row.signature.toString('hex'),
  };
}
