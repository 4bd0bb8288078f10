import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { ExchangeCaller, KnownExchangeKey } from '../../access/contract.js';
import { secretIdOf } from './signature.js';
import { requestOf } from '../../../platform/http/request-state.js';

/** The key of a request, and what its requests are counted as. ExchangeKeyGuard leaves it in `edge.visitor`. */
export interface ExchangeVisitor {
  readonly key: KnownExchangeKey;
  readonly countedAs: string;
}

/** The key of the request. */
export const CallingKey = createParamDecorator(
  (_: unknown, context: ExecutionContext): ExchangeCaller =>
    (requestOf(context).edge.visitor as ExchangeVisitor).key,
);

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
  const { key, countedAs } = request.edge.visitor as ExchangeVisitor;
  const signedBy = (secret: string | null): void =>
    void (request.edge.credentialId = secretIdOf(key, secret));
  return { ip: request.ip, client: request.edge.client, countedAs, signedBy };
});
