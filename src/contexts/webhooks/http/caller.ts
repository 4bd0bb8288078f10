import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { causeOf, merchantOf, ticketOf } from '../../../platform/http/decorators.js';
import type { MerchantCaller } from '../application/caller.js';

/** The merchant who signed the request, its cause and its ticket. */
export const Caller = createParamDecorator((_: unknown, context: ExecutionContext): MerchantCaller => {
  const request = context.switchToHttp().getRequest<FastifyRequest>();
  const { merchantId } = merchantOf(request);
  return { merchantId, metadata: causeOf(request), ticket: ticketOf(request) };
});
