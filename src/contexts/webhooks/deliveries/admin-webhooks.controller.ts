import { Get, Post } from '@nestjs/common';
import { DomainError } from '../../../kernel/domain-error.js';
import {
  AdminController,
  listed,
  WriteBy,
  type AdminWrite,
} from '../../../platform/http/admin/admin.guard.js';
import { PortalRoute } from '../../../platform/http/admin/portal.guard.js';
import { WriteBody, toWrite, written } from '../../../platform/http/admin/writes.js';
import { ListQuery, UuidParam, ValidBody } from '../../../platform/http/decorators.js';
import { Disclosure, Reach, Reads } from '../../../platform/http/reads.js';
import { Reply } from '../../../platform/http/reply.js';
import { ApiRoute } from '../../../platform/openapi/route.js';
import { ResendDelivery } from './deliveries.commands.js';
import { Operations } from '../../../platform/operations/operations.js';
import { DELIVERIES_SAGA } from './deliveries.saga.js';
import { DeliveriesView } from './deliveries.view.js';
import type { DeliveriesPage } from './delivery-page.view.js';
import { EndpointsView } from '../endpoints/endpoints.view.js';
import {
  AdminDeliveriesQuery,
  AdminDeliveriesResponse,
  AdminDeliveryResponse,
  AdminDeliveryWritten,
  AdminEndpointsResponse,
  EndpointsQuery,
} from './admin-deliveries.dto.js';

const TAG = 'Admin: webhooks';
const DELIVERY = 'Delivery';
const NO_DELIVERY = 'There is no such delivery, or the key is confined to other merchants.';

const UP_TO_DATE = { view: DELIVERIES_SAGA, mayBeLate: true } as const;
const PORTAL = 'deliveries:read';

const CONFINED = {
  404: 'The key is confined to other merchants than that of merchant_id.',
} as const;

/** The webhook routes of operators and the portal (admin-api.md 3). The portal lists reads by operators. */
@AdminController()
export class AdminWebhooksController {
  constructor(
    private readonly endpoints: EndpointsView,
    private readonly deliveries: DeliveriesView,
    private readonly operations: Operations,
  ) {}

  @Get('webhook_endpoints')
  @ApiRoute({
    id: 'adminListWebhookEndpoints',
    tag: TAG,
    summary: 'List webhook endpoints, newest first',
    scopes: ['webhooks:read'],
    responses: listed(AdminEndpointsResponse, CONFINED),
  })
  @Reads({ ...UP_TO_DATE, lookup: 'webhook endpoints' })
  pageOfEndpoints(
    @Reach() merchants: readonly string[] | null,
    @ListQuery() query: EndpointsQuery,
  ): Promise<AdminEndpointsResponse> {
    return this.endpoints.page(merchants, query);
  }

  @Get('deliveries')
  @PortalRoute('deliveries', PORTAL)
  @ApiRoute({
    id: 'adminListDeliveries',
    tag: TAG,
    summary: 'List deliveries, newest first',
    description:
      'A page may hold fewer deliveries than page_size, or none, where a filter matches few of many: continue until next_cursor is null.',
    scopes: ['webhooks:read'],
    responses: listed(AdminDeliveriesResponse, CONFINED),
  })
  @Reads({ ...UP_TO_DATE, lookup: 'deliveries' })
  page(
    @Reach() merchants: readonly string[] | null,
    @ListQuery() query: AdminDeliveriesQuery,
  ): Promise<DeliveriesPage> {
    return this.deliveries.list(merchants, query);
  }

  @Get('deliveries/:id')
  @PortalRoute('deliveries/:id', PORTAL)
  @ApiRoute({
    id: 'adminGetDelivery',
    tag: TAG,
    summary: 'Get a delivery with its attempts',
    scopes: ['webhooks:read'],
    responses: { 200: [AdminDeliveryResponse, 'The delivery.'], 404: NO_DELIVERY },
  })
  @Reads({ ...UP_TO_DATE, lookup: 'delivery' })
  async get(@UuidParam('id', DELIVERY) id: string): Promise<Disclosure<Reply>> {
    const found = await this.deliveries.detail(null, id);
    if (found === null) throw DomainError.notFound(DELIVERY);
    const { merchantId, text, revision } = found;
    return new Disclosure([merchantId], () => new Reply(200, `{"delivery":${text}}`), revision);
  }

  @Post('deliveries/:id/resend')
  @ApiRoute({
    id: 'adminResendDelivery',
    tag: TAG,
    summary: 'Send a delivery again',
    description:
      'It is sent at once under the same `webhook-id`, with a fresh timestamp and signature, and its retry schedule restarts.',
    scopes: ['webhooks:write'],
    responses: {
      200: [AdminDeliveryWritten, 'The delivery is due now.'],
      404: NO_DELIVERY,
      409: 'The endpoint is disabled, or a request with this Idempotency-Key is in flight.',
      422: 'reason or ticket is invalid.',
    },
  })
  async resend(
    @WriteBy() write: AdminWrite,
    @UuidParam('id', DELIVERY) id: string,
    @ValidBody() body: WriteBody,
  ): Promise<Reply> {
    const found = await this.deliveries.find(null, id);
    if (found === null) throw DomainError.notFound(DELIVERY);
    const request = toWrite(write, body, found.json.merchant_id);
    const outcome = await this.operations.request(new ResendDelivery(id), request);
    return written(outcome, 200, async () => ({
      delivery: (await this.deliveries.find(null, id))?.json ?? null,
    }));
  }
}
