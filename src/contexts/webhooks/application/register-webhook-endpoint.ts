import { Inject } from '@nestjs/common';
import { Command, type ICommandHandler } from '@nestjs/cqrs';
import { CommandHandler } from '../../../platform/commands.js';
import { CLOCK, timestamp, type Clock } from '../../../kernel/clock.js';
import { COMMAND_LOOP, type CommandLoop } from '../../../platform/event-store/command-loop.js';
import { underKey } from '../../../platform/idempotency/ticket.js';
import { endpointOf, register, webhookEndpoints, type EndpointFields } from '../domain/webhook-endpoints.js';
import { endpointJson } from '../views/endpoint-json.js';
import { decideFor, type Responded, type Caller } from './caller.js';
import { RECEIVER_URLS, type ReceiverUrls } from './ports.js';
import { SigningSecrets } from './signing-secrets.js';

/**
 * Registers an endpoint; its response alone shows the signing secret. Throws `validation_failed` for an address that may
 * not receive webhooks and for an eleventh endpoint.
 */
export class RegisterWebhookEndpoint extends Command<Responded> {
  constructor(
    readonly caller: Caller,
    readonly fields: EndpointFields,
  ) {
    super();
  }
}

@CommandHandler(RegisterWebhookEndpoint)
export class RegisterWebhookEndpointHandler implements ICommandHandler<RegisterWebhookEndpoint> {
  constructor(
    @Inject(COMMAND_LOOP) private readonly loop: CommandLoop,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(RECEIVER_URLS) private readonly urls: ReceiverUrls,
    private readonly secrets: SigningSecrets,
  ) {}

  async execute({ caller, fields }: RegisterWebhookEndpoint): Promise<Responded> {
    await this.urls.check(fields.url);
    const registry = [webhookEndpoints, caller.merchantId] as const;
    return underKey(caller.ticket, 'webhook_endpoint', (endpoint_id) => {
      const place = { endpoint_id, merchant_id: caller.merchantId };
      const created_at = timestamp(this.clock);
      const command = { ...place, ...fields, sealed_signing_secret: this.secrets.create(place), created_at };
      return decideFor(caller, this.loop, registry, (state) => register(command, state), {
        status: 201,
        holdsSecret: true,
        body: (state) => {
          const endpoint = endpointOf(state, endpoint_id);
          // A repeat shows the secret of the first time.
          const signing_secret = this.secrets.open(place, endpoint.secrets.at(-1)!.sealed);
          return JSON.stringify({ webhook_endpoint: { ...endpointJson(endpoint, 0), signing_secret } });
        },
      });
    });
  }
}
