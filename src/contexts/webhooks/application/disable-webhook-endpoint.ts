import { Inject } from '@nestjs/common';
import { Command, type ICommandHandler } from '@nestjs/cqrs';
import { CommandHandler } from '../../../platform/commands.js';
import { COMMAND_LOOP, type CommandLoop } from '../../../platform/event-store/command-loop.js';
import { CLOCK, timestamp, type Clock } from '../../../kernel/clock.js';
import { Log } from '../../../platform/telemetry/logger.js';
import { endpointsDisabled } from '../metrics.js';
import { disableFailing, disableGone, webhookEndpoints } from '../domain/webhook-endpoints.js';

/** What led to it. */
export type DisableReason =
  /** The receiver responded to this delivery with 410, to an attempt that went to this URL and began then (ISO 8601). */
  | {
      readonly cause: 'gone';
      readonly deliveryId: string;
      readonly attemptedUrl: string;
      readonly attemptedAt: string;
    }
  /** It kept failing; the oldest failure that counted began then (ISO 8601). */
  | { readonly cause: 'failing'; readonly failingSince: string };

/** The service disables an endpoint on its own account; one that is disabled or deleted already stays as it is. */
export class DisableWebhookEndpoint extends Command<void> {
  constructor(
    readonly merchantId: string,
    readonly endpointId: string,
    readonly reason: DisableReason,
  ) {
    super();
  }
}

@CommandHandler(DisableWebhookEndpoint)
export class DisableWebhookEndpointHandler implements ICommandHandler<DisableWebhookEndpoint> {
  constructor(
    @Inject(COMMAND_LOOP) private readonly loop: CommandLoop,
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly log: Log,
  ) {}

  async execute({ merchantId, endpointId, reason }: DisableWebhookEndpoint): Promise<void> {
    const at = timestamp(this.clock);
    const place = { endpoint_id: endpointId, merchant_id: merchantId };
    const { events } = await this.loop.execute(
      webhookEndpoints,
      merchantId,
      (state) =>
        reason.cause === 'gone'
          ? disableGone(
              { ...place, attempted_url: reason.attemptedUrl, attempted_at: reason.attemptedAt, at },
              state,
            )
          : disableFailing({ ...place, failing_since: reason.failingSince, at }, state),
      {
        metadata: {
          actor: 'webhooks.disabling',
          merchant_id: merchantId,
          ...(reason.cause === 'gone' ? { causation_id: reason.deliveryId } : {}),
        },
      },
    );
    if (events.length === 0) return;
    endpointsDisabled.inc({ cause: reason.cause });
    const why =
      reason.cause === 'gone' ? { delivery_id: reason.deliveryId } : { failing_since: reason.failingSince };
    this.log.wideLog('webhook endpoint disabled', { ...place, cause: reason.cause, ...why }, 'warn');
  }
}
