import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { merchantOf } from '../../../platform/http/decorators.js';
import type { ApiCaller } from '../../../platform/http/merchant-directory.js';
import type { ExchangeCaller, KnownExchangeKey } from '../../access/contract.js';
import { secretIdOf } from './signature.js';
import { requestOf } from '../../../platform/http/request-state.js';

/** The caller as the edge knows it: a key of a merchant, counted apart from the merchant's other ones. */
export class ExchangeApiCaller implements ApiCaller {
  readonly merchantId: string;
  readonly callerId: string;
  readonly privateKeys: readonly string[];
  readonly ipAllowList: readonly string[];

  constructor(
    readonly caller: KnownExchangeKey,
    readonly status: ApiCaller['status'],
    readonly countedAs: string,
  ) {
    this.merchantId = caller.merchantId;
    this.callerId = caller.keyId;
    this.privateKeys = caller.secrets;
    this.ipAllowList = caller.cidrs;
  }
}

/** The key of the request. */
export const CallingKey = createParamDecorator((_: unknown, context: ExecutionContext): ExchangeCaller => {
  return credentialsOf(requestOf(context)).caller;
});

function credentialsOf(request: FastifyRequest): ExchangeApiCaller {
  const credentials = merchantOf(request);
  if (!(credentials instanceof ExchangeApiCaller)) throw new Error('the route is not under /v1');
  return credentials;
}

/** Where a request comes from; a proxy is believed about it only when it is a configured one. */
export interface CallerAddress {
  readonly ip: string;
  /** Identifies one client: an IPv4 address, or the /64 that one IPv6 subscriber holds. */
  readonly client: string;
  /** What its requests are counted as: the key, for what only its owner can send, else key and client. */
  readonly countedAs: string;
  /** For the request log: the secret that signed the request, as its handler found out. */
  signedBy(secret: string | null): void;
}

export const CalledFrom = createParamDecorator((_: unknown, context: ExecutionContext): CallerAddress => {
  const request = requestOf(context);
  const { caller, countedAs } = credentialsOf(request);
  const signedBy = (secret: string | null): void =>
    void (request.edge.credentialId = secretIdOf(caller, secret));
  return { ip: request.ip, client: request.edge.client, countedAs, signedBy };
});
