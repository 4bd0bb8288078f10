import { Inject } from '@nestjs/common';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { COMMAND_LOOP, type CommandLoop } from '../../../platform/event-store/command-loop.js';
import { CLOCK, timestamp, type Clock } from '../../../kernel/clock.js';
import { underKey } from '../../../platform/idempotency/ticket.js';
import { webhookEndpoints } from '../domain/webhook-endpoints.js';
import { requestRecovery, webhookRecovery, type WebhookRecovery } from '../domain/webhook-recovery.js';
import type { Answered, Caller } from './caller.js';

/**
 * Asks that what an endpoint did not get since a moment is sent after all. Throws `not_found`, `validation_failed` for a
 * moment in the future, `invalid_transition` for a disabled endpoint.
 */
export class RecoverWebhookEndpoint extends Command<Answered> {
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

  async execute(command: RecoverWebhookEndpoint): Promise<Answered> {
    return underKey(command.caller.ticket, 'webhook_recovery', (id) => this.request(command, id));
  }

  private async request(
    { caller, endpointId, since }: RecoverWebhookEndpoint,
    recoveryId: string,
  ): Promise<Answered> {
    const { merchantId, metadata, ticket } = caller;
    const { state: endpoints } = await this.loop.load(webhookEndpoints, merchantId);
    const command = {
      recovery_id: recoveryId,
      endpoint_id: endpointId,
      merchant_id: merchantId,
      since: since.toISOString(),
      requested_at: timestamp(this.clock),
    };
    const { state, position } = await this.loop.execute(
      webhookRecovery,
      command.recovery_id,
      (before) => requestRecovery(command, endpoints, before),
      { metadata, response: (after) => ticket.response(202, bodyOf(after)) },
    );
    return { body: bodyOf(state), position };
  }
}

function bodyOf(recovery: WebhookRecovery): string {
  if (!recovery) throw new Error('the recovery was not recorded');
  const { recovery_id, endpoint_id, since, requested_at } = recovery;
  return JSON.stringify({
    webhook_recovery: { id: recovery_id, webhook_endpoint_id: endpoint_id, since, requested_at },
  });
}
