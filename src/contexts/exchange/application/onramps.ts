import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type Config } from '../../../platform/config/config.js';
import { onrampUrl, SANDBOX_ONRAMPS, type Onramp, type Purchase } from '../domain/onramps.js';

/** An on-ramp as the configuration and the pay widget show it; `url` opens its shop for the purchase. */
export interface OnrampShown extends Omit<Onramp, 'url'> {
  readonly url: string;
}

/** The configured on-ramp providers (contract.md 25.3). */
@Injectable()
export class Onramps {
  private readonly all: readonly Onramp[];

  constructor(@Inject(CONFIG) { exchangeOnramps, mode }: Pick<Config, 'exchangeOnramps' | 'mode'>) {
    this.all = exchangeOnramps ?? (mode === 'sandbox' ? SANDBOX_ONRAMPS : []);
  }

  /** In the order of the configuration. `only`: ids to narrow them to, of which unknown ones name nobody; null for all. */
  for(purchase: Purchase, only: readonly string[] | null): readonly OnrampShown[] {
    return this.all
      .filter(({ id }) => only === null || only.includes(id))
      .map((onramp) => ({ ...onramp, url: onrampUrl(onramp, purchase) }));
  }
}
