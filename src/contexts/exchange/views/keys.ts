import { Injectable } from '@nestjs/common';
import type { PoolClient } from 'pg';
import { Database } from '../../../platform/postgres/database.js';
import { subscriptionName, type SubscriptionDefinition } from '../../../platform/projections/projection.js';
import { EXCHANGE_KEY_EVENTS, type ExchangeKeyEvent, type MemoSigning } from '../domain/exchange-key.js';
import type { PayPageSettings } from '../domain/pay-page-settings.js';

export const EXCHANGE_KEYS_VIEW = subscriptionName('exchange.keys');

const TABLES = { schema: 'exchange', names: ['keys', 'key_secrets'] };

/** Which keys of the exchange are there, with which secrets, and where may they be used from? */
export const exchangeKeysProjection: SubscriptionDefinition = {
  name: EXCHANGE_KEYS_VIEW,
  events: EXCHANGE_KEY_EVENTS,
  // One statement per event: keys change a few times a year.
  async apply(events, tx, schema = TABLES.schema) {
    for (const { type, data } of events)
      await applyOne({ type, data } as unknown as ExchangeKeyEvent, tx, schema);
  },
  tables: TABLES,
};

async function applyOne(event: ExchangeKeyEvent, tx: PoolClient, schema: string): Promise<void> {
  switch (event.type) {
    case 'exchange_key.issued.v1':
      await tx.query(
        `insert into ${schema}.keys (key_id, merchant_id, label, demands_signature, memo_signing, issued_at)
         values ($1, $2, $3, $4, $5, $6) on conflict do nothing`,
        [
          event.data.key_id,
          event.data.merchant_id,
          event.data.label,
          event.data.demands_signature,
          event.data.memo_signing,
          event.data.issued_at,
        ],
      );
      return;
    case 'exchange_key.secret_issued.v1':
      await tx.query(
        `insert into ${schema}.key_secrets (secret_id, key_id, sealed_secret, issued_at)
         values ($1, $2, $3, $4) on conflict do nothing`,
        [event.data.secret_id, event.data.key_id, event.data.sealed_secret, event.data.issued_at],
      );
      return;
    case 'exchange_key.secret_revoked.v1':
      await tx.query(`update ${schema}.key_secrets set revoked_at = $2 where secret_id = $1`, [
        event.data.secret_id,
        event.data.revoked_at,
      ]);
      return;
    case 'exchange_key.revoked.v1':
      await tx.query(`update ${schema}.keys set revoked_at = $2 where key_id = $1`, [
        event.data.key_id,
        event.data.revoked_at,
      ]);
      return;
    case 'exchange_key.addresses_set.v1':
      await tx.query(`update ${schema}.keys set cidrs = $2 where key_id = $1`, [
        event.data.key_id,
        event.data.cidrs,
      ]);
      return;
    case 'exchange_key.page_set.v1':
      await tx.query(`update ${schema}.keys set logo = $2, help_url = $3, terms_url = $4 where key_id = $1`, [
        event.data.key_id,
        event.data.logo,
        event.data.help_url,
        event.data.terms_url,
      ]);
      return;
    default:
      event satisfies never;
  }
}

export interface ExchangeKeyRow extends PayPageSettings {
  readonly keyId: string;
  readonly merchantId: string;
  readonly label: string | null;
  readonly demandsSignature: boolean;
  readonly memoSigning: MemoSigning;
  readonly cidrs: readonly string[];
  readonly issuedAt: Date;
  readonly revokedAt: Date | null;
  /** Oldest first. */
  readonly secrets: readonly SecretRow[];
}

export interface SecretRow {
  readonly secretId: string;
  readonly sealedSecret: string;
  readonly issuedAt: Date;
  readonly revokedAt: Date | null;
}

type Row = Omit<ExchangeKeyRow, 'secrets'> & {
  secrets: {
    secret_id: string;
    sealed_secret: string;
    issued_at: string;
    revoked_at: string | null;
  }[];
};

/** Sealed, of keys and secrets that are valid. */
export const VALID_SECRETS = `select s.sealed_secret as sealed
  from exchange.key_secrets s join exchange.keys k using (key_id)
  where s.revoked_at is null and k.revoked_at is null`;

const SELECT = `
  select k.key_id as "keyId", k.merchant_id as "merchantId", k.label, k.demands_signature as "demandsSignature",
         k.memo_signing as "memoSigning", k.cidrs, k.logo, k.help_url as "helpUrl", k.terms_url as "termsUrl",
         k.issued_at as "issuedAt", k.revoked_at as "revokedAt",
         coalesce((select json_agg(s order by s.issued_at, s.secret_id)
                   from exchange.key_secrets s where s.key_id = k.key_id), '[]') as secrets
  from exchange.keys k`;

@Injectable()
export class ExchangeKeysView {
  constructor(private readonly database: Database) {}

  /** `keyId` must be a uuid. */
  async find(keyId: string): Promise<ExchangeKeyRow | null> {
    const rows = await this.database.query<Row>(`${SELECT} where k.key_id = $1`, [keyId]);
    return rows[0] === undefined ? null : toKey(rows[0]);
  }

  /** All keys, of one merchant or of all, the first issued first. */
  async list(merchantId: string | null = null): Promise<ExchangeKeyRow[]> {
    const rows = await this.database.query<Row>(
      `${SELECT} where $1::uuid is null or k.merchant_id = $1 order by k.issued_at, k.key_id`,
      [merchantId],
    );
    return rows.map(toKey);
  }
}

function toKey(row: Row): ExchangeKeyRow {
  return {
    ...row,
    secrets: row.secrets.map((secret) => ({
      secretId: secret.secret_id,
      sealedSecret: secret.sealed_secret,
      issuedAt: new Date(secret.issued_at),
      revokedAt: secret.revoked_at === null ? null : new Date(secret.revoked_at),
    })),
  };
}
