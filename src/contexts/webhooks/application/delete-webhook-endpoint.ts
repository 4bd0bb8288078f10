import { Inject } from '@nestjs/common';
import { Command, type ICommandHandler } from '@nestjs/cqrs';
import { CommandHandler } from '../../../platform/commands.js';
import { CLOCK, timestamp, type Clock } from '../../../kernel/clock.js';
import { COMMAND_LOOP, type CommandLoop } from '../../../platform/event-store/command-loop.js';
import { remove, webhookEndpoints } from '../domain/webhook-endpoints.js';
import { decideFor, type Responded, type Caller } from './caller.js';

/** Deletes an endpoint and, behind it, what is still to be sent to it. Throws `not_found`. */
export class DeleteWebhookEndpoint extends Command<Responded> {
  constructor(
    readonly caller: Caller,
    readonly endpointId: string,
  ) {
    super();
  }
}

@CommandHandler(DeleteWebhookEndpoint)
export class DeleteWebhookEndpointHandler implements ICommandHandler<DeleteWebhookEndpoint> {
  constructor(
    @Inject(COMMAND_LOOP) private readonly loop: CommandLoop,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  execute({ caller, endpointId: endpoint_id }: DeleteWebhookEndpoint): Promise<Responded> {
    const { merchantId: merchant_id } = caller;
    const command = { endpoint_id, merchant_id, at: timestamp(this.clock) };
    const registry = [webhookEndpoints, merchant_id] as const;
    const response = { status: 204, body: () => '' };
    return decideFor(caller, this.loop, registry, (state) => remove(command, state), response);
  }
}
