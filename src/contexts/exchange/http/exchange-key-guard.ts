import type { FastifyRequest } from 'fastify';
import { ApiGuard } from '../../../platform/http/api-guard.js';
import type { ApiCaller, MerchantDirectory } from '../../../platform/http/merchant-directory.js';
import { type HttpProblem, Refusal } from '../../../platform/http/problem.js';
import { isLarge, type MemoryBudget } from '../../../platform/http/request-body.js';
import { rawPath } from '../../../platform/http/request-state.js';
import type { ExchangeKeyDirectory, KnownExchangeKey } from '../../access/contract.js';
import type { ExchangeVisitor } from './caller.js';
import {
  addressSigner,
  secretIdOf,
  invalidKey,
  invalidSignature,
  mayPayOutTo,
  OTHER_WITHDRAW_ADDRESS,
  signerOf,
} from './signature.js';

const LIST = '/v1/merchant/orders';
const CONFIGURATION = '/v1/merchants/configuration';
const ORDERS = '/v1/orders';

const NO_BODY_ACCEPTED: HttpProblem = {
  status: 413,
  detail: 'The inputs are query parameters: there is no body',
};

/**
 * The exchange API (contract.md 21): a key in the query, and where the key demands it a signature over the withdrawal
 * address. Nothing of a body is signed, so all of it is known before a byte of one is read.
 */
export class ExchangeKeyGuard extends ApiGuard {
  override readonly inputsInQuery = true;

  constructor(
    private readonly keys: ExchangeKeyDirectory,
    private readonly merchants: MerchantDirectory,
    memory: MemoryBudget,
  ) {
    super('/v1', memory);
  }

  override async identify(request: FastifyRequest): Promise<ApiCaller> {
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
    // Keys are public, and so are the signatures of links: each client has its share, and the owner has its own.
    const isOwner =
      route === LIST ||
      key.cidrs.length > 0 ||
      (typeof signer === 'string' && query['signature_v2'] !== undefined);
    const countedAs = isOwner ? key.keyId : `${key.keyId}/${request.edge.client}`;
    const caller: ApiCaller = {
      merchantId: key.merchantId,
      privateKeys: key.secrets,
      status: merchant.status,
      ipAllowList: key.cidrs,
      callerId: key.keyId,
      countedAs,
    };
    request.edge.identifiedMerchant = caller;
    request.edge.visitor = { key, countedAs } satisfies ExchangeVisitor;
    if (signer === undefined)
      throw new Refusal(invalidSignature(query as Readonly<Record<string, string>>, route));
    const isPayout = route === ORDERS || route === CONFIGURATION;
    if (isPayout && !mayPayOutTo(key, query['withdraw_address'])) throw new Refusal(OTHER_WITHDRAW_ADDRESS);
    if (isLarge(request.raw)) throw new Refusal(NO_BODY_ACCEPTED);
    request.edge.credentialId = secretIdOf(key, signer);
    return caller;
  }
}

/** The secret that signed it; null where none has to, or only the handler can check it; undefined: the signature is wrong. */
function requestSigner(
  key: KnownExchangeKey,
  { edge, headers, query }: FastifyRequest,
): string | null | undefined {
  const parameters = query as Readonly<Record<string, string>>;
  const header = headers['x-signature'] as string | undefined;
  switch (edge.route) {
    case LIST:
      // Links carry signatures of addresses: none of them opens the list.
      return addressSigner(key, header ?? '', '');
    case CONFIGURATION:
    case ORDERS:
      return signerOf(key, edge.route, parameters, edge.route === CONFIGURATION ? header : undefined);
    default:
      // Over the order's own address: see requireOrderSignature.
      return edge.route?.startsWith(`${ORDERS}/`) &&
        key.demandsSignature &&
        parameters['signature'] === undefined
        ? undefined
        : null;
  }
}
