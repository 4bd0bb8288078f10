import { Inject } from '@nestjs/common';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { CLOCK, timestamp, type Clock } from '../../../kernel/clock.js';
import { CommandLoop } from '../../../platform/event-store/command-loop.js';
import type { EventMetadata } from '../../../platform/event-store/port.js';
import type { IdempotencyTicket } from '../../../platform/idempotency/ticket.js';
import { AutomaticDisablingProcessor } from './automatic-disabling.processor.js';
import { ReceiverHosts } from '../deliveries/receivers.service.js';
import { SigningSecrets } from './signing-secrets.store.js';
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
} from './webhook-endpoints.js';
import { toEndpointDto } from './endpoints.view.js';

export interface MerchantCaller {
  readonly merchantId: string;
  readonly metadata: EventMetadata;
  readonly ticket: IdempotencyTicket;
}

export interface Responded {
  readonly body: string;
  /** The log position that the views must pass before the response is sent; null if no event was written. */
  readonly position: string | null;
}

export abstract class MerchantCommand<Input> extends Command<Responded> {
  constructor(
    readonly caller: MerchantCaller,
    readonly input: Input,
  ) {
    super();
  }
}

/** Returns command options that store the response with the events, for repeats of the request. */
export function respondWith<State>(
  { metadata, ticket }: MerchantCaller,
  status: number,
  body: (state: State) => string,
) {
  return { metadata, response: { ticket, status, body } };
}

/** Registers an endpoint. Throws `validation_failed` for a refused address and for an eleventh endpoint. */
export class RegisterWebhookEndpoint extends MerchantCommand<EndpointFields> {}

@CommandHandler(RegisterWebhookEndpoint)
export class RegisterWebhookEndpointHandler implements ICommandHandler<RegisterWebhookEndpoint> {
  constructor(
    private readonly loop: CommandLoop,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(ReceiverHosts) private readonly hosts: Pick<ReceiverHosts, 'check'>,
    private readonly secrets: SigningSecrets,
  ) {}

  async execute({ caller, input }: RegisterWebhookEndpoint): Promise<Responded> {
    await this.hosts.check(input.url);
    const { merchantId: merchant_id } = caller;
    const place = { endpoint_id: caller.ticket.id('webhook_endpoint'), merchant_id };
    const created_at = timestamp(this.clock);
    const command = { ...place, ...input, sealed_signing_secret: this.secrets.create(place), created_at };
    return this.loop.execute(
      webhookEndpoints,
      merchant_id,
      (state) => register(command, state),
      respondWith(caller, 201, (state) => {
        const endpoint = findEndpoint(state, place.endpoint_id);
        // A repeat returns the secret of the first request.
        return toBody(endpoint, 0, this.secrets.open(place, endpoint.secrets.at(-1)!.sealed));
      }),
    );
  }
}

/** Changes an endpoint. Throws `not_found`, and `validation_failed` for a refused address. */
export class UpdateWebhookEndpoint extends MerchantCommand<Omit<Update, 'merchant_id' | 'at'>> {}

@CommandHandler(UpdateWebhookEndpoint)
export class UpdateWebhookEndpointHandler implements ICommandHandler<UpdateWebhookEndpoint> {
  constructor(
    private readonly loop: CommandLoop,
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly hosts: ReceiverHosts,
    private readonly disabling: AutomaticDisablingProcessor,
  ) {}

  async execute({ caller, input }: UpdateWebhookEndpoint): Promise<Responded> {
    const { merchantId: merchant_id } = caller;
    const { endpoint_id, changes } = input;
    if (changes.url !== undefined) {
      // The endpoint is checked before the address, so that another merchant's endpoint is always 404.
      findEndpoint((await this.loop.load(webhookEndpoints, merchant_id)).state, endpoint_id);
      await this.hosts.check(changes.url);
    }
    const failures = await this.disabling.count(endpoint_id);
    const at = timestamp(this.clock);
    return this.loop.execute(
      webhookEndpoints,
      merchant_id,
      (state) => update({ ...input, merchant_id, at }, state),
      respondWith(caller, 200, (state) => {
        const endpoint = findEndpoint(state, endpoint_id);
        // Enabling clears the count.
        return toBody(endpoint, endpoint.failures_since === at ? 0 : failures);
      }),
    );
  }
}

/** Deletes the endpoint with this id; its pending deliveries are dropped. Throws `not_found`. */
export class DeleteWebhookEndpoint extends MerchantCommand<string> {}

@CommandHandler(DeleteWebhookEndpoint)
export class DeleteWebhookEndpointHandler implements ICommandHandler<DeleteWebhookEndpoint> {
  constructor(
    private readonly loop: CommandLoop,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  execute({ caller, input: endpoint_id }: DeleteWebhookEndpoint): Promise<Responded> {
    const { merchantId: merchant_id } = caller;
    const command = { endpoint_id, merchant_id, at: timestamp(this.clock) };
    const response = respondWith(caller, 204, () => '');
    return this.loop.execute(webhookEndpoints, merchant_id, (state) => remove(command, state), response);
  }
}

interface Rotation {
  readonly endpoint_id: string;
  /** The seconds for which the replaced secret signs too. */
  readonly overlap_seconds: number;
}

/** Replaces a secret. Throws `not_found`, or `invalid_transition` while too many former secrets are valid. */
export class RotateSigningSecret extends MerchantCommand<Rotation> {}

@CommandHandler(RotateSigningSecret)
export class RotateSigningSecretHandler implements ICommandHandler<RotateSigningSecret> {
  constructor(
    private readonly loop: CommandLoop,
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly secrets: SigningSecrets,
    private readonly disabling: AutomaticDisablingProcessor,
  ) {}

  async execute({ caller, input }: RotateSigningSecret): Promise<Responded> {
    const { endpoint_id, overlap_seconds } = input;
    const place = { endpoint_id, merchant_id: caller.merchantId };
    const rotation_id = caller.ticket.id('webhook_secret');
    const failures = await this.disabling.count(endpoint_id);
    const now = this.clock.now();
    const command = {
      ...place,
      rotation_id,
      sealed_signing_secret: this.secrets.create(place),
      former_expires_at: new Date(now.getTime() + overlap_seconds * 1000).toISOString(),
      at: now.toISOString(),
    };
    return this.loop.execute(
      webhookEndpoints,
      caller.merchantId,
      (state) => rotateSecret(command, state),
      respondWith(caller, 200, (state) => {
        const endpoint = findEndpoint(state, endpoint_id);
        // A repeat returns the secret of the first request.
        const { sealed } = endpoint.secrets.find((each) => each.rotation_id === rotation_id)!;
        return toBody(endpoint, failures, this.secrets.open(place, sealed));
      }),
    );
  }
}

function toBody(endpoint: Endpoint, failures: number, signing_secret?: string): string {
  return JSON.stringify({ webhook_endpoint: { ...toEndpointDto(endpoint, failures), signing_secret } });
}
