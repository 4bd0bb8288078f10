import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type Config } from '../../../platform/config/config.js';
import { COUNTRY_OF, type CountryOf } from './ports.js';

/** `compliance_notice` (contract.md 25.5): what is configured for the country of a caller's address. */
@Injectable()
export class ComplianceNotices {
  constructor(
    @Inject(CONFIG) private readonly config: Pick<Config, 'exchangeNotices'>,
    @Inject(COUNTRY_OF) private readonly countries: CountryOf,
  ) {}

  /** Null for most addresses, and for all of this machine and of private networks. Never throws. */
  of(address: string): string | null {
    const { exchangeNotices } = this.config;
    if (exchangeNotices === null) return null;
    const country = this.countries.of(address);
    return country === null ? null : (exchangeNotices.get(country) ?? null);
  }
}
