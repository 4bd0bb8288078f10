import { Inject } from '@nestjs/common';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { COMMAND_LOOP, type CommandLoop } from '../../../platform/event-store/command-loop.js';
import { CLOCK, type Clock } from '../../../kernel/clock.js';
import { underKey } from '../../../platform/idempotency/ticket.js';
import { endpointJson } from '../domain/endpoint-json.js';
import {
  endpointOf,
  rotateSecret,
  webhookEndpoints,
  type WebhookEndpoints,
} from '../domain/webhook-endpoints.js';
import { FailingEndpoints } from '../store/failing-endpoints.js';
import type { Answered, Caller } from './caller.js';
import { SigningSecrets } from './signing-secrets.js';

/**
 * Gives an endpoint a fresh signing secret, which this answer alone shows; the replaced one signs too for
 * `overlapSeconds`. Throws `not_found`, or `invalid_transition` while too many replaced ones are still valid.
 */
export class RotateSigningSecret extends Command<Answered> {
  constructor(
    readonly caller: Caller,
    readonly endpointId: string,
    readonly overlapSeconds: number,
  ) {
    super();
  }
}

@CommandHandler(RotateSigningSecret)
export class RotateSigningSecretHandler implements ICommandHandler<RotateSigningSecret> {
  constructor(
    @Inject(COMMAND_LOOP) private readonly loop: CommandLoop,
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly secrets: SigningSecrets,
    private readonly failing: FailingEndpoints,
  ) {}

  async execute(command: RotateSigningSecret): Promise<Answered> {
    return underKey(command.caller.ticket, 'webhook_secret', (id) => this.rotate(command, id));
  }

  private async rotate(
    { caller, endpointId, overlapSeconds }: RotateSigningSecret,
    rotationId: string,
  ): Promise<Answered> {
    const { merchantId, metadata, ticket } = caller;
    const place = { endpoint_id: endpointId, merchant_id: merchantId };
    const failures = (await this.failing.counts([endpointId])).get(endpointId) ?? 0;
    const now = this.clock.now();
    const command = {
      ...place,
      rotation_id: rotationId,
      sealed_signing_secret: this.secrets.create(place),
      former_expires_at: new Date(now.getTime() + overlapSeconds * 1000).toISOString(),
      at: now.toISOString(),
    };

    // Made from the state: a repeat that finds its rotation answers with the secret of the first time.
    const bodyOf = (state: WebhookEndpoints): string => {
      const endpoint = endpointOf(state, endpointId);
      const { sealed } = endpoint.secrets.find(({ rotationId }) => rotationId === command.rotation_id)!;
      const secret = this.secrets.open(place, sealed);
      return JSON.stringify({ webhook_endpoint: endpointJson(endpoint, failures, secret) });
    };
    const { state, position } = await this.loop.execute(
      webhookEndpoints,
      merchantId,
      (before) => rotateSecret(command, before),
      { metadata, response: (after) => ticket.response(200, bodyOf(after), { holdsSecret: true }) },
    );
    return { body: bodyOf(state), position };
  }
}
