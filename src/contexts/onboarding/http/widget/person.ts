import type { FastifyRequest } from 'fastify';
import { DomainError } from '../../../../kernel/domain-error.js';
import { isUuid } from '../../../../kernel/ids.js';

/** Whom a request is about; nobody has shown that they are it. */
export interface Person {
  readonly merchantId: string;
  readonly userId: string;
}

/** By the path `/onboarding/:merchantId/:userId/...`. Throws `not_found`. */
export function personIn(request: FastifyRequest): Person {
  const { merchantId, userId } = request.params as Record<'merchantId' | 'userId', string>;
  return { merchantId: idOf(merchantId), userId: idOf(userId) };
}

export function idOf(value: unknown): string {
  if (!isUuid(value)) throw DomainError.notFound('User');
  return value.toLowerCase();
}

/** The Bearer token of a request; empty when it has none. */
export function sessionOf({ headers }: FastifyRequest): string {
  return (headers.authorization ?? '').replace(/^Bearer /, '');
}
