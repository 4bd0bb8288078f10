import { Inject } from '@nestjs/common';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { CLOCK, timestamp, type Clock } from '../../../kernel/clock.js';
import { CommandLoop } from '../../../platform/event-store/command-loop.js';
import {
  breakEndpoint,
  endpointJson,
  endpointOf,
  register,
  webhookEndpoints,
  update,
  remove,
  rotateSecret,
  type EndpointFields,
  type Update,
} from '../domain/webhook-endpoints.js';
import { EndpointCommand, type Responded, type MerchantCaller } from './caller.js';
import { RECEIVER_URLS, type ReceiverUrls } from './ports.js';
import { SigningSecrets } from './signing-secrets.js';
import { FailingEndpoints } from '../store/failing-endpoints.js';

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
    @Inject(RECEIVER_URLS) private readonly urls: ReceiverUrls,
    private readonly secrets: SigningSecrets,
  ) {}

  async execute({ caller, fields }: RegisterWebhookEndpoint): Promise<Responded> {
    await this.urls.check(fields.url);
    const endpoint_id = caller.ticket.id('webhook_endpoint');
    const place = { endpoint_id, merchant_id: caller.merchantId };
    const created_at = timestamp(this.clock);
    const command = { ...place, ...fields, sealed_signing_secret: this.secrets.create(place), created_at };
    return this.loop.execute(webhookEndpoints, caller.merchantId, (state) => register(command, state), {
      metadata: caller.metadata,
      response: {
        ticket: caller.ticket,
        status: 201,
        body: (state) => {
          const endpoint = endpointOf(state, endpoint_id);
          // A repeat shows the secret of the first time.
          const signing_secret = this.secrets.open(place, endpoint.secrets.at(-1)!.sealed);
          return JSON.stringify({ webhook_endpoint: { ...endpointJson(endpoint, 0), signing_secret } });
        },
      },
    });
  }
}

/** Changes what is given of an endpoint. Throws `not_found`, or `validation_failed` for an address that may not be used. */
export class UpdateWebhookEndpoint extends EndpointCommand {
  constructor(
    caller: MerchantCaller,
    endpointId: string,
    readonly changes: Update['changes'],
  ) {
    super(caller, endpointId);
  }
}

@CommandHandler(UpdateWebhookEndpoint)
export class UpdateWebhookEndpointHandler implements ICommandHandler<UpdateWebhookEndpoint> {
  constructor(
    private readonly loop: CommandLoop,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(RECEIVER_URLS) private readonly urls: ReceiverUrls,
    private readonly failing: FailingEndpoints,
  ) {}

  async execute({ caller, endpointId, changes }: UpdateWebhookEndpoint): Promise<Responded> {
    const { merchantId } = caller;
    if (changes.url !== undefined) {
      // An endpoint of another merchant is not found, with any address.
      endpointOf((await this.loop.load(webhookEndpoints, merchantId)).state, endpointId);
      await this.urls.check(changes.url);
    }
    const failures = await this.failing.count(endpointId);
    const at = timestamp(this.clock);
    const command = { endpoint_id: endpointId, merchant_id: merchantId, changes, at };
    return this.loop.execute(webhookEndpoints, merchantId, (state) => update(command, state), {
      metadata: caller.metadata,
      response: {
        ticket: caller.ticket,
        status: 200,
        body: (state) => {
          const endpoint = endpointOf(state, endpointId);
          // Enabling clears the count.
          const failureCount = endpoint.enabledAt === at ? 0 : failures;
          return JSON.stringify({ webhook_endpoint: endpointJson(endpoint, failureCount) });
        },
      },
    });
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
    return this.loop.execute(webhookEndpoints, merchant_id, (state) => remove(command, state), {
      metadata: caller.metadata,
      response: { ticket: caller.ticket, status: 204, body: () => '' },
    });
  }
}

/** Disables an endpoint as if its deliveries had kept failing. Only in the sandbox. Throws `not_found`. */
export class BreakSandboxEndpoint extends EndpointCommand {}

@CommandHandler(BreakSandboxEndpoint)
export class BreakSandboxEndpointHandler implements ICommandHandler<BreakSandboxEndpoint> {
  constructor(
    private readonly loop: CommandLoop,
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly failing: FailingEndpoints,
  ) {}

  async execute({ caller, endpointId: endpoint_id }: BreakSandboxEndpoint): Promise<Responded> {
    const { merchantId: merchant_id } = caller;
    const failures = await this.failing.count(endpoint_id);
    const command = { endpoint_id, merchant_id, at: timestamp(this.clock) };
    return this.loop.execute(webhookEndpoints, merchant_id, (state) => breakEndpoint(command, state), {
      metadata: caller.metadata,
      response: {
        ticket: caller.ticket,
        status: 200,
        body: (state) =>
          JSON.stringify({ webhook_endpoint: endpointJson(endpointOf(state, endpoint_id), failures) }),
      },
    });
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
    private readonly failing: FailingEndpoints,
  ) {}

  async execute({ caller, endpointId, overlapSeconds }: RotateSigningSecret): Promise<Responded> {
    const place = { endpoint_id: endpointId, merchant_id: caller.merchantId };
    const rotation_id = caller.ticket.id('webhook_secret');
    const failures = await this.failing.count(endpointId);
    const now = this.clock.now();
    const command = {
      ...place,
      rotation_id,
      sealed_signing_secret: this.secrets.create(place),
      former_expires_at: new Date(now.getTime() + overlapSeconds * 1000).toISOString(),
      at: now.toISOString(),
    };
    return this.loop.execute(webhookEndpoints, caller.merchantId, (state) => rotateSecret(command, state), {
      metadata: caller.metadata,
      response: {
        ticket: caller.ticket,
        status: 200,
        body: (state) => {
          const endpoint = endpointOf(state, endpointId);
          // A repeat shows the secret of the first time.
          const { sealed } = endpoint.secrets.find(({ rotationId }) => rotationId === rotation_id)!;
          const signing_secret = this.secrets.open(place, sealed);
          return JSON.stringify({
            webhook_endpoint: { ...endpointJson(endpoint, failures), signing_secret },
          });
        },
      },
    });
  }
}
