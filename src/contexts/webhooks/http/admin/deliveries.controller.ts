import { Get, Post } from '@nestjs/common';
import { DomainError } from '../../../../kernel/domain-error.js';
import {
  AdminController,
  listed,
  WriteBy,
  type AdminWrite,
} from '../../../../platform/http/admin/admin-controller.js';
import { PortalRoute } from '../../../../platform/http/admin/portal-controller.js';
import { WriteBody, writeOf, written } from '../../../../platform/http/admin/writes.js';
import { ListQuery, UuidParam, ValidBody } from '../../../../platform/http/decorators.js';
import { Disclosure, Reach, Reads } from '../../../../platform/http/reads.js';
import { Reply } from '../../../../platform/http/reply.js';
import { ApiRoute } from '../../../../platform/openapi/route.js';
import { ResendDelivery } from '../../application/delivery-commands.js';
import { Operations } from '../../../../platform/operations/operations.js';
import { DELIVERIES_SAGA } from '../../application/deliveries-saga.js';
import { DeliveriesList, type AdminDeliveriesPage } from '../../views/deliveries-list.js';
import { DeliveriesView } from '../../views/deliveries.js';
import {
  AdminDeliveriesQuery,
  AdminDeliveriesResponse,
  AdminDeliveryResponse,
  AdminDeliveryWritten,
} from './webhook-dto.js';

const TAG = 'Admin: webhooks';
const DELIVERY = 'Delivery';
const NO_DELIVERY = 'There is no such delivery, or the key is confined to other merchants.';

const PORTAL = 'deliveries:read';

/** Deliveries of all merchants (admin-api.md 3), and in the portal of one. Each read of an operator is recorded for the merchant's portal. */
@AdminController('deliveries')
export class AdminDeliveriesController {
  constructor(
    private readonly list: DeliveriesList,
    private readonly deliveries: DeliveriesView,
    private readonly operations: Operations,
  ) {}

  @Get()
  @PortalRoute('deliveries', PORTAL)
  @ApiRoute({
    id: 'adminListDeliveries',
    tag: TAG,
    summary: 'List deliveries, newest first',
    description:
      'A page may hold fewer deliveries than page_size, or none, where a filter matches few of many: continue until next_cursor is null.',
    scopes: ['webhooks:read'],
    responses: listed(AdminDeliveriesResponse, {
      404: 'The key is confined to other merchants than that of merchant_id.',
    }),
  })
  @Reads({ view: DELIVERIES_SAGA, mayBeLate: true, lookup: 'deliveries' })
  page(
    @Reach() merchantIds: readonly string[] | null,
    @ListQuery() query: AdminDeliveriesQuery,
  ): Promise<AdminDeliveriesPage> {
    return this.list.page({
      merchantIds,
      endpointId: query.endpoint_id,
      status: query.status,
      type: query.type,
      from: query.from?.at,
      until: query.to?.end,
      ...query.page,
    });
  }

  @Get(':id')
  @PortalRoute('deliveries/:id', PORTAL)
  @ApiRoute({
    id: 'adminGetDelivery',
    tag: TAG,
    summary: 'Get a delivery with its attempts',
    scopes: ['webhooks:read'],
    responses: { 200: [AdminDeliveryResponse, 'The delivery.'], 404: NO_DELIVERY },
  })
  @Reads({ view: DELIVERIES_SAGA, mayBeLate: true, lookup: 'delivery' })
  async get(@UuidParam('id', DELIVERY) id: string): Promise<Disclosure<Reply>> {
    const found = await this.deliveries.detail(null, id);
    if (found === null) throw DomainError.notFound(DELIVERY);
    const { merchantId, text, revision } = found;
    return new Disclosure([merchantId], () => new Reply(200, `{"delivery":${text}}`), revision);
  }

  @Post(':id/resend')
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
    const found = await this.deliveries.find(id);
    if (found === null) throw DomainError.notFound(DELIVERY);
    const request = { ...writeOf(write, body), merchantId: found.merchant_id };
    const outcome = await this.operations.request(new ResendDelivery(id), request);
    return written(outcome, 200, async () => ({ delivery: await this.deliveries.find(id) }));
  }
}
