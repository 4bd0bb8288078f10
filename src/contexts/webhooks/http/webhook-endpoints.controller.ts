import { setTimeout as sleep } from 'node:timers/promises';
import { Controller, Delete, Get, Patch, Post, Query } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import type { EventMetadata } from '../../../platform/event-store/port.js';
import { ViewProgress } from '../../../platform/projections/view-progress.js';
import { DomainError } from '../../../kernel/domain-error.js';
import {
  Cause,
  MerchantId,
  OptionalBody,
  Ticket,
  UuidParam,
  ValidBody,
} from '../../../platform/http/decorators.js';
import type { IdempotencyTicket } from '../../../platform/idempotency/ticket.js';
import { requireKnown, type Query as QueryString } from '../../../platform/http/query.js';
import { Reply } from '../../../platform/http/reply.js';
import type { Answered } from '../application/caller.js';
import { DeleteWebhookEndpoint } from '../application/delete-webhook-endpoint.js';
import { DELIVERIES_SAGA } from '../application/deliveries-saga.js';
import { RegisterWebhookEndpoint } from '../application/register-webhook-endpoint.js';
import { RequestTestDelivery } from '../application/request-test-delivery.js';
import { RotateSigningSecret } from '../application/rotate-signing-secret.js';
import { UpdateWebhookEndpoint } from '../application/update-webhook-endpoint.js';
import type { EndpointJson } from '../domain/endpoint-json.js';
import { FRESH_MS } from '../store/destinations.js';
import { EndpointsView } from '../views/endpoints.js';
import {
  OVERLAP_LIMIT_SECONDS,
  RegisterWebhookEndpointBody,
  RotateSecretBody,
  UpdateWebhookEndpointBody,
} from './webhook-endpoint.dto.js';

const WHAT = 'Webhook endpoint';
/** A timer of Node may fire so much before its time. */
const TIMER_EARLY_MS = 2;

/** contract.md 12. Writes are answered once reads show them and deliveries follow them. */
@Controller('merchants/v1/webhook_endpoints')
export class WebhookEndpointsController {
  constructor(
    private readonly commandBus: CommandBus,
    private readonly view: EndpointsView,
    private readonly progress: ViewProgress,
  ) {}

  @Post()
  async register(
    @MerchantId() merchantId: string,
    @Cause() metadata: EventMetadata,
    @Ticket() ticket: IdempotencyTicket,
    @ValidBody() body: RegisterWebhookEndpointBody,
  ): Promise<Reply> {
    const { url, description = null, event_types = null } = body.webhook_endpoint;
    const caller = { merchantId, metadata, ticket };
    return this.answer(
      201,
      await this.commandBus.execute(new RegisterWebhookEndpoint(caller, { url, description, event_types })),
    );
  }

  @Get()
  async list(
    @MerchantId() merchantId: string,
    @Query() query: QueryString,
  ): Promise<{ webhook_endpoints: EndpointJson[] }> {
    requireKnown(query, []);
    return { webhook_endpoints: await this.view.list(merchantId) };
  }

  @Get(':id')
  async get(
    @MerchantId() merchantId: string,
    @UuidParam('id', WHAT) id: string,
  ): Promise<{ webhook_endpoint: EndpointJson }> {
    const found = await this.view.find(merchantId, id);
    if (!found) throw DomainError.notFound(WHAT);
    return { webhook_endpoint: found };
  }

  @Patch(':id')
  async update(
    @MerchantId() merchantId: string,
    @UuidParam('id', WHAT) id: string,
    @Cause() metadata: EventMetadata,
    @Ticket() ticket: IdempotencyTicket,
    @ValidBody() body: UpdateWebhookEndpointBody,
  ): Promise<Reply> {
    const caller = { merchantId, metadata, ticket };
    return this.answerChange(
      200,
      await this.commandBus.execute(new UpdateWebhookEndpoint(caller, id, body.webhook_endpoint)),
    );
  }

  @Delete(':id')
  async remove(
    @MerchantId() merchantId: string,
    @UuidParam('id', WHAT) id: string,
    @Cause() metadata: EventMetadata,
    @Ticket() ticket: IdempotencyTicket,
  ): Promise<Reply> {
    const caller = { merchantId, metadata, ticket };
    return this.answerChange(204, await this.commandBus.execute(new DeleteWebhookEndpoint(caller, id)));
  }

  @Post(':id/test_delivery')
  async test(
    @MerchantId() merchantId: string,
    @UuidParam('id', WHAT) id: string,
    @Cause() metadata: EventMetadata,
    @Ticket() ticket: IdempotencyTicket,
  ): Promise<Reply> {
    const caller = { merchantId, metadata, ticket };
    const { body } = await this.commandBus.execute(new RequestTestDelivery(caller, id));
    return new Reply(202, body);
  }

  @Post(':id/rotate_secret')
  async rotate(
    @MerchantId() merchantId: string,
    @UuidParam('id', WHAT) id: string,
    @Cause() metadata: EventMetadata,
    @Ticket() ticket: IdempotencyTicket,
    @OptionalBody() { overlap_seconds = OVERLAP_LIMIT_SECONDS }: RotateSecretBody,
  ): Promise<Reply> {
    const caller = { merchantId, metadata, ticket };
    return this.answerChange(
      200,
      await this.commandBus.execute(new RotateSigningSecret(caller, id, overlap_seconds)),
    );
  }

  /** After it no attempt begins by what was before: what a sender saw of an endpoint may be FRESH_MS old. */
  private async answerChange(status: number, answered: Answered): Promise<Reply> {
    const reply = await this.answer(status, answered);
    if (answered.position !== null) await sleep(FRESH_MS + TIMER_EARLY_MS);
    return reply;
  }

  private async answer(status: number, { body, position }: Answered): Promise<Reply> {
    await this.progress.reached(DELIVERIES_SAGA, position);
    return new Reply(status, body);
  }
}
