import { Inject } from '@nestjs/common';
import { Command, CommandBus, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { CLOCK, timestamp, type Clock } from '../../../kernel/clock.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { CommandLoop } from '../../../platform/event-store/command-loop.js';
import { IdempotencyTicket } from '../../../platform/idempotency/ticket.js';
import { withJsonText } from '../../../platform/json-text/json-text.js';
import { Operation, OperatorCommand, type OperationHandler } from '../../../platform/operations/operation.js';
import { SubscriptionProgress } from '../../../platform/projections/subscription-progress.js';
import { DELIVERIES_SAGA } from '../deliveries/deliveries-saga.js';
import { testEvent } from '../deliveries/published-events.js';
import { findEndpoint, webhookEndpoints } from '../domain/webhook-endpoints.js';
import {
  requestTest,
  TEST_MESSAGE,
  webhookTest,
  requestResend,
  webhookResend,
  requestRecovery,
  webhookRecovery,
} from '../domain/webhook-requests.js';
import { DeliveriesView, type FoundDelivery } from '../views/deliveries.js';
import { toMerchantJson } from '../views/delivery-page.js';
import { EndpointCommand, respondWith, type Responded, type MerchantCaller } from './caller.js';

/** Requests a synthetic delivery to an endpoint, enabled or not. Throws `not_found`. */
export class RequestTestDelivery extends EndpointCommand {}

@CommandHandler(RequestTestDelivery)
export class RequestTestDeliveryHandler implements ICommandHandler<RequestTestDelivery> {
  constructor(
    private readonly loop: CommandLoop,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute({ caller, endpointId: endpoint_id }: RequestTestDelivery): Promise<Responded> {
    const { merchantId: merchant_id } = caller;
    const delivery_id = caller.ticket.id('webhook_test');
    findEndpoint((await this.loop.load(webhookEndpoints, merchant_id)).state, endpoint_id);
    const place = { delivery_id, endpoint_id, merchant_id };
    const command = { ...place, message: TEST_MESSAGE, occurred_at: timestamp(this.clock) };
    return this.loop.execute(
      webhookTest,
      delivery_id,
      (state) => requestTest(command, state),
      respondWith(caller, 202, (state) => {
        const { type, occurredAt: occurred_at, data } = testEvent(state!);
        const delivery = withJsonText({ id: delivery_id, type, occurred_at }, 'data', data);
        return `{"webhook_delivery":${delivery}}`;
      }),
    );
  }
}

/**
 * Requests one more round of a delivery, under the same `webhook-id`. Throws `not_found` for an unknown delivery and a
 * deleted endpoint, `invalid_transition` for a disabled one.
 */
export class ResendWebhookDelivery extends Command<Responded> {
  constructor(
    readonly caller: MerchantCaller,
    readonly deliveryId: string,
  ) {
    super();
  }
}

@CommandHandler(ResendWebhookDelivery)
export class ResendWebhookDeliveryHandler implements ICommandHandler<ResendWebhookDelivery> {
  constructor(
    private readonly loop: CommandLoop,
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly deliveries: DeliveriesView,
  ) {}

  async execute({ caller, deliveryId }: ResendWebhookDelivery): Promise<Responded> {
    const { merchantId: merchant_id } = caller;
    const resend_id = caller.ticket.id('webhook_resend');
    const [delivery, { state: endpoints }] = await Promise.all([
      this.deliveries.find(merchant_id, deliveryId),
      this.loop.load(webhookEndpoints, merchant_id),
    ]);
    if (!delivery) throw DomainError.notFound('Webhook delivery');
    const command = {
      resend_id,
      delivery_id: deliveryId,
      endpoint_id: delivery.json.webhook_endpoint_id,
      merchant_id,
      is_test: delivery.isTest,
      requested_at: timestamp(this.clock),
    };
    return this.loop.execute(
      webhookResend,
      resend_id,
      (state) => requestResend(command, endpoints, state),
      respondWith(caller, 202, (state) =>
        JSON.stringify({ webhook_delivery: resent(delivery, state!.requested_at) }),
      ),
    );
  }
}

/** Resends a delivery of any merchant for an operator (admin-api.md 4). It has no revision. */
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
    // An operation that is executed again after a crash requests nothing new.
    const caller = { merchantId, metadata, ticket: new IdempotencyTicket(operation!.id) };
    const { position } = await this.bus.execute(new ResendWebhookDelivery(caller, subjectId));
    await this.progress.waitFor(DELIVERIES_SAGA, position);
  }
}

/** The delivery as the request makes it: due at once, unless an attempt is in flight already. */
function resent({ json, inFlight }: FoundDelivery, requestedAt: string): object {
  const own = toMerchantJson(json);
  return inFlight ? own : { ...own, status: 'pending', next_attempt_at: requestedAt, finished_at: null };
}

/**
 * Requests that what an endpoint did not get since then is sent after all. Throws `not_found`, `validation_failed` for a
 * time in the future, `invalid_transition` for a disabled endpoint.
 */
export class RecoverWebhookEndpoint extends EndpointCommand {
  constructor(
    caller: MerchantCaller,
    endpointId: string,
    readonly since: Date,
  ) {
    super(caller, endpointId);
  }
}

@CommandHandler(RecoverWebhookEndpoint)
export class RecoverWebhookEndpointHandler implements ICommandHandler<RecoverWebhookEndpoint> {
  constructor(
    private readonly loop: CommandLoop,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute({ caller, endpointId, since }: RecoverWebhookEndpoint): Promise<Responded> {
    const { merchantId } = caller;
    const recovery_id = caller.ticket.id('webhook_recovery');
    const { state: endpoints } = await this.loop.load(webhookEndpoints, merchantId);
    const command = {
      recovery_id,
      endpoint_id: endpointId,
      merchant_id: merchantId,
      since: since.toISOString(),
      requested_at: timestamp(this.clock),
    };
    return this.loop.execute(
      webhookRecovery,
      recovery_id,
      (state) => requestRecovery(command, endpoints, state),
      respondWith(caller, 202, (state) => {
        const { endpoint_id: webhook_endpoint_id, since, requested_at } = state!;
        const recovery = { id: recovery_id, webhook_endpoint_id, since, requested_at };
        return JSON.stringify({ webhook_recovery: recovery });
      }),
    );
  }
}
