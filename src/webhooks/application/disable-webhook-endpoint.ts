import { Inject } from '@nestjs/common';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { COMMAND_LOOP, type CommandLoop } from '../../event-store/command-loop.js';
import { CLOCK, type Clock } from '../../kernel/clock.js';
import type { DisableCause } from '../contract.js';
import { disable, webhookEndpoints } from '../domain/webhook-endpoints.js';

/** The service disables an endpoint on its own account; one that is disabled or deleted already stays as it is. */
export class DisableWebhookEndpoint extends Command<void> {
  constructor(
    readonly merchantId: string,
    readonly endpointId: string,
    readonly cause: Exclude<DisableCause, 'merchant'>,
    /** The delivery whose attempt led to it. */
    readonly deliveryId: string,
  ) {
    super();
  }
}

@CommandHandler(DisableWebhookEndpoint)
export class DisableWebhookEndpointHandler implements ICommandHandler<DisableWebhookEndpoint> {
  constructor(
    @Inject(COMMAND_LOOP) private readonly loop: CommandLoop,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute({ merchantId, endpointId, cause, deliveryId }: DisableWebhookEndpoint): Promise<void> {
    const at = this.clock.now().toISOString();
    await this.loop.execute(
      webhookEndpoints,
      merchantId,
      (state) => disable({ endpoint_id: endpointId, merchant_id: merchantId, cause, at }, state),
      { metadata: { merchant_id: merchantId, causation_id: deliveryId } },
    );
  }
}
