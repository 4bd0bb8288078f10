import { Inject } from '@nestjs/common';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { CLOCK, timestamp, type Clock } from '../../../kernel/clock.js';
import { CommandLoop } from '../../../platform/event-store/command-loop.js';
import { AutomaticDisabling } from '../deliveries/automatic-disabling.js';
import { ReceiverHosts } from '../deliveries/receivers.js';
import { SigningSecrets } from '../deliveries/signing-secrets.js';
import {
  findEndpoint,
  register,
  webhookEndpoints,
  update,
  remove,
  rotateSecret,
  type Endpoint,
  type EndpointFields,
  type Update,
} from '../domain/webhook-endpoints.js';
import { endpointJson } from '../views/endpoints.js';
import { EndpointCommand, respondWith, type Responded, type MerchantCaller } from './caller.js';

/**
 * Registers an endpoint; its response alone shows the signing secret. Throws `validation_failed` for an address that may
 * not receive webhooks and for an eleventh endpoint.
 */
export class RegisterWebhookEndpoint extends Command<Responded> {
  constructor(
    readonly caller: MerchantCaller,
    readonly fields: EndpointFields,
  ) {
    super();
  }
}

@CommandHandler(RegisterWebhookEndpoint)
export class RegisterWebhookEndpointHandler implements ICommandHandler<RegisterWebhookEndpoint> {
  constructor(
    private readonly loop: CommandLoop,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(ReceiverHosts) private readonly hosts: Pick<ReceiverHosts, 'check'>,
    private readonly secrets: SigningSecrets,
  ) {}

  async execute({ caller, fields }: RegisterWebhookEndpoint): Promise<Responded> {
    await this.hosts.check(fields.url);
    const { merchantId: merchant_id } = caller;
    const place = { endpoint_id: caller.ticket.id('webhook_endpoint'), merchant_id };
    const created_at = timestamp(this.clock);
    const command = { ...place, ...fields, sealed_signing_secret: this.secrets.create(place), created_at };
    return this.loop.execute(
      webhookEndpoints,
      merchant_id,
      (state) => register(command, state),
      respondWith(caller, 201, (state) => {
        const endpoint = findEndpoint(state, place.endpoint_id);
        // A repeat shows the secret of the first time.
        return toBody(endpoint, 0, this.secrets.open(place, endpoint.secrets.at(-1)!.sealed));
      }),
    );
  }
}

/** Changes what is given of an endpoint. Throws `not_found`, or `validation_failed` for an address that may not be used. */
export class UpdateWebhookEndpoint extends EndpointCommand {
  constructor(
    caller: MerchantCaller,
    endpointId: string,
    readonly changes: Update['changes'],
    /** The cause of disabling it; only the sandbox sets another one. */
    readonly cause: Update['cause'] = 'merchant',
  ) {
    super(caller, endpointId);
  }
}

@CommandHandler(UpdateWebhookEndpoint)
export class UpdateWebhookEndpointHandler implements ICommandHandler<UpdateWebhookEndpoint> {
  constructor(
    private readonly loop: CommandLoop,
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly hosts: ReceiverHosts,
    private readonly disabling: AutomaticDisabling,
  ) {}

  async execute({ caller, endpointId, changes, cause }: UpdateWebhookEndpoint): Promise<Responded> {
    const [endpoint_id, merchant_id] = [endpointId, caller.merchantId];
    if (changes.url !== undefined) {
      // An endpoint of another merchant is not found, with any address.
      findEndpoint((await this.loop.load(webhookEndpoints, merchant_id)).state, endpoint_id);
      await this.hosts.check(changes.url);
    }
    const failures = await this.disabling.count(endpoint_id);
    const at = timestamp(this.clock);
    return this.loop.execute(
      webhookEndpoints,
      merchant_id,
      (state) => update({ endpoint_id, merchant_id, changes, cause, at }, state),
      respondWith(caller, 200, (state) => {
        const endpoint = findEndpoint(state, endpoint_id);
        // Enabling clears the count.
        return toBody(endpoint, endpoint.failures_since === at ? 0 : failures);
      }),
    );
  }
}

/** Deletes an endpoint and, behind it, what is still to be sent to it. Throws `not_found`. */
export class DeleteWebhookEndpoint extends EndpointCommand {}

@CommandHandler(DeleteWebhookEndpoint)
export class DeleteWebhookEndpointHandler implements ICommandHandler<DeleteWebhookEndpoint> {
  constructor(
    private readonly loop: CommandLoop,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  execute({ caller, endpointId: endpoint_id }: DeleteWebhookEndpoint): Promise<Responded> {
    const { merchantId: merchant_id } = caller;
    const command = { endpoint_id, merchant_id, at: timestamp(this.clock) };
    const response = respondWith(caller, 204, () => '');
    return this.loop.execute(webhookEndpoints, merchant_id, (state) => remove(command, state), response);
  }
}

/**
 * Gives an endpoint a fresh signing secret, which this response alone shows; the replaced one signs too for
 * `overlapSeconds`. Throws `not_found`, or `invalid_transition` while too many replaced ones are still valid.
 */
export class RotateSigningSecret extends EndpointCommand {
  constructor(
    caller: MerchantCaller,
    endpointId: string,
    readonly overlapSeconds: number,
  ) {
    super(caller, endpointId);
  }
}

@CommandHandler(RotateSigningSecret)
export class RotateSigningSecretHandler implements ICommandHandler<RotateSigningSecret> {
  constructor(
    private readonly loop: CommandLoop,
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly secrets: SigningSecrets,
    private readonly disabling: AutomaticDisabling,
  ) {}

  async execute({ caller, endpointId, overlapSeconds }: RotateSigningSecret): Promise<Responded> {
    const place = { endpoint_id: endpointId, merchant_id: caller.merchantId };
    const rotation_id = caller.ticket.id('webhook_secret');
    const failures = await this.disabling.count(endpointId);
    const now = this.clock.now();
    const command = {
      ...place,
      rotation_id,
      sealed_signing_secret: this.secrets.create(place),
      former_expires_at: new Date(now.getTime() + overlapSeconds * 1000).toISOString(),
      at: now.toISOString(),
    };
    return this.loop.execute(
      webhookEndpoints,
      caller.merchantId,
      (state) => rotateSecret(command, state),
      respondWith(caller, 200, (state) => {
        const endpoint = findEndpoint(state, endpointId);
        // A repeat shows the secret of the first time.
        const { sealed } = endpoint.secrets.find((each) => each.rotation_id === rotation_id)!;
        return toBody(endpoint, failures, this.secrets.open(place, sealed));
      }),
    );
  }
}

function toBody(endpoint: Endpoint, failures: number, signing_secret?: string): string {
  return JSON.stringify({ webhook_endpoint: { ...endpointJson(endpoint, failures), signing_secret } });
}
