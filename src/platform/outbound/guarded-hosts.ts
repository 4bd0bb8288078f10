import { isIP } from 'node:net';
import { lookup, Resolver } from 'node:dns/promises';
import { readFileSync } from 'node:fs';
import { Logger } from '@nestjs/common';
import { addressRefusal, type AddressPolicy } from './address-verdict.js';
import { RequestFailure, readCode, describe } from './request-failure.js';
import { withTimeout } from '../timeout.js';

const LOOKUP_MS = 2000;
const MAX_URL_LENGTH = 2048;
/** A DNS response may contain thousands of addresses; checking all would delay other requests by 100 ms. */
const MAX_ADDRESSES = 512;

/** The text in every refusal that depends on DNS. A change of the DNS records may end the refusal. */
export const RESOLVES_TO = ' resolves to ';
export const HTTPS_ONLY = 'must be an https:// URL';
const HOST_NAME = /^(?=.{1,254}$)[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63})*\.?$/;
/** Names that are never public: RFC 6762, 7686, 8375 and ICANN's .internal. */
const INTERNAL_NAME = /\.(internal|local|home\.arpa|onion)$/;

const QUERIES = { timeout: 2000, tries: 2 };
/** The time for the slower address family once the other has resolved. */
const OTHER_FAMILY_MS = 1000;
const LOOPBACK = ['127.0.0.1', '::1'];

/** The replacements for c-ares error codes that would seem to be failures of the host itself. */
const MEANT: Readonly<Record<string, string>> = { ECONNREFUSED: 'EAI_AGAIN', EBADRESP: 'ESERVFAIL' };

/** Resolves the hosts of operators, which may have any address (ADR 76). Concurrent lookups are shared. */
export class OperatorHosts {
  private readonly lookups = new Map<string, Promise<readonly string[]>>();
  /** The queue of getaddrinfo calls, so that they block only one of libuv's threads. */
  private thread: Promise<unknown> = Promise.resolve();

  constructor(private readonly hostsFile = '/etc/hosts') {}

  get plainHttp(): boolean {
    return true;
  }

  /** Returns the permitted addresses of a lower-case host, in the order of attempts. */
  async resolve(host: string, timeoutMs: number): Promise<readonly string[]> {
    if (isIP(host)) return [host];
    const name = host.replace(/\.$/, '');
    // RFC 6761: loopback, never resolved.
    if (name === 'localhost' || name.endsWith('.localhost')) return LOOPBACK;
    const listed = this.listed(name);
    if (listed.length > 0) return listed;
    const key = `${name} ${timeoutMs}`;
    const found = this.lookups.get(key) ?? this.findAddresses(name, timeoutMs);
    this.lookups.set(key, found);
    return found.finally(() => this.lookups.delete(key));
  }

  /** Returns a name's addresses in the hosts file. The read avoids libuv's threads, which may be blocked. */
  private listed(name: string): readonly string[] {
    try {
      return readFileSync(this.hostsFile, 'utf8')
        .split('\n')
        .flatMap((line) => {
          const [address = '', ...names] = line.toLowerCase().replace(/#.*/, '').trim().split(/\s+/);
          return isIP(address) > 0 && names.some((each) => each.replace(/\.$/, '') === name) ? [address] : [];
        });
    } catch {
      return [];
    }
  }

  private async findAddresses(name: string, timeoutMs: number): Promise<readonly string[]> {
    try {
      return await (name.includes('.') ? queryDns(name, timeoutMs) : this.querySystem(name, timeoutMs));
    } catch (error) {
      const code = readCode(error);
      throw new RequestFailure('dns', describe({ code: MEANT[code] ?? code }));
    }
  }

  /** Resolves a name without a dot, such as a compose service, by the system's search list. */
  private querySystem(name: string, timeoutMs: number): Promise<readonly string[]> {
    let isLate = false;
    const found = this.thread.then(() => (isLate ? [] : lookup(name, { all: true })));
    this.thread = found.catch(() => undefined);
    const addresses = found.then((records) => records.map(({ address }) => address));
    return withTimeout(timeoutMs, addresses, () => {
      isLate = true;
      throw noResponse();
    });
  }
}

/** Checks hosts of merchants at registration and at every connect. One refused address refuses the name. */
export class GuardedHosts extends OperatorHosts {
  private readonly logger = new Logger(GuardedHosts.name);

