import { Inject } from '@nestjs/common';
import { Command, type ICommandHandler } from '@nestjs/cqrs';
import { CommandHandler } from '../../../platform/commands.js';
import { CLOCK, timestamp, type Clock } from '../../../kernel/clock.js';
import { COMMAND_LOOP, type CommandLoop } from '../../../platform/event-store/command-loop.js';
import { underKey } from '../../../platform/idempotency/ticket.js';
import { webhookEndpoints } from '../domain/webhook-endpoints.js';
import { requestRecovery, webhookRecovery } from '../domain/webhook-requests.js';
import { decideFor, type Responded, type Caller } from './caller.js';

/**
 * Asks that what an endpoint did not get since a moment is sent after all. Throws `not_found`, `validation_failed` for a
 * moment in the future, `invalid_transition` for a disabled endpoint.
 */
export class RecoverWebhookEndpoint extends Command<Responded> {
  constructor(
    readonly caller: Caller,
    readonly endpointId: string,
    readonly since: Date,
  ) {
    super();
  }
}

@CommandHandler(RecoverWebhookEndpoint)
export class RecoverWebhookEndpointHandler implements ICommandHandler<RecoverWebhookEndpoint> {
  constructor(
    @Inject(COMMAND_LOOP) private readonly loop: CommandLoop,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  execute({ caller, endpointId, since: moment }: RecoverWebhookEndpoint): Promise<Responded> {
    const { merchantId } = caller;
    return underKey(caller.ticket, 'webhook_recovery', async (recovery_id) => {
      const { state: endpoints } = await this.loop.load(webhookEndpoints, merchantId);
      const command = {
        ...{ recovery_id, endpoint_id: endpointId, merchant_id: merchantId },
        ...{ since: moment.toISOString(), requested_at: timestamp(this.clock) },
      };
      const stream = [webhookRecovery, recovery_id] as const;
      return decideFor(caller, this.loop, stream, (state) => requestRecovery(command, endpoints, state), {
        status: 202,
        body: (state) => {
          const { endpoint_id: webhook_endpoint_id, since, requested_at } = state!;
          const recovery = { id: recovery_id, webhook_endpoint_id, since, requested_at };
          return JSON.stringify({ webhook_recovery: recovery });
        },
      });
    });
  }
}
