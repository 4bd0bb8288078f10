import { Body, createParamDecorator, Param, type ExecutionContext } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import type { FastifyRequest } from 'fastify';
import type { EventMetadata } from '../event-store/port.js';
import { DomainError } from '../../kernel/domain-error.js';
import { isUuid } from '../../kernel/ids.js';
import { traceparent } from '../telemetry/tracing.js';
import { bodyValidation } from './validation.js';
import { RequestTicket, type IdempotencyTicket } from '../idempotency/ticket.js';

function requestOf(context: ExecutionContext): FastifyRequest {
  return context.switchToHttp().getRequest<FastifyRequest>();
}

function merchantOf(request: FastifyRequest): string {
  const { merchant } = request.edge;
  if (merchant === null) throw new Error('the route is under no API');
  return merchant.merchantId;
}

/** The id of the merchant who signed the request. */
export const MerchantId = createParamDecorator((_: unknown, context: ExecutionContext): string =>
  merchantOf(requestOf(context)),
);

/** The request's {@link IdempotencyTicket}; one without a key when there was no Idempotency-Key. */
export const Ticket = createParamDecorator((_: unknown, context: ExecutionContext): IdempotencyTicket => {
  const request = requestOf(context);
  request.edge.ticket ??= new RequestTicket(merchantOf(request), null, '');
  return request.edge.ticket;
});

/** Who and what caused the events of this request: the `metadata` of `CommandLoop.execute`. */
export const Cause = createParamDecorator((_: unknown, context: ExecutionContext): EventMetadata => {
  const request = requestOf(context);
  const parent = traceparent();
  return {
    request_id: request.id,
    merchant_id: merchantOf(request),
    ...(parent === undefined ? {} : { traceparent: parent }),
  };
});

/**
 * Marks a write whose handler hands `ticket.response(...)` to `CommandLoop.execute` on every way to success. On a store
 * that carries responses the commit itself then finds out that the key was answered before. Without this mark the edge
 * looks the key up before the handler runs, which is always right and costs one query.
 */
export const ResponseTravels = (): MethodDecorator => RouteConfig({ responseTravels: true });

/** Marks a route that parses its own body: `@Body()` is the Buffer that was signed, undefined when there was none. */
export const BodyAsBytes = (): MethodDecorator => RouteConfig({ bodyAsBytes: true });

/** The body as an instance of its DTO, checked by class-validator; 422 with `errors` by leaf field otherwise. */
export const ValidBody = (): ParameterDecorator => Body(bodyValidation);

/** As {@link ValidBody}, for a request whose body may be left out: then it is checked as an empty object. */
export const OptionalBody = (): ParameterDecorator =>
  Body({ transform: (value: unknown) => (value === undefined ? {} : value) }, bodyValidation);

/** A path id. One that is no uuid names nothing: 404 (contract.md 3.4). */
export const UuidParam = (name = 'id', what = 'Resource'): ParameterDecorator =>
  Param(name, {
    transform(value: unknown): string {
      if (!isUuid(value)) throw DomainError.notFound(what);
      return value.toLowerCase();
    },
  });