  constructor(private readonly policy: AddressPolicy) {
    super();
  }

  override get plainHttp(): boolean {
    return this.policy.loopback;
  }

  /** Returns the reason for refusing a URL, such as `must be an https:// URL`, or null. */
  async refusal(text: string): Promise<string | null> {
    const url = URL.canParse(text) ? new URL(text) : null;
    const malformed = this.malformed(text, url);
    if (malformed !== null || url === null) return malformed;
    try {
      await this.resolve(url.hostname.replace(/^\[(.*)\]$/, '$1'), LOOKUP_MS);
      return null;
    } catch (error) {
      // A name that does not resolve may do so later: every connect resolves and checks it again.
      return error instanceof RequestFailure && error.phase === 'address' ? error.message : null;
    }
  }

  override async resolve(host: string, timeoutMs: number): Promise<readonly string[]> {
    const refusal = isIP(host) ? null : this.nameRefusal(host);
    if (refusal !== null) throw new RequestFailure('address', refusal);
    const addresses = await super.resolve(host, timeoutMs);
    if (addresses.length > MAX_ADDRESSES)
      throw new RequestFailure('address', `${host}${RESOLVES_TO}more than ${MAX_ADDRESSES} addresses`);
    for (const address of addresses) this.checkAddress(host, address);
    return addresses;
  }

  private checkAddress(host: string, address: string): void {
    const refusal = addressRefusal(address, this.policy);
    if (refusal === null) return;
    if (isIP(host)) throw new RequestFailure('address', `must be a public address: ${address} ${refusal}`);
    // The operator's DNS may resolve internal names, so that only the log contains their addresses.
    this.logger.warn({ msg: 'a host resolves to an address that is refused', host, address, refusal });
    const where = `${host}${RESOLVES_TO}an address that is not public`;
    throw new RequestFailure('address', `must be a public address: ${where}`);
  }

  /** Returns the reason for refusing a name that cannot be public, before it is resolved, or null. */
  private nameRefusal(host: string): string | null {
    if (!HOST_NAME.test(host)) return 'must name a valid host';
    const name = host.replace(/\.$/, '');
    if (this.policy.loopback || this.policy.allowed.length > 0 || name === 'localhost') return null;
    if (!name.includes('.')) return `must be a public address: ${name} is not a full domain name`;
    return INTERNAL_NAME.test(name) ? `must be a public address: ${name} is an internal name` : null;
  }

  private malformed(text: string, url: URL | null): string | null {
    if (url === null) return 'must be a valid URL';
    if (text.length > MAX_URL_LENGTH) return `must be at most ${MAX_URL_LENGTH} characters`;
    if (url.protocol !== 'https:' && !(this.plainHttp && url.protocol === 'http:')) return HTTPS_ONLY;
    if (url.username !== '' || url.password !== '') return 'must not contain a user name or password';
    if (url.hostname === '') return 'must name a host';
    return null;
  }
}

/** Queries DNS without libuv's threads. New ports for each query make forged responses harder. */
async function queryDns(name: string, timeoutMs: number): Promise<readonly string[]> {
  const resolver = new Resolver(QUERIES);
  try {
    const families = [resolver.resolve4(name), resolver.resolve6(name)] as const;
    return await withTimeout(timeoutMs, joined(...families), () => {
      throw noResponse();
    });
  } finally {
    resolver.cancel();
  }
}

/**
 * Merges both address families alternately, IPv4 first. One family is enough if the other is empty or late or
 * fails. An attacker gains nothing by withholding a record, because every address that is used is checked.
 */
async function joined(...families: readonly Promise<readonly string[]>[]): Promise<readonly string[]> {
  await Promise.any(families).catch(({ errors }: AggregateError) => {
    throw errors.find((error) => readCode(error) !== 'ENODATA') ?? errors[0];
  });
  const none = (): readonly string[] => [];
  const found = await Promise.all(
    families.map((family) => withTimeout(OTHER_FAMILY_MS, family.catch(none), none)),
  );
  const length = Math.max(...found.map((addresses) => addresses.length));
  return Array.from({ length }, (_, index) => found.flatMap((addresses) => addresses[index] ?? [])).flat();
}

function noResponse(): Error {
  return Object.assign(new Error(), { code: 'ETIMEOUT' });
}
