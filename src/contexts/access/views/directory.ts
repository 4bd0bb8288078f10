import { Injectable } from '@nestjs/common';
import type { PoolClient } from 'pg';
import { Database } from '../../../platform/postgres/database.js';
import { subscriptionName, subscriptionOf } from '../../../platform/projections/projection.js';
import type { CredentialKind } from '../domain/credential.js';
import {
  EXCHANGE_KEY_EVENTS,
  type ExchangeKeyEvent,
  type MemoSigning,
  type PayPageSettings,
} from '../domain/exchange-key.js';
import { MERCHANT_EVENTS, type Embedding, type MerchantEvent } from '../domain/merchant.js';

export const DIRECTORY_VIEW = subscriptionName('access.directory');

const TABLES = { schema: 'access', names: ['merchants', 'credentials', 'secrets'] };

/** Which merchants are there, with which credentials may they call, and from where? */
export const directoryProjection = subscriptionOf<MerchantEvent | ExchangeKeyEvent>({
  name: DIRECTORY_VIEW,
  events: [...MERCHANT_EVENTS, ...EXCHANGE_KEY_EVENTS],
  // One statement per event: credentials change a few times a year.
  async apply(events, tx, schema = TABLES.schema) {
    for (const event of events) await applyOne(event, tx, schema);
  },
  tables: TABLES,
});

async function applyOne(
  { type, data }: MerchantEvent | ExchangeKeyEvent,
  tx: PoolClient,
  schema: string,
): Promise<unknown> {
  const insert = (table: string, row: object): Promise<unknown> => {
    const places = Object.keys(row).map((_, n) => `$${n + 1}`);
    const sql = `insert into ${schema}.${table} (${Object.keys(row).join()}) values (${places.join()})`;
    return tx.query(`${sql} on conflict do nothing`, Object.values(row));
  };
  const update = (table: string, [name, id]: readonly [string, string], row: object): Promise<unknown> => {
    const changes = Object.keys(row).map((each, n) => `${each} = $${n + 2}`);
    return tx.query(`update ${schema}.${table} set ${changes.join()} where ${name} = $1`, [
      id,
      ...(Object.values(row) as unknown[]),
    ]);
  };
  const merchant = ['merchant_id', data.merchant_id] as const;
  switch (type) {
    case 'merchant.registered.v1': {
      const { merchant_id, name, registered_at } = data;
      await insert('merchants', { merchant_id, name, status: 'active', registered_at });
      const credential = { credential_id: merchant_id, kind: 'api_key', merchant_id };
      return insert('credentials', { ...credential, issued_at: registered_at });
    }
    case 'merchant.suspended.v1':
      return update('merchants', merchant, { status: 'suspended' });
    case 'merchant.reinstated.v1':
      return update('merchants', merchant, { status: 'active' });
    case 'merchant.embedding_set.v1': {
      const { origins, callbacks, shown_as: display_name } = data;
      return update('merchants', merchant, { origins, callbacks, display_name });
    }
    case 'merchant.key_issued.v1': {
      const { merchant_id, key_id, sealed_private_key, issued_at } = data;
      const secret = { secret_id: key_id, credential_id: merchant_id, sealed_secret: sealed_private_key };
      return insert('secrets', { ...secret, issued_at });
    }
    case 'exchange_key.issued.v1': {
      const { key_id, merchant_id, label, demands_signature, memo_signing, issued_at } = data;
      const key = { credential_id: key_id, kind: 'exchange_key', merchant_id, label, issued_at };
      return insert('credentials', { ...key, demands_signature, memo_signing });
    }
    case 'exchange_key.page_set.v1': {
      const { logo, help_url, terms_url } = data;
      return update('credentials', ['credential_id', data.key_id], { logo, help_url, terms_url });
    }
    case 'exchange_key.revoked.v1':
      return update('credentials', ['credential_id', data.key_id], { revoked_at: data.revoked_at });
    case 'exchange_key.secret_issued.v1': {
      const { key_id, secret_id, sealed_secret, issued_at } = data;
      return insert('secrets', { secret_id, credential_id: key_id, sealed_secret, issued_at });
    }
    case 'merchant.key_revoked.v1':
      return update('secrets', ['secret_id', data.key_id], { revoked_at: data.revoked_at });
    case 'exchange_key.secret_revoked.v1':
      return update('secrets', ['secret_id', data.secret_id], { revoked_at: data.revoked_at });
    case 'merchant.ip_allow_list_set.v1':
      return update('credentials', ['credential_id', data.merchant_id], { cidrs: data.cidrs });
    case 'exchange_key.addresses_set.v1':
      return update('credentials', ['credential_id', data.key_id], { cidrs: data.cidrs });
    default:
      return type satisfies never;
  }
}

