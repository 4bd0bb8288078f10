import { Inject, Injectable } from '@nestjs/common';
import { Database } from '../../../platform/postgres/database.js';
import type { Macs } from '../../../platform/event-store/authentic-event-store.js';
import { hashOfHead, LedgerTampered, type SignedExtent, type SignedHead } from '../domain/signed-head.js';
import { Sealer } from '../../../platform/sealing/sealer.js';
import { beginLedger } from './ledger.js';

interface LastRow {
  readonly size: string;
  readonly hash: string;
  readonly mac: string;
}

const PURPOSE = 'last head';
const PAGE = 1000;

type Row = SignedHead & { readonly [column: string]: unknown };

/** As {@link SignedHead}. */
const HEADS = `select l.log_id, h.size::float8 as size, encode(h.root, 'hex') as root, h.position::text as position,
    to_char(h.signed_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as signed_at, h.key_id,
    encode(h.previous, 'hex') as previous, encode(h.signature, 'hex') as signature
  from audit.heads h cross join audit.ledger l`;

/** Signed heads, in `audit.heads`. */
@Injectable()
export class Heads {
  constructor(@Inject(Database) private readonly database: Pick<Database, 'query' | 'transaction'>) {}

  /** The one over the most events, up to `size`, also one that SQL inserted; null without any. The newest that the service signed: {@link lastSigned}. */
  async newest(size = Infinity): Promise<SignedHead | null> {
    const [row] = await this.database.query<Row>(
      `${HEADS} where h.size <= $1::float8 order by h.size desc limit 1`,
      [size],
    );
    return row ?? null;
  }

  /** Heads of more than `after` events and of at most `upTo`, in order. */
  async *all({ after = 0, upTo = Infinity } = {}): AsyncGenerator<SignedHead> {
    for (let size = after; ;) {
      const sql = `${HEADS} where h.size > $1 and h.size <= $2::float8 order by h.size limit ${PAGE}`;
      const page = await this.database.query<Row>(sql, [size, upTo]);
      yield* page;
      if (page.length < PAGE) return;
      size = page.at(-1)!.size;
    }
  }

  /** The head over `size` events; null without one. */
  async at(size: number): Promise<SignedHead | null> {
    const [row] = await this.database.query<Row>(`${HEADS} where h.size = $1`, [size]);
    return row ?? null;
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
   * {@link LedgerTampered} where the row that names the last one is missing or was not written by the service.
   */
  async extend(
    macs: Macs,
    make: (last: SignedExtent) => Promise<SignedHead | null>,
  ): Promise<SignedHead | null> {
    return this.database.transaction(async (tx) => {
      const { rows } = await tx.query<LastRow>('select size, hash, mac from audit.last_head for update');
      if (rows[0] === undefined) throw new LedgerTampered('audit.last_head was emptied');
      const last = { size: Number(rows[0].size), hash: rows[0].hash };
      if (!macs.isAuthentic(PURPOSE, textOf(last), rows[0].mac))
        throw new LedgerTampered('the row of audit.last_head was not written by the service');
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
        next.size,
        next.hash,
        macs.mac(PURPOSE, textOf(next)),
      ]);
      return head;
    });
  }
}

function textOf({ size, hash }: SignedExtent): string {
  return JSON.stringify([size, hash]);
}

const EMPTY = `truncate audit.heads, audit.last_head, audit.leaves, audit.ledger;
  update event_store.checkpoints set position = null where name = 'audit.ledger'`;

/** The rows without which follower and signer do nothing. */
@Injectable()
export class LedgerTables {
  constructor(
    private readonly database: Database,
    private readonly sealer: Sealer,
  ) {}

  /** What is there already stays, unless the tables are to be emptied first. */
  async begin(logId: string, { emptied }: { readonly emptied: boolean }): Promise<void> {
    await this.database.transaction(async (tx) => {
      if (emptied) await tx.query(EMPTY);
      await beginLedger(tx, logId, this.sealer);
      const none = { size: 0, hash: '' };
      await tx.query(
        'insert into audit.last_head (size, hash, mac) values (0, $1, $2) on conflict do nothing',
        [none.hash, this.sealer.mac(PURPOSE, textOf(none))],
      );
    });
  }
}
