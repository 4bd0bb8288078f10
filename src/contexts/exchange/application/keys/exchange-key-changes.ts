import { Inject, Injectable } from '@nestjs/common';
import { COMMAND_LOOP, type CommandLoop } from '../../../../platform/event-store/command-loop.js';
import { ViewProgress } from '../../../../platform/projections/view-progress.js';
import { exchangeKey, type ExchangeKey, type ExchangeKeyEvent } from '../../domain/exchange-key.js';
import { EXCHANGE_KEYS_VIEW } from '../../views/keys.js';

/** What every command on a key gives. */
export interface ExchangeKeyChanged {
  /** Whether `exchange.keys` shows the change; false when no worker brought it there in time, though it will. */
  readonly visible: boolean;
}

/** Changes a key and waits, bounded, until the view shows it: a new secret can be used as soon as it is shown. */
@Injectable()
export class ExchangeKeyChanges {
  constructor(
    @Inject(COMMAND_LOOP) private readonly loop: CommandLoop,
    private readonly progress: ViewProgress,
  ) {}

  async change(
    keyId: string,
    decide: (state: ExchangeKey) => ExchangeKeyEvent[],
  ): Promise<ExchangeKeyChanged> {
    const { position } = await this.loop.execute(exchangeKey, keyId, decide, {
      metadata: { actor: 'operator' },
    });
    return { visible: await this.progress.reached(EXCHANGE_KEYS_VIEW, position) };
  }
}
