import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { merchantOf } from '../../../platform/http/decorators.js';
import { ExchangeCredentials, type ExchangeCaller } from '../application/keys/exchange-caller.js';

/** The key that the request was made with, as an {@link ExchangeCaller}. */
export const ExchangeKey = createParamDecorator((_: unknown, context: ExecutionContext): ExchangeCaller => {
  const credentials = merchantOf(context.switchToHttp().getRequest<FastifyRequest>());
  if (!(credentials instanceof ExchangeCredentials)) throw new Error('the route is not under /v1');
  return credentials.caller;
});

/** Where a request comes from; a proxy is believed about it only when it is a configured one. */
export interface CallerAddress {
  readonly ip: string;
  /** What stands for one client: an IPv4 address, or the /64 that one IPv6 subscriber holds. */
  readonly client: string;
}

export const Caller = createParamDecorator((_: unknown, context: ExecutionContext): CallerAddress => {
  const { ip, edge } = context.switchToHttp().getRequest<FastifyRequest>();
  return { ip, client: edge.client };
});
