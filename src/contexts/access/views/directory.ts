import { Injectable } from '@nestjs/common';
import { GroupCall } from '../../../platform/background/group-call.js';
import { Database } from '../../../platform/postgres/database.js';
import type { CredentialKind } from '../domain/credential.js';
import type { MemoSigning, PayPageSettings } from '../domain/exchange-key.js';
import type { Embedding } from '../domain/merchant.js';

export interface SecretRow {
  readonly secretId: string;
  readonly sealedSecret: string;
  readonly issuedAt: Date;
  readonly expiresAt: Date | null;
  /** Another one replaces it; it is valid until then. */
  readonly rollingUntil: Date | null;
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
  /** Null: the default of the service. */
  readonly requestsPerMinute: number | null;
  readonly registeredAt: Date;
}

export interface ExchangeKeyRow extends CredentialRow, PayPageSettings {
  readonly keyId: string;
  readonly label: string | null;
  readonly demandsSignature: boolean;
  readonly memoSigning: MemoSigning;
  /** Where its orders may pay out to; empty: anywhere. */
  readonly withdrawAddresses: readonly string[];
  readonly issuedAt: Date;
  readonly revokedAt: Date | null;
}

const SECRETS = `c.cidrs, coalesce(
  (select json_agg(json_build_object('secretId', s.secret_id, 'sealedSecret', s.sealed_secret,
                                     'issuedAt', s.issued_at, 'expiresAt', s.expires_at,
                                     'rollingUntil', s.rolling_until, 'revokedAt', s.revoked_at)
                   order by s.issued_at, s.secret_id)
   from access.secrets s where s.credential_id = c.credential_id), '[]') as secrets`;

const MERCHANTS = `
  select m.merchant_id as "merchantId", m.name, m.status, m.registered_at as "registeredAt",
         m.origins, m.callbacks, m.display_name as "displayName",
         m.requests_per_minute as "requestsPerMinute", ${SECRETS}
  from access.merchants m join access.credentials c on c.credential_id = m.merchant_id`;

const EXCHANGE_KEYS = `
  select c.credential_id as "keyId", c.merchant_id as "merchantId", c.label,
         c.demands_signature as "demandsSignature", c.memo_signing as "memoSigning",
         c.withdraw_addresses as "withdrawAddresses",
         c.logo, c.help_url as "helpUrl", c.terms_url as "termsUrl",
         c.issued_at as "issuedAt", c.revoked_at as "revokedAt", ${SECRETS}
  from access.credentials c where c.kind = 'exchange_key'`;

/** Sealed, of one kind, while they and their credential are valid. */
export const validSecrets = (kind: CredentialKind): string =>
  `select s.sealed_secret as sealed from access.secrets s join access.credentials c using (credential_id)
   where c.kind = '${kind}' and s.revoked_at is null and c.revoked_at is null`;

const READ_LANES = 8;

/** One that is rolling counts if no other secret of its credential remains. */
const NEXT_EXPIRIES = `select c.kind, min(least(s.expires_at, s.rolling_until)) as "expiresAt"
  from access.secrets s join access.credentials c using (credential_id)
  where least(s.expires_at, s.rolling_until) > now() - interval '1 day' and not s.is_pending
    and s.revoked_at is null and c.revoked_at is null
    and (s.rolling_until is null or not exists (select from access.secrets other
      where other.credential_id = s.credential_id and other.rolling_until is null and other.revoked_at is null
        and not other.is_pending and coalesce(other.expires_at > now(), true)))
  group by c.kind`;

@Injectable()
export class DirectoryView {
  /** Deliveries read the merchants of a thousand endpoints at once. Several: a read that hangs delays a part of the merchants. */
  private readonly merchantReads = Array.from(
    { length: READ_LANES },
    () => new GroupCall((ids: readonly string[]) => this.merchantsOf(ids)),
  );

  constructor(private readonly database: Database) {}

  /** `merchantId` must be a uuid in lower case. */
  merchant(merchantId: string): Promise<MerchantRow | null> {
    return this.merchantReads[parseInt(merchantId.slice(-2), 16) % READ_LANES]!.call(merchantId);
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

  /** Which exchange key is a credential of? Its id is that of one of the key's secrets; any other id counts as the key's. */
  async exchangeKeyOf(credentialId: string): Promise<string> {
    const [row] = await this.database.query<{ id: string }>(
      'select credential_id as id from access.secrets where secret_id = $1',
      [credentialId],
    );
    return row?.id ?? credentialId;
  }

  /** The id of the admin key whose secret has this keyed hash. The events say what it may do, and for whom. */
  async adminKeyId(secretHash: string): Promise<string | null> {
    const sql = 'select credential_id as id from access.secrets where secret_hash = $1';
    return (await this.database.query<{ id: string }>(sql, [secretHash]))[0]?.id ?? null;
  }

  /** By kind, of those that were neither rolled nor revoked: the next that expires, or one that did within a day. */
  nextExpiries(): Promise<{ kind: CredentialKind | 'admin_key'; expiresAt: Date }[]> {
    return this.database.query(NEXT_EXPIRIES);
  }

  private async merchantsOf(ids: readonly string[]): Promise<(MerchantRow | null)[]> {
    const rows = await this.read<MerchantRow>(`${MERCHANTS} where m.merchant_id = any($1)`, ids);
    const found = new Map(rows.map((row) => [row.merchantId, row]));
    return ids.map((id) => found.get(id) ?? null);
  }

  private async read<Row extends CredentialRow>(sql: string, ...values: unknown[]): Promise<Row[]> {
    const rows = await this.database.query<Row>(sql, values);
    return rows.map((row) => ({ ...row, secrets: row.secrets.map(withDates) }));
  }
}

/** Times in JSON are text. */
function withDates({ issuedAt, expiresAt, rollingUntil, revokedAt, ...secret }: SecretRow): SecretRow {
  const date = (text: Date | null): Date | null => (text === null ? null : new Date(text));
  const ends = { expiresAt: date(expiresAt), rollingUntil: date(rollingUntil), revokedAt: date(revokedAt) };
  return { ...secret, issuedAt: new Date(issuedAt), ...ends };
}

/** Whether the secret is neither revoked nor over. */
export function isValid({ revokedAt, expiresAt, rollingUntil }: SecretRow, now: Date): boolean {
  return revokedAt === null && [expiresAt, rollingUntil].every((end) => end === null || end > now);
}
