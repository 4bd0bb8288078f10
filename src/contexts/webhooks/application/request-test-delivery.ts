import { Inject } from '@nestjs/common';
import { Command, type ICommandHandler } from '@nestjs/cqrs';
import { CommandHandler } from '../../../platform/commands.js';
import { CLOCK, timestamp, type Clock } from '../../../kernel/clock.js';
import { COMMAND_LOOP, type CommandLoop } from '../../../platform/event-store/command-loop.js';
import { underKey } from '../../../platform/idempotency/ticket.js';
import { withJsonText } from '../../../platform/json-text/json-text.js';
import { endpointOf, webhookEndpoints } from '../domain/webhook-endpoints.js';
import { requestTest, TEST_MESSAGE, webhookTest } from '../domain/webhook-requests.js';
import { decideFor, type Responded, type Caller } from './caller.js';
import { testEvent } from './published-events.js';

/** Asks for a synthetic delivery to an endpoint, enabled or not. Throws `not_found`. */
export class RequestTestDelivery extends Command<Responded> {
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

  execute({ caller, endpointId: endpoint_id }: RequestTestDelivery): Promise<Responded> {
    const { merchantId: merchant_id } = caller;
    return underKey(caller.ticket, 'webhook_test', async (delivery_id) => {
      endpointOf((await this.loop.load(webhookEndpoints, merchant_id)).state, endpoint_id);
      const place = { delivery_id, endpoint_id, merchant_id };
      const command = { ...place, message: TEST_MESSAGE, occurred_at: timestamp(this.clock) };
      const stream = [webhookTest, delivery_id] as const;
      return decideFor(caller, this.loop, stream, (state) => requestTest(command, state), {
        status: 202,
        body: (state) => {
          const { type, occurredAt: occurred_at, data } = testEvent(state!);
          const delivery = withJsonText({ id: delivery_id, type, occurred_at }, 'data', data);
          return `{"webhook_delivery":${delivery}}`;
        },
      });
    });
  }
}
