import { Inject } from '@nestjs/common';
import { Command, type ICommandHandler } from '@nestjs/cqrs';
import { CommandHandler } from '../../../platform/commands.js';
import { CONFIG, type Config } from '../../../platform/config/config.js';
import { CLOCK, timestamp, type Clock } from '../../../kernel/clock.js';
import { setEmbedding, type Embedding } from '../domain/merchant.js';
import { canonicalCallbacks, canonicalOrigins } from './embedding.js';
import { MerchantChanges, type MerchantChanged } from './merchant-changes.js';

/**
 * Who may show the pages of the merchant's users in a frame, where these lead back to, and what people read for the
 * merchant; what is not named stays. Throws `not_found`, or `validation_failed` on `origins`, `callbacks` or `shown_as`.
 */
export class SetEmbedding extends Command<MerchantChanged> {
  constructor(
    readonly merchantId: string,
    readonly change: Partial<Embedding>,
  ) {
    super();
  }
}

@CommandHandler(SetEmbedding)
export class SetEmbeddingHandler implements ICommandHandler<SetEmbedding> {
  constructor(
    private readonly merchants: MerchantChanges,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(CONFIG) private readonly config: Pick<Config, 'mode'>,
  ) {}

  async execute({
    merchantId,
    change: { origins, callbacks, ...rest },
  }: SetEmbedding): Promise<MerchantChanged> {
    const change: Partial<Embedding> = {
      ...rest,
      ...(origins && { origins: canonicalOrigins(origins, this.config.mode) }),
      ...(callbacks && { callbacks: canonicalCallbacks(callbacks) }),
    };
    const at = timestamp(this.clock);
    return this.merchants.change(merchantId, (state) => setEmbedding({ change, at }, state));
  }
}
