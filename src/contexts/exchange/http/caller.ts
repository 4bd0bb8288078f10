import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { merchantOf } from '../../../platform/http/decorators.js';
import { ExchangeCredentials, type ExchangeCaller } from '../application/keys/exchange-caller.js';

/** The key that the request was made with, as an {@link ExchangeCaller}. */
export const ExchangeKey = createParamDecorator((_: unknown, context: ExecutionContext): ExchangeCaller => {
  return credentialsOf(context.switchToHttp().getRequest<FastifyRequest>()).caller;
});

function credentialsOf(request: FastifyRequest): ExchangeCredentials {
  const credentials = merchantOf(request);
  if (!(credentials instanceof ExchangeCredentials)) throw new Error('the route is not under /v1');
  return credentials;
}

/** Where a request comes from; a proxy is believed about it only when it is a configured one. */
export interface CallerAddress {
  readonly ip: string;
  /** What stands for one client: an IPv4 address, or the /64 that one IPv6 subscriber holds. */
  readonly client: string;
  /** What its requests are counted as: the key, for what only its owner can send, else key and client. */
  readonly countedAs: string;
}

export const Caller = createParamDecorator((_: unknown, context: ExecutionContext): CallerAddress => {
  const request = context.switchToHttp().getRequest<FastifyRequest>();
  return { ip: request.ip, client: request.edge.client, countedAs: credentialsOf(request).countedAs };
});
