import { Controller, Get, Inject, Post } from '@nestjs/common';
import { CLOCK, type Clock } from '../../../kernel/clock.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { PortalRoute } from '../../../platform/http/admin/portal.guard.js';
import {
  ListQuery,
  MerchantId,
  UuidParam,
  ValidBody,
  ValidQuery,
} from '../../../platform/http/decorators.js';
import { UpToDate } from '../../../platform/http/reads.js';
import { Reply } from '../../../platform/http/reply.js';
import { ApiRoute } from '../../../platform/openapi/route.js';
import { DELIVERIES_SAGA } from './deliveries.saga.js';
import { RecoverWebhookEndpoint, ResendWebhookDelivery } from './deliveries.commands.js';
import type { MerchantCaller } from '../endpoints/endpoints.commands.js';
import { DeliveriesView } from './deliveries.view.js';
import { toMerchantJson } from './delivery-page.view.js';
import { EndpointsView } from '../endpoints/endpoints.view.js';
import { COUNTED, RecentStats } from '../endpoints/endpoint-stats.view.js';
import {
  DeliveriesQuery,
  WebhookDeliveriesResponse,
  RecoveryRequest,
  StatsQuery,
  statsSince,
  WebhookDeliveryDetailResponse,
  WebhookDeliveryResponse,
  WebhookEndpointStatsResponse,
  WebhookRecoveryResponse,
} from './deliveries.dto.js';
import { CallingMerchant, WriteResponses } from '../endpoints/endpoints.controller.js';

const ENDPOINT = 'Webhook endpoint';
const DELIVERY = 'Webhook delivery';

const TAG = 'Webhook deliveries';
const EXTENSION = 'An extension of the specification.';
const MALFORMED = 'The JSON or the Idempotency-Key is malformed.';
const NO_ENDPOINT = 'The merchant has no such webhook endpoint.';
const DISABLED = 'The endpoint is disabled, or the first request with this Idempotency-Key is in progress.';

/** The routes of a merchant's deliveries (contract.md 16). */
@Controller('merchants/v1')
export class WebhookDeliveriesController {
  constructor(
    private readonly deliveries: DeliveriesView,
    private readonly writes: WriteResponses,
    private readonly endpoints: EndpointsView,
    private readonly recentStats: RecentStats,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  @Get('webhook_endpoints/:id/deliveries')
  @ApiRoute({
    id: 'listWebhookDeliveries',
    tag: TAG,
    summary: 'List deliveries to an endpoint, newest first',
    description: `${EXTENSION} A page may hold fewer deliveries than page_size, or none, where a filter matches few of many: continue until next_cursor is null.`,
    responses: {
      200: [WebhookDeliveriesResponse, 'One page. The list is exhausted when next_cursor is null.'],
      400: 'A filter, page_size or page_cursor is invalid; detail names it.',
      404: NO_ENDPOINT,
    },
  })
  @UpToDate(DELIVERIES_SAGA)
  async list(
    @MerchantId() merchantId: string,
    @UuidParam('id', ENDPOINT) id: string,
    @ListQuery() query: DeliveriesQuery,
  ): Promise<WebhookDeliveriesResponse> {
    await this.endpoints.get(merchantId, id);
    const page = await this.deliveries.list([merchantId], { ...query, endpoint_id: id });
    return { webhook_deliveries: page.deliveries.map(toMerchantJson), next_cursor: page.next_cursor };
  }

  @Get('webhook_endpoints/:id/stats')
  @ApiRoute({
    id: 'getWebhookEndpointStats',
    tag: TAG,
    summary: 'How deliveries to an endpoint went',
    description: `${EXTENSION} Deliveries created since a time, with all their attempts: the newest ${COUNTED} of them. Figures may be five seconds old, and reach as much further back than requested; \`since\` says how far.`,
    responses: {
      200: [WebhookEndpointStatsResponse, 'The figures.'],
      400: 'since is malformed, in the future or too long ago.',
      404: NO_ENDPOINT,
    },
  })
  @UpToDate(DELIVERIES_SAGA)
  async stats(
    @MerchantId() merchantId: string,
    @UuidParam('id', ENDPOINT) id: string,
    @ValidQuery() query: StatsQuery,
  ): Promise<WebhookEndpointStatsResponse> {
    const since = statsSince(query, this.clock.now());
    await this.endpoints.get(merchantId, id);
    return { webhook_endpoint_stats: await this.recentStats.of(id, since) };
  }

  @Get('webhook_deliveries/:id')
  @ApiRoute({
    id: 'getWebhookDelivery',
    tag: TAG,
    summary: 'Get a delivery with its attempts',
    description: EXTENSION,
    responses: {
      200: [WebhookDeliveryDetailResponse, 'The delivery.'],
      404: 'The merchant has no such webhook delivery.',
    },
  })
  @UpToDate(DELIVERIES_SAGA)
  async get(@MerchantId() merchantId: string, @UuidParam('id', DELIVERY) id: string): Promise<Reply> {
    const delivery = await this.deliveries.detail(merchantId, id);
    if (delivery === null) throw DomainError.notFound(DELIVERY);
    return new Reply(200, `{"webhook_delivery":${delivery.text}}`);
  }

  @Post('webhook_deliveries/:id/resend')
  @PortalRoute('deliveries/:id/resend', 'deliveries:write')
  @ApiRoute({
    id: 'resendWebhookDelivery',
    tag: TAG,
    summary: 'Send a delivery again',
    description: `${EXTENSION} It is sent at once under the same \`webhook-id\`, with a fresh timestamp and signature, and the retry schedule begins again. An attempt in flight counts as sent again when it succeeds; when it fails the new round follows at once.`,
    responses: {
      202: [WebhookDeliveryResponse, 'The delivery is on its way.'],
      400: MALFORMED,
      404: 'The merchant has no such webhook delivery, or its endpoint is deleted.',
      409: DISABLED,
    },
  })
  async resend(
    @CallingMerchant() caller: MerchantCaller,
    @UuidParam('id', DELIVERY) id: string,
  ): Promise<Reply> {
    return this.writes.reply(202, new ResendWebhookDelivery(caller, id));
  }

  @Post('webhook_endpoints/:id/recover')
  @PortalRoute('endpoints/:id/recover', 'endpoints:write')
  @ApiRoute({
    id: 'recoverWebhookEndpoint',
    tag: TAG,
    summary: 'Send what an endpoint did not get',
    description: `${EXTENSION} Every delivery created at or after \`since\` that is dropped or exhausted now is sent again in the background, beginning with the oldest, as fast as the receiver takes them; they arrive in no particular order. What fails again is not included again. Test deliveries are left out. It ends early when the endpoint is disabled or deleted.`,
    responses: {
      202: [WebhookRecoveryResponse, 'The recovery is in progress.'],
      400: MALFORMED,
      404: NO_ENDPOINT,
      409: DISABLED,
      422: 'since is missing, malformed or in the future.',
    },
  })
  async recover(
    @CallingMerchant() caller: MerchantCaller,
    @UuidParam('id', ENDPOINT) id: string,
    @ValidBody() { since }: RecoveryRequest,
  ): Promise<Reply> {
    return this.writes.reply(202, new RecoverWebhookEndpoint(caller, { endpoint_id: id, since }));
  }
}
