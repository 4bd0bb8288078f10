import { Inject, Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { CLOCK, type Clock, HOUR_MS } from '../../../kernel/clock.js';
import { MerchantDirectory, type MerchantProfile } from '../../../platform/http/merchant-directory.js';
import { readBearer, PageSessions, VisitorLimits } from '../../../platform/http/pages/visitors.js';
import { Refusal, SUSPENDED, type HttpProblem } from '../../../platform/http/problem.js';
import { KeyedHash } from '../../../platform/sealing/keyed-hash.js';
import { ExchangeKeyDirectory, type KnownExchangeKey } from '../../access/access.contract.js';
import type { Payer } from '../orders/orders.commands.js';
import { getRequest } from '../../../platform/http/request-state.js';
import { exchangeConfig, type ExchangeConfig } from '../exchange.config.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { Fault } from '../../../kernel/fault.js';
import { processConfig, type ProcessConfig } from '../../../platform/config/config.js';
import { readAddress, readTag, readReturnUrl } from '../orders/addresses.js';
import { PAYER_FIELDS } from '../orders/order-events.js';
import {
  findSigner,
  isSignedQuery,
  openSignedQuery,
  requirePayoutAddress,
} from '../orders/order-signature.guard.js';

/** The time in which an open page may create its order. The session then lasts until the order's end. */
const BEFORE_MS = HOUR_MS;

export interface PayerSession extends Payer {
  /** The hash of the secret that signed the link; null if unsigned. Revoking it ends the session. */
  readonly secret_hash: string | null;
  /** True if the link had expired. The session is valid for existing orders only. */
  readonly has_expired?: boolean;
}

/** The sessions of payers. A session contains the payout address, so an open page cannot change it. */
@Injectable()
export class PaySessions extends PageSessions<PayerSession> {
  constructor(
    @Inject(CLOCK) clock: Clock,
    @Inject(exchangeConfig.KEY) config: ExchangeConfig,
    keyedHash: KeyedHash,
  ) {
    const waitSeconds = config.exchangeOrderExpirySeconds + config.exchangePaidWaitSeconds;
    super('pay session', BEFORE_MS + waitSeconds * 1000, clock, keyedHash);
  }

  /** Returns the payer's id for the browser's storage and for rate limits. */
  link(payer: Payer): string {
    const parts = [payer.key_id, ...PAYER_FIELDS.map((name) => payer[name])];
    return this.keyedHash.of('pay link', JSON.stringify(parts)).slice(0, 32);
  }

  toHash(secret: string): string {
    return this.keyedHash.of('pay session secret', secret).slice(0, 32);
  }
}

/** The route that a page polls. */
const ORDER = '/widget/api/orders/:id';

export const SESSION_ENDED = { status: 401, title: 'Invalid session', detail: 'The session has ended' };

export interface PayVisitor {
  readonly payer: PayerSession;
  readonly merchant: MerchantProfile;
}

/** The refusal of every invalid link, which does not reveal the cause (contract.md 26.1). */
const UNAUTHORIZED: HttpProblem = {
  status: 401,
  title: 'Invalid link',
  detail: 'The key or the signature of this link is missing or not valid',
};

/** The parameters of a link (contract.md 25.3). */
type Parameters = Readonly<Record<string, string | undefined>>;

export interface PayLink {
  readonly key: KnownExchangeKey;
  readonly payer: PayerSession;
  readonly parameters: Parameters;
  readonly returnUrl: string | null;
}

/**
 * Authenticates payers by a link or by the session of its page. The key and its secret must be valid and the
 * merchant not suspended. Visitors are rate-limited. The IP allow list of a key does not apply to pages.
 */
@Injectable()
export class PayerGuard implements CanActivate {
  constructor(
    private readonly keys: ExchangeKeyDirectory,
    private readonly merchants: MerchantDirectory,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(processConfig.KEY) private readonly config: ProcessConfig,
    private readonly sessions: PaySessions,
    private readonly limits: VisitorLimits,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = getRequest(context);
    const payer = this.sessions.read(readBearer(request));
    if (payer === null) throw new Refusal(SESSION_ENDED);
    await this.admit(payer, request);
    return true;
  }

  /** Verifies a page's link (contract.md 26.1). Throws Refusal, `bad_request` or `validation_failed`. */
  async open({ query, raw, headers }: FastifyRequest): Promise<PayLink> {
    const named = query as Parameters;
    const repeated = Object.keys(named).find((name) => Array.isArray(named[name]));
    if (repeated !== undefined) throw new DomainError('bad_request', `${repeated} must be given once`);
    const text = (raw.url ?? '').split('?').slice(1).join('?');
    const isSignedUrl = isSignedQuery(text);
    const ids = [isSignedUrl ? undefined : headers['x-api-key'], named['api_key']];
    const keyIds = new Set(ids.filter((id) => id !== undefined));
    const key = keyIds.size === 1 ? await this.keys.find(String([...keyIds][0])) : null;
    if (key === null) throw new Refusal(UNAUTHORIZED);
    const signer = isSignedUrl ? undefined : findSigner(key, '/widget', named, headers['x-signature']);
    const link = isSignedUrl
      ? openSignedQuery(text, key.secrets, this.clock.now())
      : signer !== undefined && { parameters: named, secret: signer, hasExpired: false };
    if (!link) throw new Refusal(UNAUTHORIZED);
    const { parameters, hasExpired, secret } = link;
    requirePayoutAddress(key, parameters['withdraw_address']);
    const secretHash = secret === null ? null : this.sessions.toHash(secret);
    const returnUrl = readReturnUrl(parameters['return_url'] || null, this.config.mode);
    return {
      key,
      parameters,
      payer: { ...toPayer(key, parameters), secret_hash: secretHash, has_expired: hasExpired },
      returnUrl: valid('return_url', returnUrl),
    };
  }

  /** Verifies the payer's key and secret, and counts the request. Throws Refusal (401, 403, 429). */
  async admit(payer: PayerSession, { edge, ip, method }: FastifyRequest): Promise<PayVisitor> {
    const { key_id: keyId, secret_hash: secretHash } = payer;
    const key = await this.keys.find(keyId);
    const hashes = key?.secrets.map((secret) => this.sessions.toHash(secret)) ?? [];
    const isValid = secretHash === null || hashes.includes(secretHash);
    const merchant = key === null || !isValid ? null : await this.merchants.find(key.merchantId);
    if (merchant === null) throw new Refusal(SESSION_ENDED);
    if (merchant.status === 'suspended') throw new Refusal(SUSPENDED);
    const link = this.sessions.link(payer);
    if (method === 'GET' && edge.route === ORDER) this.limits.takePoll(ip, link);
    else this.limits.take(ip, keyId, link);
    edge.merchant = { ...merchant, callerId: keyId };
    const visitor = { payer, merchant };
    edge.visitor = visitor;
    return visitor;
  }
}

function toPayer({ keyId }: KnownExchangeKey, parameters: Parameters): Payer {
  const read = (name: string, given = parameters[name]): string | null =>
    given ? valid(name, readTag(given)) : null;
  const address = parameters['withdraw_address'] ?? '';
  return {
    key_id: keyId,
    withdraw_address: valid('withdraw_address', readAddress(address)),
    withdraw_address_tag: read('withdraw_address_tag'),
    withdraw_address_memo: read('withdraw_address_memo'),
    user_id: read('user_id', parameters['user_id']?.trim()),
  };
}

function valid<T extends string | null>(name: string, value: T | Fault): T {
  if (value instanceof Fault) throw DomainError.invalid({ [name]: [value.message] });
  return value;
}
