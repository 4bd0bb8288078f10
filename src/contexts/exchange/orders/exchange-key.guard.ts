import { Inject, Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { type HttpConfig, httpConfig } from '../../../platform/config/config.js';
import { ApiGuard } from '../../../platform/http/api.guard.js';
import { MerchantDirectory, type ApiCaller } from '../../../platform/http/merchant-directory.js';
import type { Visit } from '../../../platform/http/pages/page.js';
import { Refusal } from '../../../platform/http/problem.js';
import { LocalRateLimiter, refuseUntil } from '../../../platform/http/rate-limit.guard.js';
import { isLarge, MemoryBudget } from '../../../platform/http/request-body.js';
import { rawPath } from '../../../platform/http/request-state.js';
import { BODY, type ApiScheme } from '../../../platform/openapi/document.js';
import { problemResponse } from '../../../platform/openapi/route.js';
import { ExchangeKeyDirectory, type KnownExchangeKey } from '../../access/access.contract.js';
import { exchangeConfig, type ExchangeConfig } from '../exchange.config.js';
import {
  addressSigner,
  invalidKey,
  invalidSignature,
  requirePayoutAddress,
  findSigner,
} from './order-signature.guard.js';

const LIST = '/v1/merchant/orders';
const CONFIGURATION = '/v1/merchants/configuration';
const ORDERS = '/v1/orders';

interface ExchangeVisitor {
  readonly key: KnownExchangeKey;
  /** The client's IPv4 address, or the /64 network of one IPv6 subscriber. */
  readonly client: string;
  /** The rate limit's key: the API key for requests that only its owner can send, else API key and client. */
  readonly countedAs: string;
  /** Records in the request log which secret signed the request. */
  signedBy(secret: string | null): void;
}
export type ExchangeVisit = Visit<ExchangeVisitor>;

/** Authenticates exchange API requests (contract.md 21). Signatures cover no body, so no body is read. */
@Injectable()
export class ExchangeKeyGuard extends ApiGuard {
  constructor(
    private readonly keys: ExchangeKeyDirectory,
    private readonly merchants: MerchantDirectory,
    memory: MemoryBudget,
  ) {
    super('/v1', memory);
  }

  override async identify(request: FastifyRequest): Promise<ApiCaller> {
    request.edge.inputsInQuery = true;
    const query = request.query as Readonly<Record<string, unknown>>;
    const repeated = Object.keys(query).find((name) => Array.isArray(query[name]));
    if (repeated !== undefined) throw new Refusal({ status: 400, detail: `${repeated} must be given once` });
    const route = request.edge.route ?? rawPath(request);
    const apiKey = route === LIST ? request.headers['x-api-key'] : query['api_key'];
    const key = typeof apiKey === 'string' ? await this.keys.find(apiKey) : null;
    const merchant = key === null ? null : await this.merchants.find(key.merchantId);
    if (key === null || merchant === null)
      throw new Refusal(invalidKey(route === LIST ? 'header X-Api-Key' : 'query parameter api_key'));
    const signer = requestSigner(key, request);
    // Keys and signatures in links are public, so clients have a budget separate from the owner's.
    const isOwner =
      route === LIST ||
      key.cidrs.length > 0 ||
      (typeof signer === 'string' && query['signature_v2'] !== undefined);
    const { client } = request.edge;
    const countedAs = isOwner ? key.keyId : `${key.keyId}/${client}`;
    const signedBy = (secret: string | null): void =>
      void (request.edge.credentialId = key.secretIds?.[key.secrets.indexOf(secret ?? '')] ?? null);
    const caller: ApiCaller = {
      merchantId: key.merchantId,
      privateKeys: key.secrets,
      status: merchant.status,
      ipAllowList: key.cidrs,
      callerId: key.keyId,
      countedAs,
    };
    request.edge.identifiedMerchant = caller;
    request.edge.visitor = { key, client, countedAs, signedBy } satisfies ExchangeVisitor;
    if (signer === undefined)
      throw new Refusal(invalidSignature(query as Readonly<Record<string, string>>, route));
    if (route === ORDERS || route === CONFIGURATION) requirePayoutAddress(key, query['withdraw_address']);
    if (isLarge(request.raw))
      throw new Refusal({ status: 413, detail: 'The inputs are query parameters: there is no body' });
    signedBy(signer);
    return caller;
  }
}

/** Returns the secret that signed the request: null without a check, undefined for no valid signature. */
function requestSigner(
  key: KnownExchangeKey,
  { edge, headers, query }: FastifyRequest,
): string | null | undefined {
  const parameters = query as Readonly<Record<string, string>>;
  const header = headers['x-signature'] as string | undefined;
  switch (edge.route) {
    case LIST:
      // The list signs an empty address, because signatures of real addresses are public in links.
      return addressSigner(key, header ?? '', '');
    case CONFIGURATION:
    case ORDERS:
      return findSigner(key, edge.route, parameters, edge.route === CONFIGURATION ? header : undefined);
    default:
      // The signature covers the order's address: requireOrderSignature verifies it once the order is loaded.
      return edge.route?.startsWith(`${ORDERS}/`) &&
        key.demandsSignature &&
        parameters['signature'] === undefined
        ? undefined
        : null;
  }
}

/** The number of equal shares of a key's budget for clients. One client can use at most one share. */
const SHARES = 5;

/** Limits provider calls per process and key (ADR 150). A stranger with a link can use a fifth at most. */
@Injectable()
export class ProviderBudget {
  private readonly clients: LocalRateLimiter;
  private readonly keys: LocalRateLimiter;
  private readonly owners: LocalRateLimiter;

  constructor(
    @Inject(exchangeConfig.KEY) { exchangeProviderCallsPerMinute }: ExchangeConfig,
    @Inject(httpConfig.KEY) { rateLimitPerMinute }: HttpConfig,
  ) {
    // A single client, such as a merchant's server, may use its whole rate limit by default.
    const limit = exchangeProviderCallsPerMinute ?? SHARES * rateLimitPerMinute;
    this.clients = new LocalRateLimiter(Math.ceil(limit / SHARES));
    this.keys = new LocalRateLimiter(limit);
    this.owners = new LocalRateLimiter(limit);
  }

  /** Counts a call; `countedAs` is `keyId` for the key's owner. Throws Refusal (429) above the limit. */
  take(keyId: string, countedAs: string): void {
    refuseUntil(
      countedAs === keyId ? this.owners.take(keyId) : (this.clients.take(countedAs) ?? this.keys.take(keyId)),
    );
  }
}

/** The OpenAPI scheme of the exchange API, whose inputs are all in the query (contract.md 21). */
export const exchangeScheme: ApiScheme = {
  prefix: '/v1/',
  statuses: { ...BODY, 400: 'BadQuery', 401: 'InvalidKey', 403: 'KeyForbidden', 503: 'Unavailable' },
  writeStatuses: { 409: 'Conflict', 422: 'Invalid' },
  responses: {
    BadQuery: problemResponse('A parameter is repeated, or the Idempotency-Key is malformed.'),
    InvalidKey: problemResponse('The key is missing or unknown, or a signature is missing or wrong.'),
    KeyForbidden: problemResponse(
      'The merchant is suspended, or the key is used from an address that it is not bound to.',
    ),
  },
  securitySchemes: {
    exchangeKey: {
      type: 'apiKey',
      in: 'query',
      name: 'api_key',
      description: 'A key of the exchange, a uuid. Keys that demand signatures take `signature` too.',
    },
  },
};

const inHeader = (name: string, description: string) => ({ type: 'apiKey', in: 'header', name, description });

export const exchangeListScheme: ApiScheme = {
  ...exchangeScheme,
  prefix: '/v1/merchant/',
  securitySchemes: {
    exchangeKeyHeader: inHeader('X-Api-Key', 'A key of the exchange, a uuid.'),
    exchangeSignature: inHeader(
      'X-Signature',
      'Lower-case hex HMAC-SHA256 of `withdraw_address=` with nothing after it, with any filters.',
    ),
  },
};
