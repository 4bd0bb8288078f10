import { Controller, Get, Inject, Post, Query } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import type { EventMetadata } from '../../../platform/event-store/port.js';
import { ViewFreshness } from '../../../platform/projections/view-freshness.js';
import { ViewProgress } from '../../../platform/projections/view-progress.js';
import { CLOCK, type Clock } from '../../../kernel/clock.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { parseInstant } from '../../../kernel/instant.js';
import { Database } from '../../../platform/postgres/database.js';
import { Cause, MerchantId, Ticket, UuidParam, ValidBody } from '../../../platform/http/decorators.js';
import type { IdempotencyTicket } from '../../../platform/idempotency/ticket.js';
import type { Query as QueryString } from '../../../platform/http/query.js';
import { Reply } from '../../../platform/http/reply.js';
import type { Answered } from '../application/caller.js';
import { DELIVERIES_SAGA } from '../application/deliveries-saga.js';
import { RecoverWebhookEndpoint } from '../application/recover-webhook-endpoint.js';
import { ResendWebhookDelivery } from '../application/resend-webhook-delivery.js';
import { withJsonText } from '../domain/envelope.js';
import type { EndpointStats } from '../views/endpoint-stats.js';
import { EndpointsView } from '../views/endpoints.js';
import { attemptsOf, findDelivery } from '../views/find-delivery.js';
import { listDeliveries, type DeliveryPage } from '../views/list-deliveries.js';
import { RecentStats } from '../views/recent-stats.js';
import { readDeliveryFilter } from './delivery-filter.js';
import { RecoverWebhookEndpointBody } from './recovery.dto.js';
import { readStatsSince } from './stats-window.js';

const ENDPOINT = 'Webhook endpoint';
const DELIVERY = 'Webhook delivery';

/** What merchants see of their deliveries, and may ask of them (contract.md 16). */
@Controller('merchants/v1')
export class WebhookDeliveriesController {
  constructor(
    private readonly commandBus: CommandBus,
    private readonly database: Database,
    private readonly progress: ViewProgress,
    private readonly freshness: ViewFreshness,
    private readonly endpoints: EndpointsView,
    private readonly recentStats: RecentStats,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  @Get('webhook_endpoints/:id/deliveries')
  async list(
    @MerchantId() merchantId: string,
    @UuidParam('id', ENDPOINT) id: string,
    @Query() query: QueryString,
  ): Promise<DeliveryPage> {
    const filter = readDeliveryFilter(query);
    await this.requireEndpoint(merchantId, id);
    return listDeliveries(this.database, id, filter);
  }

  @Get('webhook_endpoints/:id/stats')
  async stats(
    @MerchantId() merchantId: string,
    @UuidParam('id', ENDPOINT) id: string,
    @Query() query: QueryString,
  ): Promise<{ webhook_endpoint_stats: EndpointStats }> {
    const since = readStatsSince(query, this.clock.now());
    await this.requireEndpoint(merchantId, id);
    return { webhook_endpoint_stats: await this.recentStats.of(id, since) };
  }

  /** The payload is the text that is signed, spliced in: numbers and spaces are the receiver's to see as they are. */
  @Get('webhook_deliveries/:id')
  async get(@MerchantId() merchantId: string, @UuidParam('id', DELIVERY) id: string): Promise<Reply> {
    await this.freshness.require(DELIVERIES_SAGA);
    const [found, attempts] = await Promise.all([
      findDelivery(this.database, merchantId, id),
      attemptsOf(this.database, id),
    ]);
    if (!found) throw DomainError.notFound(DELIVERY);
    const withPayload = withJsonText(found.json, 'payload', found.body);
    const webhook_delivery = `${withPayload.slice(0, -1)},"attempts":${JSON.stringify(attempts)}}`;
    return new Reply(200, `{"webhook_delivery":${webhook_delivery}}`);
  }

  @Post('webhook_deliveries/:id/resend')
  async resend(
    @MerchantId() merchantId: string,
    @UuidParam('id', DELIVERY) id: string,
    @Cause() metadata: EventMetadata,
    @Ticket() ticket: IdempotencyTicket,
  ): Promise<Reply> {
    const caller = { merchantId, metadata, ticket };
    return this.accepted(await this.commandBus.execute(new ResendWebhookDelivery(caller, id)));
  }

  @Post('webhook_endpoints/:id/recover')
  async recover(
    @MerchantId() merchantId: string,
    @UuidParam('id', ENDPOINT) id: string,
    @Cause() metadata: EventMetadata,
    @Ticket() ticket: IdempotencyTicket,
    @ValidBody() body: RecoverWebhookEndpointBody,
  ): Promise<Reply> {
    const caller = { merchantId, metadata, ticket };
    const since = parseInstant(body.since)!;
    return this.accepted(await this.commandBus.execute(new RecoverWebhookEndpoint(caller, id, since)));
  }

  private async requireEndpoint(merchantId: string, id: string): Promise<void> {
    const [owned] = await Promise.all([
      this.endpoints.owns(merchantId, id),
      this.freshness.require(DELIVERIES_SAGA),
    ]);
    if (!owned) throw DomainError.notFound(ENDPOINT);
  }

  /** Answered once the request is in the tables of deliveries and recoveries, so that reads and senders know of it. */
  private async accepted({ body, position }: Answered): Promise<Reply> {
    await this.progress.reached(DELIVERIES_SAGA, position);
    return new Reply(202, body);
  }
}
