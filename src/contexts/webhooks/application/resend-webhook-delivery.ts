import { Inject } from '@nestjs/common';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { COMMAND_LOOP, type CommandLoop } from '../../../platform/event-store/command-loop.js';
import { CLOCK, timestamp, type Clock } from '../../../kernel/clock.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { Database } from '../../../platform/postgres/database.js';
import { underKey } from '../../../platform/idempotency/ticket.js';
import type { DeliveryJson } from '../domain/delivery-json.js';
import { webhookEndpoints } from '../domain/webhook-endpoints.js';
import { requestResend, webhookResend, type WebhookResend } from '../domain/webhook-resend.js';
import { findDelivery, type FoundDelivery } from '../views/find-delivery.js';
import type { Answered, Caller } from './caller.js';

/**
 * Asks for one more round of a delivery, under the same `webhook-id`. Throws `not_found` for an unknown delivery and a
 * deleted endpoint, `invalid_transition` for a disabled one.
 */
export class ResendWebhookDelivery extends Command<Answered> {
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
    private readonly database: Database,
  ) {}

  async execute({ caller, deliveryId }: ResendWebhookDelivery): Promise<Answered> {
    return underKey(caller.ticket, 'webhook_resend', (id) => this.request(caller, deliveryId, id));
  }

  private async request(caller: Caller, deliveryId: string, resendId: string): Promise<Answered> {
    const { merchantId, metadata, ticket } = caller;
    const [delivery, { state: endpoints }] = await Promise.all([
      findDelivery(this.database, merchantId, deliveryId),
      this.loop.load(webhookEndpoints, merchantId),
    ]);
    if (!delivery) throw DomainError.notFound('Webhook delivery');
    const command = {
      resend_id: resendId,
      delivery_id: deliveryId,
      endpoint_id: delivery.json.webhook_endpoint_id,
      merchant_id: merchantId,
      is_test: delivery.isTest,
      requested_at: timestamp(this.clock),
    };
    const bodyOf = (resend: WebhookResend): string =>
      JSON.stringify({ webhook_delivery: resent(delivery, resend!.requested_at) });
    const { state, position } = await this.loop.execute(
      webhookResend,
      command.resend_id,
      (before) => requestResend(command, endpoints, before),
      { metadata, response: (after) => ticket.response(202, bodyOf(after)) },
    );
    return { body: bodyOf(state), position };
  }
}

/** The delivery as the request makes it: due at once, unless an attempt is under way already. */
function resent({ json, underWay }: FoundDelivery, requestedAt: string): DeliveryJson {
  return underWay ? json : { ...json, status: 'pending', next_attempt_at: requestedAt, finished_at: null };
}
