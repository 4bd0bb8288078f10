import { CommandBus } from '@nestjs/cqrs';
import { DomainError } from '../../../kernel/domain-error.js';
import { deriveId } from '../../../kernel/ids.js';
import type { IdempotencyTicket } from '../../../platform/idempotency/ticket.js';
import { defineOperation } from '../../../platform/operations/operation-definition.js';
import { SubscriptionProgress } from '../../../platform/projections/subscription-progress.js';
import { StoredDeliveries } from '../store/stored-deliveries.js';
import { DELIVERIES_SAGA } from './deliveries-saga.js';
import { ResendWebhookDelivery } from './delivery-commands.js';

/** What operators may do to deliveries (admin-api.md 4), of any merchant. They have no revision. */
export const DELIVERY_OPERATIONS = [
  defineOperation({
    name: 'deliveries.resend',
    scope: 'webhooks:write',
    subject: 'delivery',
    streams: () => [],
    execute: async ({ id, subjectId }, get) => {
      const delivery = await get(StoredDeliveries).find(null, subjectId);
      if (delivery === null) throw DomainError.notFound('Delivery');
      const { merchantId } = delivery;
      const metadata = { actor: 'operator', merchant_id: merchantId };
      const caller = { merchantId, metadata, ticket: ticketOf(id) };
      const { position } = await get(CommandBus).execute(new ResendWebhookDelivery(caller, subjectId));
      await get(SubscriptionProgress).waitFor(DELIVERIES_SAGA, position);
    },
  }),
];

/** Ids follow from the operation, so that one that is executed again after a crash requests nothing new. */
function ticketOf(operationId: string): IdempotencyTicket {
  return {
    id: (purpose, use = 0) => deriveId(operationId, purpose, ...(use === 0 ? [] : [String(use)])),
    response: () => undefined,
  };
}
