import { Injectable } from '@nestjs/common';
import { Database } from '../../../platform/postgres/database.js';
import { deliveryJson, type AdminDeliveryJson } from '../store/stored-deliveries.js';
import { deliveryPage, type DeliveryFilter } from './delivery-page.js';

export interface DeliveriesFilter extends Omit<DeliveryFilter, 'merchantIds'> {
  /** Null: of every merchant. */
  readonly merchantIds: readonly string[] | null;
  readonly endpointId?: string | undefined;
}

export interface AdminDeliveriesPage {
  readonly deliveries: readonly AdminDeliveryJson[];
  readonly next_cursor: string | null;
}

/** Endpoints whose deliveries one page merges. Who has deleted more of them has pages that hold less. */
const MAX_LANES = 1000;

/** Which deliveries were created? For operators, of all merchants; for the portal, of one. */
@Injectable()
export class DeliveriesList {
  constructor(private readonly database: Database) {}

  /** Newest first. A page may hold fewer deliveries than its size, or none, and continue all the same. */
  async page({ merchantIds, endpointId, ...filter }: DeliveriesFilter): Promise<AdminDeliveriesPage> {
    const endpoints = await this.endpointsOf(merchantIds, endpointId);
    const { rows, next_cursor } =
      endpoints !== null && endpoints.length > MAX_LANES
        ? await deliveryPage(this.database, null, { ...filter, merchantIds: merchantIds ?? undefined })
        : await deliveryPage(this.database, endpoints, filter);
    const deliveries = rows.map((row) => ({ ...deliveryJson(row), merchant_id: row.merchant_id }));
    return { deliveries, next_cursor };
  }

  /** The endpoints of these merchants, deleted ones too, of which the list is; null: all. One more than a page merges, at most. */
  private async endpointsOf(
    merchantIds: readonly string[] | null,
    endpointId: string | undefined,
  ): Promise<readonly string[] | null> {
    if (merchantIds === null) return endpointId === undefined ? null : [endpointId];
    const rows = await this.database.query<{ endpoint_id: string }>(
      endpointId === undefined
        ? `(select endpoint_id from webhooks.endpoint_snapshots where merchant_id = any($1::uuid[]) and status <> 'deleted')
           union all
           (select endpoint_id from webhooks.endpoint_snapshots where merchant_id = any($1::uuid[]) and status = 'deleted'
            limit ${MAX_LANES + 1})`
        : `select endpoint_id from webhooks.endpoint_snapshots where merchant_id = any($1::uuid[]) and endpoint_id = $2`,
      endpointId === undefined ? [merchantIds] : [merchantIds, endpointId],
    );
    return rows.map(({ endpoint_id }) => endpoint_id);
  }
}
