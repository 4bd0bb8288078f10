import { Inject } from '@nestjs/common';
import { Command, type ICommandHandler } from '@nestjs/cqrs';
import { CommandHandler } from '../../../platform/commands.js';
import { CLOCK, type Clock } from '../../../kernel/clock.js';
import { COMMAND_LOOP, type CommandLoop } from '../../../platform/event-store/command-loop.js';
import { underKey } from '../../../platform/idempotency/ticket.js';
import { endpointOf, rotateSecret, webhookEndpoints } from '../domain/webhook-endpoints.js';
import { FailingEndpoints } from '../store/failing-endpoints.js';
import { endpointJson } from '../views/endpoint-json.js';
import { decideFor, type Responded, type Caller } from './caller.js';
import { SigningSecrets } from './signing-secrets.js';

/**
 * Gives an endpoint a fresh signing secret, which this response alone shows; the replaced one signs too for
 * `overlapSeconds`. Throws `not_found`, or `invalid_transition` while too many replaced ones are still valid.
 */
export class RotateSigningSecret extends Command<Responded> {
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

  execute({ caller, endpointId, overlapSeconds }: RotateSigningSecret): Promise<Responded> {
    const place = { endpoint_id: endpointId, merchant_id: caller.merchantId };
    const registry = [webhookEndpoints, caller.merchantId] as const;
    return underKey(caller.ticket, 'webhook_secret', async (rotation_id) => {
      const failures = await this.failing.count(endpointId);
      const now = this.clock.now();
      const command = {
        ...{ ...place, rotation_id, sealed_signing_secret: this.secrets.create(place) },
        former_expires_at: new Date(now.getTime() + overlapSeconds * 1000).toISOString(),
        at: now.toISOString(),
      };
      return decideFor(caller, this.loop, registry, (state) => rotateSecret(command, state), {
        status: 200,
        holdsSecret: true,
        body: (state) => {
          const endpoint = endpointOf(state, endpointId);
          // A repeat shows the secret of the first time.
          const { sealed } = endpoint.secrets.find(({ rotationId }) => rotationId === rotation_id)!;
          const signing_secret = this.secrets.open(place, sealed);
          return JSON.stringify({
            webhook_endpoint: { ...endpointJson(endpoint, failures), signing_secret },
          });
        },
      });
    });
  }
}
