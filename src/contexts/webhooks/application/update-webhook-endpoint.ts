import { Inject } from '@nestjs/common';
import { Command, type ICommandHandler } from '@nestjs/cqrs';
import { CommandHandler } from '../../../platform/commands.js';
import { CLOCK, timestamp, type Clock } from '../../../kernel/clock.js';
import { COMMAND_LOOP, type CommandLoop } from '../../../platform/event-store/command-loop.js';
import { endpointOf, update, webhookEndpoints, type Update } from '../domain/webhook-endpoints.js';
import { FailingEndpoints } from '../store/failing-endpoints.js';
import { endpointJson } from '../views/endpoint-json.js';
import { decideFor, type Responded, type Caller } from './caller.js';
import { RECEIVER_URLS, type ReceiverUrls } from './ports.js';

/** Changes what is given of an endpoint. Throws `not_found`, or `validation_failed` for an address that may not be used. */
export class UpdateWebhookEndpoint extends Command<Responded> {
  constructor(
    readonly caller: Caller,
    readonly endpointId: string,
    readonly changes: Update['changes'],
  ) {
    super();
  }
}

@CommandHandler(UpdateWebhookEndpoint)
export class UpdateWebhookEndpointHandler implements ICommandHandler<UpdateWebhookEndpoint> {
  constructor(
    @Inject(COMMAND_LOOP) private readonly loop: CommandLoop,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(RECEIVER_URLS) private readonly urls: ReceiverUrls,
    private readonly failing: FailingEndpoints,
  ) {}

  async execute({ caller, endpointId, changes }: UpdateWebhookEndpoint): Promise<Responded> {
    const { merchantId } = caller;
    if (changes.url !== undefined) {
      // An endpoint of somebody else is not found, whatever the address.
      endpointOf((await this.loop.load(webhookEndpoints, merchantId)).state, endpointId);
      await this.urls.check(changes.url);
    }
    const failures = await this.failing.count(endpointId);
    const at = timestamp(this.clock);
    const command = { endpoint_id: endpointId, merchant_id: merchantId, changes, at };
    const registry = [webhookEndpoints, merchantId] as const;
    return decideFor(caller, this.loop, registry, (state) => update(command, state), {
      status: 200,
      body: (state) => {
        const endpoint = endpointOf(state, endpointId);
        // Enabling clears the count.
        const failureCount = endpoint.enabledAt === at ? 0 : failures;
        return JSON.stringify({ webhook_endpoint: endpointJson(endpoint, failureCount) });
      },
    });
  }
}
