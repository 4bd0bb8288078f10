import { Inject } from '@nestjs/common';
import { CommandBus, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { CLOCK, timestamp, type Clock } from '../../../kernel/clock.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { CommandLoop } from '../../../platform/event-store/command-loop.js';
import { IdempotencyTicket } from '../../../platform/idempotency/ticket.js';
import { withJsonText } from '../../../platform/json-text/json-text.js';
import { Operation, OperatorCommand, type OperationHandler } from '../../../platform/operations/operation.js';
import { SubscriptionProgress } from '../../../platform/projections/subscription-progress.js';
import { DELIVERIES_SAGA } from './deliveries.saga.js';
import { testEvent } from './published-events.service.js';
import { webhookEndpoints } from '../endpoints/webhook-endpoints.js';
import { TEST_MESSAGE, webhookRecovery, webhookResend, webhookTest } from '../recoveries/webhook-requests.js';
import { DeliveriesView } from './deliveries.view.js';
import { toMerchantJson } from './delivery-page.view.js';
import { MerchantCommand, respondWith, type Responded } from '../endpoints/endpoints.commands.js';

/** Requests a test delivery to an enabled or disabled endpoint. Throws `not_found`. */
export class RequestTestDelivery extends MerchantCommand<string> {}

@CommandHandler(RequestTestDelivery)
export class RequestTestDeliveryHandler implements ICommandHandler<RequestTestDelivery> {
  constructor(
    private readonly loop: CommandLoop,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute({ caller, input: endpoint_id }: RequestTestDelivery): Promise<Responded> {
    const { merchantId: merchant_id } = caller;
    const delivery_id = caller.ticket.id('webhook_test');
    const { state: endpoints } = await this.loop.load(webhookEndpoints, merchant_id);
    const place = { delivery_id, endpoint_id, merchant_id };
    const command = { ...place, message: TEST_MESSAGE, occurred_at: timestamp(this.clock) };
    return this.loop.execute(
      webhookTest,
      delivery_id,
      (state) => webhookTest.request(command, endpoints, state),
      respondWith(caller, 202, (state) => {
        const { type, occurredAt: occurred_at, data } = testEvent(state!);
        const delivery = withJsonText({ id: delivery_id, type, occurred_at }, 'data', data);
        return `{"webhook_delivery":${delivery}}`;
      }),
    );
  }
}

/** Requests a resend of a delivery. Throws `not_found`, or `invalid_transition` for a disabled endpoint. */
export class ResendWebhookDelivery extends MerchantCommand<string> {}

@CommandHandler(ResendWebhookDelivery)
export class ResendWebhookDeliveryHandler implements ICommandHandler<ResendWebhookDelivery> {
  constructor(
    private readonly loop: CommandLoop,
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly deliveries: DeliveriesView,
  ) {}

  async execute({ caller, input: delivery_id }: ResendWebhookDelivery): Promise<Responded> {
    const { merchantId: merchant_id } = caller;
    const resend_id = caller.ticket.id('webhook_resend');
    const [delivery, { state: endpoints }] = await Promise.all([
      this.deliveries.find(merchant_id, delivery_id),
      this.loop.load(webhookEndpoints, merchant_id),
    ]);
    if (!delivery) throw DomainError.notFound('Webhook delivery');
    const { json, is_test, in_flight } = delivery;
    const place = { resend_id, delivery_id, endpoint_id: json.webhook_endpoint_id, merchant_id };
    const command = { ...place, is_test, requested_at: timestamp(this.clock) };
    return this.loop.execute(
      webhookResend,
      resend_id,
      (state) => webhookResend.request(command, endpoints, state),
      respondWith(caller, 202, (state) => {
        // The response is the delivery as requested: due at once, unless an attempt is in flight.
        const due = { status: 'pending', next_attempt_at: state!.requested_at, finished_at: null };
        return JSON.stringify({ webhook_delivery: { ...toMerchantJson(json), ...(!in_flight && due) } });
      }),
    );
  }
}

/** Resends a delivery of any merchant for an operator (admin-api.md 4). A delivery has no event stream. */
@Operation({ name: 'deliveries.resend', scope: 'webhooks:write', subject: 'delivery', streams: () => [] })
export class ResendDelivery extends OperatorCommand {}

@CommandHandler(ResendDelivery)
export class ResendDeliveryHandler implements OperationHandler<ResendDelivery> {
  constructor(
    private readonly deliveries: DeliveriesView,
    private readonly bus: CommandBus,
    private readonly progress: SubscriptionProgress,
  ) {}

  async execute({ subjectId, operation }: ResendDelivery): Promise<void> {
    const delivery = await this.deliveries.find(null, subjectId);
    if (delivery === null) throw DomainError.notFound('Delivery');
    const { merchant_id: merchantId } = delivery.json;
    const metadata = { actor: 'operator', merchant_id: merchantId };
    // An operation that is executed again after a crash finds the event of its ticket.
    const caller = { merchantId, metadata, ticket: new IdempotencyTicket(operation!.id) };
    const { position } = await this.bus.execute(new ResendWebhookDelivery(caller, subjectId));
    await this.progress.waitFor(DELIVERIES_SAGA, position);
  }
}

/**
 * Requests a resend of all exhausted and dropped deliveries created at `since` or later. Throws `not_found`,
 * `validation_failed` for a time in the future, or `invalid_transition` for a disabled endpoint.
 */
export class RecoverWebhookEndpoint extends MerchantCommand<{
  readonly endpoint_id: string;
  readonly since: Date;
}> {}

@CommandHandler(RecoverWebhookEndpoint)
export class RecoverWebhookEndpointHandler implements ICommandHandler<RecoverWebhookEndpoint> {
  constructor(
    private readonly loop: CommandLoop,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute({ caller, input }: RecoverWebhookEndpoint): Promise<Responded> {
    const { merchantId: merchant_id } = caller;
    const recovery_id = caller.ticket.id('webhook_recovery');
    const { state: endpoints } = await this.loop.load(webhookEndpoints, merchant_id);
    const place = { recovery_id, endpoint_id: input.endpoint_id, merchant_id };
    const command = { ...place, since: input.since.toISOString(), requested_at: timestamp(this.clock) };
    return this.loop.execute(
      webhookRecovery,
      recovery_id,
      (state) => webhookRecovery.request(command, endpoints, state),
      respondWith(caller, 202, (state) => {
        const { endpoint_id: webhook_endpoint_id, since, requested_at } = state!;
        const recovery = { id: recovery_id, webhook_endpoint_id, since, requested_at };
        return JSON.stringify({ webhook_recovery: recovery });
      }),
    );
  }
}
