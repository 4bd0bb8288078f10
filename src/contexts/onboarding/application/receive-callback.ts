import { Inject, Logger } from '@nestjs/common';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { CLOCK, type Clock } from '../../../kernel/clock.js';
import { identityCallbacks } from '../metrics.js';
import { Verifications } from '../store/verifications.js';
import { CALLBACK_READER, type CallbackHeaders, type CallbackReader, type CallbackRefusal } from './ports.js';
import { onboardingConfig, type OnboardingConfig } from '../settings.js';

/** How far the provider's clock may be ahead of ours. */
const AHEAD_MS = 300_000;

/** `accepted`: the verification is polled now. `expired`: signed too long ago, or in the future. */
export type CallbackOutcome = 'accepted' | 'unknown_check' | 'unknown_provider' | CallbackRefusal | 'expired';

/**
 * A callback of an identity provider causes a poll of the provider, and its content is not trusted (contract.md 18.22):
 * late, repeated or contradictory callbacks change nothing.
 */
export class ReceiveCallback extends Command<CallbackOutcome> {
  constructor(
    readonly provider: string,
    readonly headers: CallbackHeaders,
    readonly body: Buffer,
  ) {
    super();
  }
}

@CommandHandler(ReceiveCallback)
export class ReceiveCallbackHandler implements ICommandHandler<ReceiveCallback> {
  private readonly logger = new Logger(ReceiveCallback.name);

  constructor(
    @Inject(CALLBACK_READER) private readonly reader: CallbackReader | null,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(onboardingConfig.KEY) private readonly config: OnboardingConfig,
    private readonly verifications: Verifications,
  ) {}

  async execute({ provider, headers, body }: ReceiveCallback): Promise<CallbackOutcome> {
    const outcome = await this.receive(provider, headers, body);
    identityCallbacks.inc({ outcome });
    return outcome;
  }

  private async receive(provider: string, headers: CallbackHeaders, body: Buffer): Promise<CallbackOutcome> {
    if (this.reader?.provider !== provider) return 'unknown_provider';
    const read = await this.reader.read(headers, body);
    if (typeof read === 'string') return read;
    const ageMs = this.clock.now().getTime() - read.at.getTime();
    if (ageMs > this.config.identityCallbackMaxAgeSeconds * 1000 || ageMs < -AHEAD_MS) return 'expired';
    if (await this.verifications.pollNow(provider, read.check)) return 'accepted';
    this.logger.log({ msg: 'identity callback ignored: unknown check', provider, check: read.check });
    return 'unknown_check';
  }
}
