import { Inject, Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { CLOCK, timestamp, type Clock } from '../../../kernel/clock.js';
import { readUuid } from '../../../kernel/ids.js';
import { upTo } from '../../../platform/cache-size.js';
import { CommandLoop } from '../../../platform/event-store/command-loop.js';
import type { MerchantProfile, MerchantDirectory } from '../../../platform/http/merchant-directory.js';
import { OperatorDirectory, type Requester } from '../../../platform/operations/operations.js';
import { NO_PAGE_SETTINGS, type MemoSigning, type PayPageSettings } from './credential-kinds.js';
import { credentials, findEnd, isValid, type Credential, type Credentials } from './credentials.js';
import { merchant } from '../merchants/merchant.js';
import { operatorPerson } from '../operators/operator.js';
import { effectiveScopes, SCOPES } from '../operators/roles.js';
import { CredentialIndex } from './credentials.view.js';
import { CredentialSecrets } from './credential-secrets.service.js';

export interface ExchangeCaller {
  readonly keyId: string;
  readonly merchantId: string;
  readonly demandsSignature: boolean;
  readonly memoSigning: MemoSigning;
  /** The HMAC keys in UTF-8, oldest first: one, or two during a rotation. */
  readonly secrets: readonly string[];
  readonly secretIds?: readonly string[];
}

export interface ExchangeKey extends ExchangeCaller {
  /** The networks that may use the key; an empty list allows any address. */
  readonly cidrs: readonly string[];
  /** The only addresses that orders of the key may pay out to; an empty list allows any. */
  readonly withdrawAddresses: readonly string[];
  readonly page: PayPageSettings;
}

/** The exchange keys, cached for FRESH_MS. */
export abstract class ExchangeKeyDirectory {
  /** Returns null for a key that is unknown, revoked or expired. */
  abstract find(apiKey: string): Promise<ExchangeKey | null>;
}

export interface AdminKey extends Omit<Requester, 'address'> {
  readonly operatorId: string;
  readonly role: string;
  readonly credentialId: string;
  /** The networks that may use the key; an empty list allows any address. */
  readonly addresses: readonly string[];
  /** The expiry or, once replaced, the end of the overlap in ISO 8601; null if it does not expire. */
  readonly expiresAt: string | null;
}

/** The maximum age of a cache entry, and so the delay until a revocation or suspension takes effect. */
export const FRESH_MS = 2000;
/** The remaining time below which an entry in use is reloaded in the background, so that no request waits. */
const REFRESH_BELOW_MS = 1000;
const MAX_KNOWN = 10_000;
/** The maximum number of unknown keys. Their separate cache keeps a flood from evicting known keys. */
const MAX_UNKNOWN = 10_000;

/** The expiry of entries. Resolution 0 reads the clock each time, because a stalled process delays timers. */
const FRESHNESS = { ttl: FRESH_MS, ttlResolution: 0 };

interface PendingLoad<Entry> {
  readonly startedAt: number;
  readonly found: Promise<Entry | null>;
}

/** A cache of API keys. Concurrent requests for a key share one `query`. */
class CachedDirectory<Entry extends object> {
  private readonly known = new LRUCache<string, Entry>({ ...upTo(MAX_KNOWN), ...FRESHNESS });
  private readonly unknown = new LRUCache<string, true>({ ...upTo(MAX_UNKNOWN), ...FRESHNESS });
  private readonly pending = new Map<string, PendingLoad<Entry>>();

  constructor(
    private readonly query: (id: string) => Promise<Entry | null>,
    /** Returns the id of an API key, or null for a malformed key, which needs no query. */
    private readonly keyOf: (apiKey: string) => string | null = readUuid,
  ) {}

  async find(apiKey: string): Promise<Entry | null> {
    const id = this.keyOf(apiKey);
    if (id === null) return null;
    const found = this.known.get(id);
    if (found !== undefined) {
      // A failed refresh lets the entry expire. The next request then reports the error.
      if (this.known.getRemainingTTL(id) < REFRESH_BELOW_MS) this.refresh(id).catch(() => undefined);
      return found;
    }
    if (this.unknown.has(id)) return null;
    return this.refresh(id);
  }

  private refresh(id: string): Promise<Entry | null> {
    const running = this.pending.get(id);
    const startedAt = performance.now();
    // A query that is older than FRESH_MS may return outdated data.
    if (running !== undefined && startedAt - running.startedAt < FRESH_MS) return running.found;
    const started: PendingLoad<Entry> = {
      startedAt,
      found: this.load(id, startedAt).finally(() => {
        if (this.pending.get(id) === started) this.pending.delete(id);
      }),
    };
    this.pending.set(id, started);
    return started.found;
  }

  /** Queries and caches an entry. Its age includes the query, during which the data may change. */
  private async load(id: string, start: number): Promise<Entry | null> {
    const found = await this.query(id);
    if (found === null) {
      this.known.delete(id);
      this.unknown.set(id, true, { start });
    } else {
      this.unknown.delete(id);
      this.known.set(id, found, { start });
    }
    return found;
  }
}

/** Finds and caches callers. Rows can be forged and only locate the owner; events determine the rights. */
@Injectable()
export class CredentialDirectory extends OperatorDirectory {
  readonly allScopes: ReadonlySet<string> = new Set(SCOPES);
  readonly merchants: MerchantDirectory = new CachedDirectory((id) => this.loadMerchant(id));
  readonly exchangeKeys: ExchangeKeyDirectory = new CachedDirectory((id) => this.loadExchangeKey(id));
  private readonly adminKeys = new CachedDirectory(
    (hash) => this.loadAdminKey(hash),
    (hash) => hash,
  );

  constructor(
    private readonly index: CredentialIndex,
    private readonly loop: CommandLoop,
    private readonly secrets: CredentialSecrets,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {
    super();
  }

  /** Returns null for an invalid or expired key, and for a key of a disabled person. */
  async findAdminKey(token: string): Promise<AdminKey | null> {
    if (!this.secrets.isAdmin(token)) return null;
    const key = await this.adminKeys.find(this.secrets.toHash(token));
    const end = key?.expiresAt ?? null;
    return end !== null && new Date(end) <= this.clock.now() ? null : key;
  }

  async findScopes(operatorId: string): Promise<ReadonlySet<string> | null> {
    const { state } = await this.loop.load(operatorPerson, operatorId);
    return state.status === 'active' ? effectiveScopes(SCOPES, state.role) : null;
  }

  private async loadMerchant(merchantId: string): Promise<MerchantProfile | null> {
    if (!(await this.index.isMerchant(merchantId))) return null;
    const { state } = await this.loop.load(merchant, merchantId);
    if (state.status === 'unknown') return null;
    const { status, name, origins, callbacks, ip_allow_list: ipAllowList } = state;
    const { credentials: all } = await this.loadCredentials(merchantId);
    const own = all.filter(({ kind }) => kind === 'payouts');
    const { texts: privateKeys, ids: privateKeyIds } = this.openValid(own);
    const { display_name, requests_per_minute: requestsPerMinute } = state;
    const settings = { name: display_name ?? name, origins, callbacks, requestsPerMinute };
    return { merchantId, status, ipAllowList, privateKeys, privateKeyIds, ...settings };
  }

  private async loadExchangeKey(keyId: string): Promise<ExchangeKey | null> {
    const merchantId = await this.index.ownerOfKey(keyId);
    if (merchantId === null) return null;
    const { credentials: all, pages } = await this.loadCredentials(merchantId);
    const own = all.filter(({ kind, key_id }) => kind === 'exchange' && key_id === keyId);
    const [first] = own;
    if (first === undefined) return null;
    const { texts: secrets, ids: secretIds } = this.openValid(own);
    // A key without a valid secret has expired, also for calls that need no signature.
    if (secrets.length === 0) return null;
    return {
      keyId,
      merchantId,
      demandsSignature: first.demands_signing!,
      memoSigning: first.memo_signing!,
      cidrs: first.addresses,
      withdrawAddresses: first.withdraw_addresses ?? [],
      page: pages[keyId] ?? NO_PAGE_SETTINGS,
      secrets,
      secretIds,
    };
  }

  private async loadAdminKey(hash: string): Promise<AdminKey | null> {
    const operatorId = await this.index.ownerOfSecret(hash);
    if (operatorId === null) return null;
    const { credentials: all } = await this.loadCredentials(operatorId);
    const key = all.find(({ kind, secret_hash }) => kind === 'admin' && secret_hash === hash);
    if (key === undefined || key.is_pending) return null;
    const { state: person } = await this.loop.load(operatorPerson, operatorId);
    if (person.status !== 'active') return null;
    const { name, role } = person;
    const { credential_id: credentialId, merchants, addresses } = key;
    const terms = { scopes: effectiveScopes(key.scopes, role), merchants, addresses };
    return { credentialId, operatorId, name, role, ...terms, expiresAt: findEnd(key) };
  }

  private async loadCredentials(ownerId: string): Promise<Credentials> {
    return (await this.loop.load(credentials, ownerId)).state;
  }

  private openValid(own: readonly Credential[]) {
    const now = timestamp(this.clock);
    const valid = own.filter((each) => isValid(each, now));
    return {
      texts: valid.map((each) => this.secrets.open(each)),
      ids: valid.map(({ credential_id }) => credential_id),
    };
  }
}
