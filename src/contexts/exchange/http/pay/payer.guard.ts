import { Inject, Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { CLOCK, type Clock, HOUR_MS } from '../../../../kernel/clock.js';
import {
  MERCHANT_DIRECTORY,
  type MerchantProfile,
  type MerchantDirectory,
} from '../../../../platform/http/merchant-directory.js';
import { readBearer, PageSessions, VisitorLimits } from '../../../../platform/http/pages/visitors.js';
import { Refusal, SUSPENDED, type HttpProblem } from '../../../../platform/http/problem.js';
import { KeyedHash } from '../../../../platform/sealing/keyed-hash.js';
import {
  EXCHANGE_KEY_DIRECTORY,
  type ExchangeKeyDirectory,
  type KnownExchangeKey,
} from '../../../access/contract.js';
import type { Payer } from '../../application/order-actions.js';
import { getRequest } from '../../../../platform/http/request-state.js';
import { exchangeConfig, type ExchangeConfig } from '../../settings.js';
import { DomainError } from '../../../../kernel/domain-error.js';
import { Fault } from '../../../../kernel/fault.js';
import { processConfig, type ProcessConfig } from '../../../../platform/config/config.js';
import { isSignedQuery, openSignedQuery } from '../../application/signed-links.js';
import { readAddress, readTag, readReturnUrl } from '../../domain/addresses.js';
import { PAYER_FIELDS } from '../../domain/order-events.js';
import { requirePayoutAddress, findSigner } from '../signature.js';

/** An order is followed to its end with the session that created it; the page may have been open this long before. */
const BEFORE_MS = HOUR_MS;

/** A payer whose page is open. */
export interface PayerSession extends Payer {
  /** Hash of the secret that signed the link: the session ends with it. Null where the key demands no signature. */
  readonly secret_hash: string | null;
  /** The link had expired: the session is for orders that exist. */
  readonly has_expired?: boolean;
}

/** Sessions of payers: the address that is paid to cannot change after the page was opened. */
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

  /** Identifies the payer where the browser keeps the page's place. */
  link(payer: Payer): string {
    const parts = [payer.key_id, ...PAYER_FIELDS.map((name) => payer[name])];
    return this.keyedHash.of('pay link', JSON.stringify(parts)).slice(0, 32);
  }

  /** Returns a session's hash of the secret that opened it. */
  toHash(secret: string): string {
    return this.keyedHash.of('pay session secret', secret).slice(0, 32);
  }
}

/** The route that a page polls. */
const ORDER = '/widget/api/orders/:id';

export const SESSION_ENDED = { status: 401, title: 'Invalid session', detail: 'The session has ended' };

/** The payer and the key of the link. */
export interface PayVisitor {
  readonly payer: PayerSession;
  readonly merchant: MerchantProfile;
}

/**
 * Lets in calls with a session whose key and secret are not revoked, of a merchant that is not suspended, and within the
 * limits of visitors. A key may be bound to addresses that merchants call from; people open pages from anywhere.
 */
@Injectable()
export class PayerGuard implements CanActivate {
  constructor(
    @Inject(EXCHANGE_KEY_DIRECTORY) private readonly keys: ExchangeKeyDirectory,
    @Inject(MERCHANT_DIRECTORY) private readonly merchants: MerchantDirectory,
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

  /** Counts a request. Throws {@link Refusal} (401, 403, 429). */
  async admit(payer: PayerSession, { edge, ip, method }: FastifyRequest): Promise<PayVisitor> {
    const visitor = { payer, merchant: await this.verify(payer) };
    const link = this.sessions.link(payer);
    if (method === 'GET' && edge.route === ORDER) this.limits.takePoll(ip, link);
    else this.limits.take(ip, payer.key_id, link);
    edge.merchant = { ...visitor.merchant, callerId: payer.key_id };
    edge.visitor = visitor;
    return visitor;
  }

  /** The merchant, while the key, and the secret that opened the page, are valid. Throws {@link Refusal} (401, 403). */
  async verify({ key_id: keyId, secret_hash: secretHash }: PayerSession): Promise<MerchantProfile> {
    const key = await this.keys.find(keyId);
    const hashes = key?.secrets.map((secret) => this.sessions.toHash(secret)) ?? [];
    const isValid = secretHash === null || hashes.includes(secretHash);
    const merchant = key === null || !isValid ? null : await this.merchants.find(key.merchantId);
    if (merchant === null) throw new Refusal(SESSION_ENDED);
    if (merchant.status === 'suspended') throw new Refusal(SUSPENDED);
    return merchant;
  }
}

/** One for all: it does not say which of them it was (contract.md 26.1). */
const UNAUTHORIZED: HttpProblem = {
  status: 401,
  title: 'Invalid link',
  detail: 'The key or the signature of this link is missing or not valid',
};

/** The parameters of the configuration (contract.md 25.3) that a page uses. */
type Parameters = Readonly<Record<string, string | undefined>>;

/** The person who opened a page, with the link's parameters. */
export interface PayLink {
  readonly key: KnownExchangeKey;
  readonly payer: PayerSession;
  readonly parameters: Parameters;
  /** The address to which the page leads back. */
  readonly returnUrl: string | null;
}

/** Verifies the link of a page: headers, a signature in the query, or a `signed_url` (contract.md 26.1). */
@Injectable()
export class PayLinks {
  constructor(
    @Inject(EXCHANGE_KEY_DIRECTORY) private readonly keys: ExchangeKeyDirectory,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(processConfig.KEY) private readonly config: ProcessConfig,
    private readonly sessions: PaySessions,
  ) {}

  /** Throws {@link Refusal} (401), `bad_request`, and `validation_failed` for an address that is none. */
  async open({ query, raw, headers }: FastifyRequest): Promise<PayLink> {
    const given = Object.entries(query as Readonly<Record<string, string | readonly string[]>>);
    const repeated = given.find(([, value]) => Array.isArray(value));
    if (repeated !== undefined) throw new DomainError('bad_request', `${repeated[0]} must be given once`);
    const named = query as Parameters;
    const text = (raw.url ?? '').split('?').slice(1).join('?');
    const isSignedUrl = isSignedQuery(text);
    const ids = [...(isSignedUrl ? [] : [headers['x-api-key']]), named['api_key']].filter(
      (id) => id !== undefined,
    );
    const key = new Set(ids).size === 1 ? await this.keys.find(String(ids[0])) : null;
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
}

function toPayer({ keyId }: KnownExchangeKey, parameters: Parameters): Payer {
  const read = (name: string, given = parameters[name]): string | null =>
    given === undefined || given === '' ? null : valid(name, readTag(given));
  const address = parameters['withdraw_address'] ?? '';
  return {
    key_id: keyId,
    withdraw_address: valid('withdraw_address', readAddress('solana', address)),
    withdraw_address_tag: read('withdraw_address_tag'),
    withdraw_address_memo: read('withdraw_address_memo'),
    user_id: read('user_id', parameters['user_id']?.trim()),
  };
}

function valid<T extends string | null>(name: string, value: T | Fault): T {
  if (value instanceof Fault) throw DomainError.invalid({ [name]: [value.message] });
  return value;
}
