import { Inject, Injectable } from '@nestjs/common';
import type { PoolClient } from 'pg';
import { currentOperation } from '../../../platform/event-store/command-loop.js';
import { changedBefore, recordRowChange } from '../../../platform/postgres/row-changes.js';
import { Database } from '../../../platform/postgres/database.js';
import type { SigningKey } from '../domain/signed-head.js';

/** A key as it is stored. */
export interface StoredSigningKey extends SigningKey {
  /** Null once another key has replaced it. */
  readonly sealedPrivateKey: string | null;
  readonly sealedPublicKey: string;
}

/** Any constant: keys are created by one process at a time. */
const KEYS_LOCK = 7_331_130;

/** As {@link StoredSigningKey}. */
const KEYS = `select key_id, encode(public_key, 'base64') as public_key,
    to_char(made_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as made_at, former_key_id,
    encode(signature, 'hex') as signature, sealed_private_key as "sealedPrivateKey", sealed_public_key as "sealedPublicKey"
  from audit.signing_keys order by place`;

/** Private keys of the ledger, for `npm run keys -- status`. */
export const SEALED_SIGNING_KEYS = `select sealed_public_key as sealed from audit.signing_keys
  union all select sealed_private_key from audit.signing_keys where sealed_private_key is not null`;

type Row = StoredSigningKey & { readonly [column: string]: unknown };

/** The keys that sign heads, in `audit.signing_keys`. */
@Injectable()
export class SigningKeys {
  constructor(@Inject(Database) private readonly database: Pick<Database, 'query' | 'transaction'>) {}

  /** From the first on. */
  async all(): Promise<readonly StoredSigningKey[]> {
    return this.database.query<Row>(KEYS);
  }

  /** Adds the key that `make` creates from the present ones, under a lock; null: none. One for each operation. Returns all of them. */
  async change(
    make: (present: readonly StoredSigningKey[]) => StoredSigningKey | null,
  ): Promise<readonly StoredSigningKey[]> {
    return this.database.transaction(async (tx) => {
      await tx.query('select pg_advisory_xact_lock($1)', [KEYS_LOCK]);
      const present = (await tx.query<Row>(KEYS)).rows;
      if ((await changedBefore(tx, currentOperation()?.id, 'signing_key')).length > 0) return present;
      const added = make(present);
      if (added === null) return present;
      await insert(tx, added);
      await recordRowChange(tx, currentOperation()?.id, 'signing_key', added.key_id);
      return [...present.map((key) => ({ ...key, sealedPrivateKey: null })), added];
    });
  }
}

/** Deletes the former private keys: a thief of the newest one cannot sign as they did. */
async function insert(tx: PoolClient, key: StoredSigningKey): Promise<void> {
  await tx.query('update audit.signing_keys set sealed_private_key = null');
  await tx.query(
    `insert into audit.signing_keys (key_id, public_key, made_at, former_key_id, signature, sealed_private_key,
       sealed_public_key, place)
     select $1, decode($2, 'base64'), $3, $4, decode($5, 'hex'), $6, $7, count(*) from audit.signing_keys`,
    [
      key.key_id,
      key.public_key,
      key.made_at,
      key.former_key_id,
      key.signature,
      key.sealedPrivateKey,
      key.sealedPublicKey,
    ],
  );
}
