import { Inject } from '@nestjs/common';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { COMMAND_LOOP, type CommandLoop } from '../../../platform/event-store/command-loop.js';
import { CLOCK, timestamp, type Clock } from '../../../kernel/clock.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { underKey } from '../../../platform/idempotency/ticket.js';
import {
  endpointOf,
  register,
  webhookEndpoints,
  type WebhookEndpoints,
} from '../domain/webhook-endpoints.js';
import { endpointJson } from '../domain/endpoint-json.js';
import type { Answered, Caller } from './caller.js';
import { RECEIVER_URL_GUARD, type ReceiverUrlGuard } from './ports.js';
import { SigningSecrets } from './signing-secrets.js';

/**
 * Registers an endpoint; its answer alone shows the signing secret. Throws `validation_failed` for an address that may
 * not receive webhooks and for an eleventh endpoint.
 */
export class RegisterWebhookEndpoint extends Command<Answered> {
  constructor(
    readonly caller: Caller,
    readonly fields: {
      readonly url: string;
      readonly description: string | null;
      readonly event_types: readonly string[] | null;
    },
  ) {
    super();
  }
}

@CommandHandler(RegisterWebhookEndpoint)
export class RegisterWebhookEndpointHandler implements ICommandHandler<RegisterWebhookEndpoint> {
  constructor(
    @Inject(COMMAND_LOOP) private readonly loop: CommandLoop,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(RECEIVER_URL_GUARD) private readonly guard: ReceiverUrlGuard,
    private readonly secrets: SigningSecrets,
  ) {}

  async execute({ caller, fields }: RegisterWebhookEndpoint): Promise<Answered> {
    const refusal = await this.guard.refusal(fields.url);
    if (refusal !== null) throw DomainError.invalid({ url: [refusal] });
    return underKey(caller.ticket, 'webhook_endpoint', (id) => this.register(caller, fields, id));
  }

  private async register(
    caller: Caller,
    fields: RegisterWebhookEndpoint['fields'],
    endpointId: string,
  ): Promise<Answered> {
    const place = { endpoint_id: endpointId, merchant_id: caller.merchantId };
    const created_at = timestamp(this.clock);
    const command = { ...place, ...fields, sealed_signing_secret: this.secrets.create(place), created_at };

    // Made from the state: a repeat that finds its endpoint answers with the secret of the first time.
    const bodyOf = (state: WebhookEndpoints): string => {
      const endpoint = endpointOf(state, place.endpoint_id);
      const secret = this.secrets.open(place, endpoint.secrets.at(-1)!.sealed);
      return JSON.stringify({ webhook_endpoint: endpointJson(endpoint, 0, secret) });
    };
    const { state, position } = await this.loop.execute(
      webhookEndpoints,
      caller.merchantId,
      (before) => register(command, before),
      {
        metadata: caller.metadata,
        response: (after) => caller.ticket.response(201, bodyOf(after), { holdsSecret: true }),
      },
    );
    return { body: bodyOf(state), position };
  }
}
