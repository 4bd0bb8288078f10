import { Injectable } from '@nestjs/common';
import type { PoolClient } from 'pg';
import type { RecordedEvent } from '../../../platform/event-store/port.js';
import { subscriptionName, type SubscriptionDefinition } from '../../../platform/projections/projection.js';
import { Database } from '../../../platform/postgres/database.js';
import { MERCHANT_EVENTS, type Embedding, type MerchantEvent } from '../domain/merchant.js';

export const DIRECTORY_VIEW = subscriptionName('merchants.directory');

export interface MerchantKeyRow {
  readonly keyId: string;
  readonly sealedPrivateKey: string;
  readonly issuedAt: Date;
  readonly revokedAt: Date | null;
}

export interface MerchantRow {
  readonly merchantId: string;
  readonly name: string;
  readonly status: 'active' | 'suspended';
  readonly ipAllowList: readonly string[];
  readonly embedding: Embedding;
  readonly registeredAt: Date;
  /** Oldest first. */
  readonly keys: readonly MerchantKeyRow[];
}

const TABLES = { schema: 'merchants', names: ['directory', 'keys'] };

/** Which merchants are there, and with which keys may they sign? */
export const directoryProjection: SubscriptionDefinition = {
  name: DIRECTORY_VIEW,
  events: MERCHANT_EVENTS,
  // One statement per event: merchants change a few times a year.
  async apply(events, tx, schema = TABLES.schema) {
    for (const event of events) await applyOne(asMerchantEvent(event), tx, schema);
  },
  tables: TABLES,
};

function asMerchantEvent(event: RecordedEvent): MerchantEvent {
  return { type: event.type, data: event.data } as unknown as MerchantEvent;
}

async function applyOne(event: MerchantEvent, tx: PoolClient, schema: string): Promise<void> {
  switch (event.type) {
    case 'merchant.registered.v1':
      await tx.query(
        `insert into ${schema}.directory (merchant_id, name, status, registered_at)
         values ($1, $2, 'active', $3) on conflict do nothing`,
        [event.data.merchant_id, event.data.name, event.data.registered_at],
      );
      return;
    case 'merchant.key_issued.v1':
      await tx.query(
        `insert into ${schema}.keys (key_id, merchant_id, sealed_private_key, issued_at)
         values ($1, $2, $3, $4) on conflict do nothing`,
        [event.data.key_id, event.data.merchant_id, event.data.sealed_private_key, event.data.issued_at],
      );
      return;
    case 'merchant.key_revoked.v1':
      await tx.query(`update ${schema}.keys set revoked_at = $2 where key_id = $1`, [
        event.data.key_id,
        event.data.revoked_at,
      ]);
      return;
    case 'merchant.suspended.v1':
    case 'merchant.reinstated.v1':
      await tx.query(`update ${schema}.directory set status = $2 where merchant_id = $1`, [
        event.data.merchant_id,
        event.type === 'merchant.suspended.v1' ? 'suspended' : 'active',
      ]);
      return;
    case 'merchant.ip_allow_list_set.v1':
      await tx.query(`update ${schema}.directory set ip_allow_list = $2 where merchant_id = $1`, [
        event.data.merchant_id,
        event.data.cidrs,
      ]);
      return;
    case 'merchant.embedding_set.v1':
      await tx.query(
        `update ${schema}.directory set origins = $2, callbacks = $3, shown_as = $4 where merchant_id = $1`,
        [event.data.merchant_id, event.data.origins, event.data.callbacks, event.data.shown_as],
      );
      return;
    default:
      event satisfies never;
  }
}

interface Row {
  merchant_id: string;
  name: string;
  status: 'active' | 'suspended';
  ip_allow_list: string[];
  origins: string[];
  callbacks: string[];
  shown_as: string | null;
  registered_at: Date;
  keys: { key_id: string; sealed_private_key: string; issued_at: string; revoked_at: string | null }[];
}

const SELECT = `
  select m.merchant_id, m.name, m.status, m.ip_allow_list, m.origins, m.callbacks, m.shown_as, m.registered_at,
         coalesce(json_agg(k order by k.issued_at, k.key_id) filter (where k.key_id is not null), '[]') as keys
  from merchants.directory m left join merchants.keys k using (merchant_id)`;

@Injectable()
export class DirectoryView {
  constructor(private readonly database: Database) {}

  /** `merchantId` must be a uuid. */
  async find(merchantId: string): Promise<MerchantRow | null> {
    const rows = await this.database.query<Row>(`${SELECT} where m.merchant_id = $1 group by m.merchant_id`, [
      merchantId,
    ]);
    return rows[0] === undefined ? null : toMerchant(rows[0]);
  }

  /** All merchants, the first registered first. */
  async list(): Promise<MerchantRow[]> {
    const rows = await this.database.query<Row>(
      `${SELECT} group by m.merchant_id order by m.registered_at, m.merchant_id`,
    );
    return rows.map(toMerchant);
  }
}

function toMerchant(row: Row): MerchantRow {
  return {
    merchantId: row.merchant_id,
    name: row.name,
    status: row.status,
    ipAllowList: row.ip_allow_list,
    embedding: { origins: row.origins, callbacks: row.callbacks, shownAs: row.shown_as },
    registeredAt: row.registered_at,
    keys: row.keys.map((key) => ({
      keyId: key.key_id,
      sealedPrivateKey: key.sealed_private_key,
      issuedAt: new Date(key.issued_at),
      revokedAt: key.revoked_at === null ? null : new Date(key.revoked_at),
    })),
  };
}
