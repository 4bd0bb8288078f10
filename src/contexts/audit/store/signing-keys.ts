import { Inject, Injectable } from '@nestjs/common';
import type { PoolClient } from 'pg';
import { Database } from '../../../platform/postgres/database.js';
import type { SigningKey } from '../domain/signed-head.js';

/** A key as it is stored. */
export interface KeptKey extends SigningKey {
  /** Null once another key has taken over. */
  readonly sealedPrivateKey: string | null;
  readonly sealedPublicKey: string;
}

/** Any constant: keys are made by one process at a time. */
const KEYS_LOCK = 7_331_130;

const KEYS = `select key_id, encode(public_key, 'base64') as public_key, made_at, former_key_id,
    encode(signature, 'hex') as signature, sealed_private_key, sealed_public_key
  from audit.signing_keys order by place`;

/** Private keys of the ledger, for `npm run keys -- status`. */
export const SEALED_SIGNING_KEYS = `select sealed_public_key as sealed from audit.signing_keys
  union all select sealed_private_key from audit.signing_keys where sealed_private_key is not null`;

interface Row {
  readonly key_id: string;
  readonly public_key: string;
  readonly made_at: Date;
  readonly former_key_id: string | null;
  readonly signature: string | null;
  readonly sealed_private_key: string | null;
  readonly sealed_public_key: string;
  readonly [column: string]: unknown;
}

/** The keys that sign heads, in `audit.signing_keys`. */
@Injectable()
export class SigningKeys {
  constructor(@Inject(Database) private readonly database: Pick<Database, 'query' | 'transaction'>) {}

  /** From the first on. */
  async all(): Promise<readonly KeptKey[]> {
    return (await this.database.query<Row>(KEYS)).map(keyOf);
  }

  /** Adds what `make` makes of the keys that are there while nobody else adds one; null: nothing. Gives all of them. */
  async change(make: (present: readonly KeptKey[]) => KeptKey | null): Promise<readonly KeptKey[]> {
    return this.database.transaction(async (tx) => {
      await tx.query('select pg_advisory_xact_lock($1)', [KEYS_LOCK]);
      const present = (await tx.query<Row>(KEYS)).rows.map(keyOf);
      const made = make(present);
      if (made === null) return present;
      await insert(tx, made);
      return [...present.map((key) => ({ ...key, sealedPrivateKey: null })), made];
    });
  }
}

/** The private keys before it are forgotten: whoever takes the newest one later cannot sign as they did. */
async function insert(tx: PoolClient, key: KeptKey): Promise<void> {
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

function keyOf(row: Row): KeptKey {
  return {
    key_id: row.key_id,
    public_key: row.public_key,
    made_at: row.made_at.toISOString(),
    former_key_id: row.former_key_id,
    signature: row.signature,
    sealedPrivateKey: row.sealed_private_key,
    sealedPublicKey: row.sealed_public_key,
  };
}
