import { Inject, Injectable } from '@nestjs/common';
import { COMMAND_LOOP, type CommandLoop } from '../../../platform/event-store/command-loop.js';
import { ViewProgress } from '../../../platform/projections/view-progress.js';
import { merchant, type Merchant, type MerchantEvent } from '../domain/merchant.js';
import { DIRECTORY_VIEW } from '../views/directory.js';

/** What every command on a merchant gives. */
export interface MerchantChanged {
  /** Whether `merchants.directory` shows the change; false when no worker brought it there in time, though it will. */
  readonly visible: boolean;
}

/** Changes a merchant and waits, bounded, until the directory shows it: a new key can be used as soon as it is shown. */
@Injectable()
export class MerchantChanges {
  constructor(
    @Inject(COMMAND_LOOP) private readonly loop: CommandLoop,
    private readonly progress: ViewProgress,
  ) {}

  async change(merchantId: string, decide: (state: Merchant) => MerchantEvent[]): Promise<MerchantChanged> {
    const { position } = await this.loop.execute(merchant, merchantId, decide, {
      metadata: { actor: 'operator' },
    });
    return { visible: await this.progress.reached(DIRECTORY_VIEW, position) };
  }
}