export interface SecretRow {
  readonly secretId: string;
  readonly sealedSecret: string;
  readonly issuedAt: Date;
  readonly revokedAt: Date | null;
}

interface CredentialRow {
  readonly merchantId: string;
  readonly cidrs: readonly string[];
  /** Oldest first. */
  readonly secrets: readonly SecretRow[];
}

export interface MerchantRow extends CredentialRow, Embedding {
  readonly name: string;
  readonly status: 'active' | 'suspended';
  readonly registeredAt: Date;
}

export interface ExchangeKeyRow extends CredentialRow, PayPageSettings {
  readonly keyId: string;
  readonly label: string | null;
  readonly demandsSignature: boolean;
  readonly memoSigning: MemoSigning;
  readonly issuedAt: Date;
  readonly revokedAt: Date | null;
}

const SECRETS = `c.cidrs, coalesce(
  (select json_agg(json_build_object('secretId', s.secret_id, 'sealedSecret', s.sealed_secret,
                                     'issuedAt', s.issued_at, 'revokedAt', s.revoked_at)
                   order by s.issued_at, s.secret_id)
   from access.secrets s where s.credential_id = c.credential_id), '[]') as secrets`;

const MERCHANTS = `
  select m.merchant_id as "merchantId", m.name, m.status, m.registered_at as "registeredAt",
         m.origins, m.callbacks, m.display_name as "displayName", ${SECRETS}
  from access.merchants m join access.credentials c on c.credential_id = m.merchant_id`;

const EXCHANGE_KEYS = `
  select c.credential_id as "keyId", c.merchant_id as "merchantId", c.label,
         c.demands_signature as "demandsSignature", c.memo_signing as "memoSigning",
         c.logo, c.help_url as "helpUrl", c.terms_url as "termsUrl",
         c.issued_at as "issuedAt", c.revoked_at as "revokedAt", ${SECRETS}
  from access.credentials c where c.kind = 'exchange_key'`;

/** Sealed, of one kind, while they and their credential are valid. */
export const validSecrets = (kind: CredentialKind): string =>
  `select s.sealed_secret as sealed from access.secrets s join access.credentials c using (credential_id)
   where c.kind = '${kind}' and s.revoked_at is null and c.revoked_at is null`;

@Injectable()
export class DirectoryView {
  constructor(private readonly database: Database) {}

  /** `merchantId` must be a uuid. */
  async merchant(merchantId: string): Promise<MerchantRow | null> {
    const rows = await this.read<MerchantRow>(`${MERCHANTS} where m.merchant_id = $1`, merchantId);
    return rows[0] ?? null;
  }

  /** In order of registration. */
  async merchants(): Promise<MerchantRow[]> {
    return this.read(`${MERCHANTS} order by m.registered_at, m.merchant_id`);
  }

  /** `keyId` must be a uuid. */
  async exchangeKey(keyId: string): Promise<ExchangeKeyRow | null> {
    return (await this.read<ExchangeKeyRow>(`${EXCHANGE_KEYS} and c.credential_id = $1`, keyId))[0] ?? null;
  }

  /** Of one merchant or of all, in order of issue. */
  async exchangeKeys(merchantId: string | null = null): Promise<ExchangeKeyRow[]> {
    return this.read(
      `${EXCHANGE_KEYS} and ($1::uuid is null or c.merchant_id = $1) order by c.issued_at, c.credential_id`,
      merchantId,
    );
  }

  private async read<Row extends CredentialRow>(sql: string, ...values: unknown[]): Promise<Row[]> {
    const rows = await this.database.query<Row>(sql, values);
    return rows.map((row) => ({ ...row, secrets: row.secrets.map(withDates) }));
  }
}

/** Times in JSON are text. */
function withDates({ issuedAt, revokedAt, ...secret }: SecretRow): SecretRow {
  const dates = { issuedAt: new Date(issuedAt), revokedAt: revokedAt === null ? null : new Date(revokedAt) };
  return { ...secret, ...dates };
}
