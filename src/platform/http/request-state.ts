import type { Span } from '@opentelemetry/api';
import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { newId } from '../../kernel/ids.js';
import type { EventMetadata } from '../event-store/port.js';
import { IdempotencyTicket } from '../idempotency/ticket.js';
import { traceparent } from '../telemetry/tracing.js';
import type { ApiCaller } from './merchant-directory.js';
import type { Page } from './listeners.js';

export function getRequest(context: ExecutionContext): FastifyRequest {
  return context.switchToHttp().getRequest<FastifyRequest>();
}

export const fromRequest = <Value>(read: (request: FastifyRequest) => Value) =>
  createParamDecorator((_: unknown, context: ExecutionContext) => read(getRequest(context)));

/** Returns the key's id in an API with several keys per merchant, else the merchant's id. */
export function toCaller({ callerId, merchantId }: ApiCaller): string {
  return callerId ?? merchantId;
}

export const NO_BODY = Buffer.alloc(0);

/** The maximum length of an unknown parameter in characters. */
export const MAX_UNKNOWN = 2048;

export class RequestState {
  readonly startedAt = performance.now();
  rawBody: Buffer = NO_BODY;
  /** The registered path, for example `/merchants/v1/payouts/:id`; null for an unknown path. */
  route: string | null = null;
  /** The client address, normalised by toClient, or `shell` for the admin socket. */
  client = '';
  /** True where the fingerprint of an Idempotency-Key covers the query string. */
  inputsInQuery = false;
  /** The merchant that the request names, before it is authenticated. */
  identifiedMerchant: ApiCaller | null = null;
  merchant: ApiCaller | null = null;
  /** The id of the secret that signed the request; null without a valid signature. */
  credentialId: string | null = null;
  /** The `detail` of the problem in the response. */
  refusal: string | null = null;
  /** The text that a wrong signature should have covered, with the digest of the body (admin-api.md 3). */
  stringToSign: string | null = null;
  /** The page whose listener received the request; null for the listener of the API. */
  page: Page | null = null;
  /** The visitor of a page, set by its guard. */
  visitor: unknown = null;
  portalSessionId: string | null = null;
  /** The bytes that MemoryBudget counts for the body and for the response. */
  bodyBytes = 0;
  responseBytes = 0;
  /** True once the response was sent or the client is gone. */
  isReleased = false;
  /** The namespace of the caller's Idempotency-Keys; null until a guard has identified the caller. */
  idempotencyScope: string | null = null;
  ticket: IdempotencyTicket | null = null;
  idempotency: 'fresh' | 'replayed' | 'in_flight' | 'mismatch' | null = null;
  /** The number of items in a batch, for the log line. */
  items: number | null = null;
  /** The internal cause of a failure, which only the log contains. */
  failure: unknown;
  span: Span | undefined;
}

declare module 'fastify' {
  interface FastifyRequest {
    edge: RequestState;
  }
}

export function getMerchant({ edge }: FastifyRequest): ApiCaller {
  if (edge.merchant === null) throw new Error('the route belongs to no API, so it has no merchant');
  return edge.merchant;
}

/** Returns the ticket of the request, whose ids are random without an Idempotency-Key. */
export function getTicket({ edge }: FastifyRequest): IdempotencyTicket {
  return (edge.ticket ??= new IdempotencyTicket(newId()));
}

/** Returns the metadata of the events that the request causes. */
export function toCause(request: FastifyRequest): EventMetadata {
  const parent = traceparent();
  const { merchantId, callerId } = getMerchant(request);
  return {
    actor: `${request.method} ${request.edge.route ?? ''}`.trimEnd(),
    request_id: request.id,
    merchant_id: merchantId,
    ...(callerId === undefined ? {} : { key_id: callerId }),
    ...(request.edge.portalSessionId === null ? {} : { portal_session_id: request.edge.portalSessionId }),
    ...(parent === undefined ? {} : { traceparent: parent }),
  };
}

/** Returns the query string as it was sent, including its question mark. */
export function rawQuery({ raw: { url = '' } }: Pick<FastifyRequest, 'raw'>): string {
  const start = url.indexOf('?');
  return start === -1 ? '' : url.slice(start);
}

/** Returns the path as it was sent, percent-encoded, without scheme, host and query string. */
export function rawPath(request: Pick<FastifyRequest, 'raw'>): string {
  const { url = '/' } = request.raw;
  const path = url.slice(0, url.length - rawQuery(request).length);
  if (path.charCodeAt(0) === 0x2f) return path;
  const absolute = /^[a-z][a-z0-9+.-]*:\/\/[^/]*(\/.*)?$/i.exec(path);
  return absolute === null ? path : (absolute[1] ?? '/');
}

export function rawTarget(request: Pick<FastifyRequest, 'raw'>): string {
  return rawPath(request) + rawQuery(request);
}

/** Checks that the query is UTF-8, because parsers would replace other bytes without an error. */
export function isQueryUtf8(request: FastifyRequest): boolean {
  try {
    decodeURIComponent(rawQuery(request));
    return true;
  } catch {
    return false;
  }
}
