import { Inject } from '@nestjs/common';
import { Command, type ICommandHandler } from '@nestjs/cqrs';
import { CommandHandler } from '../../../platform/commands.js';
import { COMMAND_LOOP, type CommandLoop } from '../../../platform/event-store/command-loop.js';
import { CLOCK, timestamp, type Clock } from '../../../kernel/clock.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { underKey } from '../../../platform/idempotency/ticket.js';
import { webhookEndpoints } from '../domain/webhook-endpoints.js';
import { requestResend, webhookResend } from '../domain/webhook-requests.js';
import { DeliveriesView, type FoundDelivery } from '../views/deliveries.js';
import type { WebhookDelivery } from '../views/delivery-json.js';
import { decideFor, type Responded, type Caller } from './caller.js';

/**
 * Asks for one more round of a delivery, under the same `webhook-id`. Throws `not_found` for an unknown delivery and a
 * deleted endpoint, `invalid_transition` for a disabled one.
 */
export class ResendWebhookDelivery extends Command<Responded> {
  constructor(
    readonly caller: Caller,
    readonly deliveryId: string,
  ) {
    super();
  }
}

@CommandHandler(ResendWebhookDelivery)
export class ResendWebhookDeliveryHandler implements ICommandHandler<ResendWebhookDelivery> {
  constructor(
    @Inject(COMMAND_LOOP) private readonly loop: CommandLoop,
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly deliveries: DeliveriesView,
  ) {}

  execute({ caller, deliveryId }: ResendWebhookDelivery): Promise<Responded> {
    const { merchantId: merchant_id } = caller;
    return underKey(caller.ticket, 'webhook_resend', async (resend_id) => {
      const [delivery, { state: endpoints }] = await Promise.all([
        this.deliveries.find(merchant_id, deliveryId),
        this.loop.load(webhookEndpoints, merchant_id),
      ]);
      if (!delivery) throw DomainError.notFound('Webhook delivery');
      const command = {
        ...{
          resend_id,
          delivery_id: deliveryId,
          endpoint_id: delivery.json.webhook_endpoint_id,
          merchant_id,
        },
        ...{ is_test: delivery.isTest, requested_at: timestamp(this.clock) },
      };
      const stream = [webhookResend, resend_id] as const;
      return decideFor(caller, this.loop, stream, (state) => requestResend(command, endpoints, state), {
        status: 202,
        body: (state) => JSON.stringify({ webhook_delivery: resent(delivery, state!.requested_at) }),
      });
    });
  }
}

/** The delivery as the request makes it: due at once, unless an attempt is under way already. */
function resent({ json, underWay }: FoundDelivery, requestedAt: string): WebhookDelivery {
  return underWay ? json : { ...json, status: 'pending', next_attempt_at: requestedAt, finished_at: null };
}
