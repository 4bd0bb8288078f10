import { Inject, Injectable } from '@nestjs/common';
import { Database } from '../../../platform/postgres/database.js';
import type { Macs } from '../../../platform/event-store/authentic-event-store.js';
import { hashOfHead, LedgerTampered } from './signed-head.js';
import type { HeadExtent, SignedHead, SigningKey } from './signed-head.js';
import { beginLedger } from './ledger.store.js';
import { currentOperation } from '../../../platform/event-store/command-loop.js';
import { changedBefore, recordRowChange } from '../../../platform/postgres/row-changes.js';

interface LastRow extends HeadExtent {
  readonly mac: string;
}

const LAST = 'select size::float8 as size, hash, mac from audit.last_head';

const EMPTY = `truncate audit.heads, audit.last_head, audit.leaves, audit.ledger;
  update event_store.checkpoints set position = null where name = 'audit.ledger'`;

const PURPOSE = 'last head';
const PAGE = 1000;

const HEADS = `select l.log_id, h.size::float8 as size, encode(h.root, 'hex') as root, h.position::text as position,
    to_char(h.signed_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as signed_at, h.key_id,
    encode(h.previous, 'hex') as previous, encode(h.signature, 'hex') as signature
  from audit.heads h cross join audit.ledger l`;

@Injectable()
export class Heads {
  constructor(@Inject(Database) private readonly database: Pick<Database, 'query' | 'transaction'>) {}

  /** Reads the largest head up to `size`, or null. The head may be forged, unlike {@link lastSigned}. */
  async newest(size = Infinity): Promise<SignedHead | null> {
    const [row] = await this.database.query<SignedHead>(
      `${HEADS} where h.size <= $1::float8 order by h.size desc limit 1`,
      [size],
    );
    return row ?? null;
  }

  async *all({ after = 0, upTo = Infinity } = {}): AsyncGenerator<SignedHead> {
    for (let size = after; ;) {
      const sql = `${HEADS} where h.size > $1 and h.size <= $2::float8 order by h.size limit ${PAGE}`;
      const page = await this.database.query<SignedHead>(sql, [size, upTo]);
      yield* page;
      if (page.length < PAGE) return;
      size = page.at(-1)!.size;
    }
  }

  async at(size: number): Promise<SignedHead | null> {
    const [row] = await this.database.query<SignedHead>(`${HEADS} where h.size = $1`, [size]);
    return row ?? null;
  }

  async find({ size, hash }: HeadExtent): Promise<SignedHead | null> {
    const head = await this.at(size);
    return head !== null && hashOfHead(head) === hash ? head : null;
  }

  /** Reads size and hash of the last head that the service signed; null if the row is missing or forged. */
  async lastSigned(macs: Pick<Macs, 'isAuthentic'>): Promise<HeadExtent | null> {
    const [row] = await this.database.query<LastRow>(LAST);
    return row === undefined ? null : readLast(row, macs);
  }

  /** Adds the initial rows of follower and signer if they are missing. `emptied` empties the tables first. */
  async begin(macs: Macs, logId: string, { emptied }: { readonly emptied: boolean }): Promise<void> {
    await this.database.transaction(async (tx) => {
      if (emptied) await tx.query(EMPTY);
      await beginLedger(tx, logId, macs);
      const mac = macs.mac(PURPOSE, toText({ size: 0, hash: '' }));
      await tx.query(
        `insert into audit.last_head (size, hash, mac) values (0, '', $1) on conflict do nothing`,
        [mac],
      );
    });
  }

  /** Adds the head that `make` returns, under a lock. Throws {@link LedgerTampered} if the last is forged. */
  async extend(
    macs: Macs,
    make: (last: HeadExtent) => Promise<SignedHead | null>,
  ): Promise<SignedHead | null> {
    return this.database.transaction(async (tx) => {
      const { rows } = await tx.query<LastRow>(`${LAST} for update`);
      if (rows[0] === undefined) throw new LedgerTampered('audit.last_head was emptied');
      const last = readLast(rows[0], macs);
      if (last === null)
        throw new LedgerTampered('the row of audit.last_head was not written by the service');
      const head = await make(last);
      if (head === null) return null;
      const { size, root, position, signed_at, key_id, previous, signature } = head;
      await tx.query(
        `insert into audit.heads (size, root, position, signed_at, key_id, previous, signature)
         values ($1, decode($2, 'hex'), $3, $4, $5, decode($6, 'hex'), decode($7, 'hex'))`,
        [size, root, position, signed_at, key_id, previous, signature],
      );
      const hash = hashOfHead(head);
      const mac = macs.mac(PURPOSE, toText({ size, hash }));
      await tx.query('update audit.last_head set size = $1, hash = $2, mac = $3', [size, hash, mac]);
      return head;
    });
  }
}

function readLast({ size, hash, mac }: LastRow, macs: Pick<Macs, 'isAuthentic'>): HeadExtent | null {
  return macs.isAuthentic(PURPOSE, toText({ size, hash }), mac) ? { size, hash } : null;
}

function toText({ size, hash }: HeadExtent): string {
  return JSON.stringify([size, hash]);
}

export interface SigningKeyRow extends SigningKey {
  /** The sealed private key; null after another key replaced it. */
  readonly sealedPrivateKey: string | null;
  readonly sealedPublicKey: string;
}

const KEYS_LOCK = 7_331_130;

const KEYS = `select key_id, encode(public_key, 'base64') as public_key,
    to_char(made_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as made_at, former_key_id,
    encode(signature, 'hex') as signature, sealed_private_key as "sealedPrivateKey", sealed_public_key as "sealedPublicKey"
  from audit.signing_keys order by place`;

/** The SQL query for the sealed keys of the ledger, for `npm run keys -- status`. */
export const SEALED_SIGNING_KEYS = `select sealed_public_key as sealed from audit.signing_keys
  union all select sealed_private_key from audit.signing_keys where sealed_private_key is not null`;

@Injectable()
export class SigningKeys {
  constructor(@Inject(Database) private readonly database: Pick<Database, 'query' | 'transaction'>) {}

  async all(): Promise<readonly SigningKeyRow[]> {
    return this.database.query<SigningKeyRow>(KEYS);
  }

  /** Adds the key that `make` returns, under a lock, once per operation. Returns all keys, oldest first. */
  async change(
    make: (present: readonly SigningKeyRow[]) => SigningKeyRow | null,
  ): Promise<readonly SigningKeyRow[]> {
    return this.database.transaction(async (tx) => {
      await tx.query('select pg_advisory_xact_lock($1)', [KEYS_LOCK]);
      const present = (await tx.query<SigningKeyRow>(KEYS)).rows;
      if ((await changedBefore(tx, currentOperation()?.id, 'signing_key')).length > 0) return present;
      const added = make(present);
      if (added === null) return present;
      const { key_id, public_key, made_at, former_key_id, signature, sealedPrivateKey, sealedPublicKey } =
        added;
      // Former private keys are deleted, so that no thief can sign with them.
      await tx.query('update audit.signing_keys set sealed_private_key = null');
      await tx.query(
        `insert into audit.signing_keys (key_id, public_key, made_at, former_key_id, signature, sealed_private_key,
           sealed_public_key, place)
         select $1, decode($2, 'base64'), $3, $4, decode($5, 'hex'), $6, $7, count(*) from audit.signing_keys`,
        [key_id, public_key, made_at, former_key_id, signature, sealedPrivateKey, sealedPublicKey],
      );
      await recordRowChange(tx, currentOperation()?.id, 'signing_key', key_id);
      return [...present.map((key) => ({ ...key, sealedPrivateKey: null })), added];
    });
  }
}
