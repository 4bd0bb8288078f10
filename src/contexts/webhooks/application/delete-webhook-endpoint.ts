import { Inject } from '@nestjs/common';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { COMMAND_LOOP, type CommandLoop } from '../../../platform/event-store/command-loop.js';
import { CLOCK, timestamp, type Clock } from '../../../kernel/clock.js';
import { remove, webhookEndpoints } from '../domain/webhook-endpoints.js';
import type { Answered, Caller } from './caller.js';

/** Deletes an endpoint and, behind it, what is still to be sent to it. Throws `not_found`. */
export class DeleteWebhookEndpoint extends Command<Answered> {
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

  async execute({ caller, endpointId }: DeleteWebhookEndpoint): Promise<Answered> {
    const command = {
      endpoint_id: endpointId,
      merchant_id: caller.merchantId,
      at: timestamp(this.clock),
    };
    const { position } = await this.loop.execute(
      webhookEndpoints,
      caller.merchantId,
      (state) => remove(command, state),
      { metadata: caller.metadata, response: () => caller.ticket.response(204, '') },
    );
    return { body: '', position };
  }
}
