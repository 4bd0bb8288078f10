import { Inject } from '@nestjs/common';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { COMMAND_LOOP, type CommandLoop } from '../../../platform/event-store/command-loop.js';
import { CLOCK, timestamp, type Clock } from '../../../kernel/clock.js';
import { underKey } from '../../../platform/idempotency/ticket.js';
import type { EventType } from '../domain/envelope.js';
import { endpointOf, webhookEndpoints } from '../domain/webhook-endpoints.js';
import { requestTest, TEST_MESSAGE, webhookTest, type WebhookTest } from '../domain/webhook-test.js';
import type { Answered, Caller } from './caller.js';

/** Asks for a synthetic delivery to an endpoint, enabled or not. Throws `not_found`. */
export class RequestTestDelivery extends Command<Answered> {
  constructor(
    readonly caller: Caller,
    readonly endpointId: string,
  ) {
    super();
  }
}

@CommandHandler(RequestTestDelivery)
export class RequestTestDeliveryHandler implements ICommandHandler<RequestTestDelivery> {
  constructor(
    @Inject(COMMAND_LOOP) private readonly loop: CommandLoop,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute({ caller, endpointId }: RequestTestDelivery): Promise<Answered> {
    return underKey(caller.ticket, 'webhook_test', (id) => this.request(caller, endpointId, id));
  }

  private async request(caller: Caller, endpointId: string, deliveryId: string): Promise<Answered> {
    const { merchantId, metadata, ticket } = caller;
    endpointOf((await this.loop.load(webhookEndpoints, merchantId)).state, endpointId);
    const command = {
      delivery_id: deliveryId,
      endpoint_id: endpointId,
      merchant_id: merchantId,
      message: TEST_MESSAGE,
      occurred_at: timestamp(this.clock),
    };
    const { state, position } = await this.loop.execute(
      webhookTest,
      command.delivery_id,
      (before) => requestTest(command, before),
      { metadata, expectNew: true, response: (after) => ticket.response(202, bodyOf(after)) },
    );
    return { body: bodyOf(state), position };
  }
}

function bodyOf(test: WebhookTest): string {
  if (!test) throw new Error('the test delivery was not recorded');
  const { delivery_id, occurred_at, endpoint_id, message } = test;
  const type: EventType = 'webhook_endpoint.test';
  const data = { webhook_endpoint_id: endpoint_id, message };
  return JSON.stringify({ webhook_delivery: { id: delivery_id, type, occurred_at, data } });
}
