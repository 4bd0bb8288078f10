import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type Config } from '../../../platform/config/config.js';
import { onrampUrl, SANDBOX_ONRAMPS, takes, type Onramp, type Purchase } from '../domain/onramps.js';

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

  get ids(): readonly string[] {
    return this.all.map(({ id }) => id);
  }

  /** Those that take the currency and the amount, in the order of the configuration. `only`: ids to narrow them to, of which unknown ones name nobody; null for all. */
  for(purchase: Purchase, only: readonly string[] | null): readonly OnrampShown[] {
    return this.all
      .filter((onramp) => (only === null || only.includes(onramp.id)) && takes(onramp, purchase))
      .map((onramp) => ({ ...onramp, url: onrampUrl(onramp, purchase) }));
  }
}
