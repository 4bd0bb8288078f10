import { Inject } from '@nestjs/common';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { COMMAND_LOOP, type CommandLoop } from '../../../platform/event-store/command-loop.js';
import { CLOCK, timestamp, type Clock } from '../../../kernel/clock.js';
import { DomainError } from '../../../kernel/domain-error.js';
import {
  endpointOf,
  update,
  webhookEndpoints,
  type Update,
  type WebhookEndpoints,
} from '../domain/webhook-endpoints.js';
import { endpointJson } from '../domain/endpoint-json.js';
import { FailingEndpoints } from '../store/failing-endpoints.js';
import type { Answered, Caller } from './caller.js';
import { RECEIVER_URL_GUARD, type ReceiverUrlGuard } from './ports.js';

/** Changes what is given of an endpoint. Throws `not_found`, or `validation_failed` for an address that may not be used. */
export class UpdateWebhookEndpoint extends Command<Answered> {
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
    @Inject(RECEIVER_URL_GUARD) private readonly guard: ReceiverUrlGuard,
    private readonly failing: FailingEndpoints,
  ) {}

  async execute({ caller, endpointId, changes }: UpdateWebhookEndpoint): Promise<Answered> {
    const { merchantId, metadata, ticket } = caller;
    if (changes.url !== undefined) await this.check(merchantId, endpointId, changes.url);
    const failures = (await this.failing.counts([endpointId])).get(endpointId) ?? 0;
    const at = timestamp(this.clock);
    const bodyOf = (state: WebhookEndpoints): string => {
      const endpoint = endpointOf(state, endpointId);
      // Enabling clears the count.
      const failureCount = endpoint.enabledAt === at ? 0 : failures;
      return JSON.stringify({ webhook_endpoint: endpointJson(endpoint, failureCount) });
    };
    const { state, position } = await this.loop.execute(
      webhookEndpoints,
      merchantId,
      (before) => update({ endpoint_id: endpointId, merchant_id: merchantId, changes, at }, before),
      { metadata, response: (after) => ticket.response(200, bodyOf(after)) },
    );
    return { body: bodyOf(state), position };
  }

  /** An endpoint of somebody else is not found, whatever the address. */
  private async check(merchantId: string, endpointId: string, url: string): Promise<void> {
    endpointOf((await this.loop.load(webhookEndpoints, merchantId)).state, endpointId);
    const refusal = await this.guard.refusal(url);
    if (refusal !== null) throw DomainError.invalid({ url: [refusal] });
  }
}
