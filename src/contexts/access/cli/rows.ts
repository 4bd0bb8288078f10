import type { INestApplicationContext } from '@nestjs/common';
import { DomainError } from '../../../kernel/domain-error.js';
import { CommandLoop } from '../../../platform/event-store/command-loop.js';
import { Database } from '../../../platform/postgres/database.js';
import type { MemoSigning } from '../domain/credential-kinds.js';
import { credentials } from '../domain/credentials.js';
import type { Embedding } from '../domain/merchant.js';
import { NO_PAGE_SETTINGS, type PayPageSettings } from '../domain/pay-page.js';

export interface SecretRow {
  readonly secretId: string;
  readonly issuedAt: Date;
  readonly isValid: boolean;
  readonly rollingUntil: Date | null;
  readonly revokedAt: Date | null;
}

interface Row {
  readonly [column: string]: unknown;
  readonly merchantId: string;
  readonly cidrs: readonly string[];
  /** Oldest first. */
  readonly secrets: readonly SecretRow[];
}

export interface MerchantRow extends Row, Embedding {
  readonly name: string;
  readonly status: 'active' | 'suspended';
  readonly registeredAt: Date;
}

export interface ExchangeKeyRow extends Row {
  readonly keyId: string;
  readonly label: string | null;
  readonly demandsSignature: boolean;
  readonly memoSigning: MemoSigning;
  readonly issuedAt: Date;
  readonly revokedAt: Date | null;
  readonly page: PayPageSettings;
}

const SECRETS = `coalesce(json_agg(json_build_object('secretId', c.credential_id, 'issuedAt', c.created_at,
    'rollingUntil', c.rolling_until, 'revokedAt', c.revoked_at,
    'isValid', c.revoked_at is null and coalesce(least(c.expires_at, c.rolling_until) > now(), true))
  order by c.created_at, c.credential_id) filter (where c.credential_id is not null), '[]') as secrets`;

const MERCHANTS = `select m.merchant_id as "merchantId", m.name, m.status, m.registered_at as "registeredAt", m.origins,
    m.callbacks, m.display_name as "displayName", m.ip_allow_list as cidrs, ${SECRETS}
  from access.merchants m left join access.credentials c on c.merchant_id = m.merchant_id and c.kind = 'payouts'
  where $1::uuid is null or m.merchant_id = $1
  group by m.merchant_id order by m.registered_at, m.merchant_id`;

const EXCHANGE_KEYS = `select c.key_id as "keyId", c.merchant_id as "merchantId", max(c.name) as label,
    bool_and(c.demands_signing) as "demandsSignature", max(c.memo_signing) as "memoSigning",
    max(c.addresses) as cidrs, min(c.created_at) as "issuedAt",
    case when bool_and(c.revoked_at is not null) then max(c.revoked_at) end as "revokedAt", ${SECRETS}
  from access.credentials c where c.kind = 'exchange' and ($1::uuid is null or c.merchant_id = $1)
    and ($2::uuid is null or c.key_id = $2)
  group by c.key_id, c.merchant_id order by min(c.created_at), c.key_id`;

/** In order of registration; null: all. */
export async function findMerchants(context: INestApplicationContext, id: string | null) {
  const database = context.get(Database, { strict: false });
  return (await database.query<MerchantRow>(MERCHANTS, [id])).map(withDates);
}

/** In order of issue, of one merchant or of all. */
export async function findKeys(
  context: INestApplicationContext,
  merchantId: string | null,
  keyId: string | null = null,
): Promise<ExchangeKeyRow[]> {
  const rows = await context
    .get(Database, { strict: false })
    .query<ExchangeKeyRow>(EXCHANGE_KEYS, [merchantId, keyId]);
  const loop = context.get(CommandLoop, { strict: false });
  return Promise.all(
    rows.map(async (row) => {
      const { pages } = (await loop.load(credentials, row.merchantId)).state;
      return { ...withDates(row), page: pages[row.keyId] ?? NO_PAGE_SETTINGS };
    }),
  );
}

/** Throws `not_found`. */
export async function findKey(context: INestApplicationContext, id: string): Promise<ExchangeKeyRow> {
  const [found] = await findKeys(context, null, id);
  if (found === undefined) throw DomainError.notFound('Key');
  return found;
}

/** Times in JSON are text. */
function withDates<T extends Row>(row: T): T {
  const date = (text: Date | null): Date | null => (text === null ? null : new Date(text));
  const secrets = row.secrets.map(({ issuedAt, rollingUntil, revokedAt, ...secret }) => ({
    ...secret,
    issuedAt: new Date(issuedAt),
    ...{ rollingUntil: date(rollingUntil), revokedAt: date(revokedAt) },
  }));
  return { ...row, secrets };
}
