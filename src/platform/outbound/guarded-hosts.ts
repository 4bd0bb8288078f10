import { isIP } from 'node:net';
import { lookup, Resolver } from 'node:dns/promises';
import { readFileSync } from 'node:fs';
import { Logger } from '@nestjs/common';
import { addressRefusal, type AddressPolicy } from './address-verdict.js';
import { RequestFailure, readCode, describe } from './request-failure.js';
import { withTimeout } from '../timeout.js';

/** The timeout of the lookup in {@link GuardedHosts.refusal}. Every connect resolves the name again. */
const LOOKUP_MS = 2000;
const MAX_URL_LENGTH = 2048;
/** A DNS response may hold thousands, and checking them all would cost everyone else some 100 ms. */
const MAX_ADDRESSES = 512;

/** The words in each refusal that names a resolved address, which may change later. */
export const RESOLVES_TO = ' resolves to ';
export const HTTPS_ONLY = 'must be an https:// URL';
/** Labels of letters, digits, hyphens and underscores; one dot may end the name. */
const HOST_NAME = /^(?=.{1,254}$)[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63})*\.?$/;
/** RFC 6762, 7686, 8375 and ICANN's .internal: names that can never be public. */
const INTERNAL_NAME = /\.(internal|local|home\.arpa|onion)$/;

/** Hosts that an operator chose: at any address, over http too. */
export class OperatorHosts {
  protected readonly names = new HostNames();

  get plainHttp(): boolean {
    return true;
  }

  /** Addresses of a host that may be connected to, in the order to try. Rejects with a {@link RequestFailure}. */
  async resolve(host: string, timeoutMs: number): Promise<readonly string[]> {
    return isIP(host) ? [host] : this.names.addresses(host, timeoutMs);
  }
}

/**
 * Which hosts of strangers may be reached: the one verdict for a URL at registration and for every connect. Names are
 * resolved and every A and AAAA record is checked; one that is not allowed refuses the name.
 */
export class GuardedHosts extends OperatorHosts {
  private readonly logger = new Logger(GuardedHosts.name);

  constructor(private readonly policy: AddressPolicy) {
    super();
  }

  override get plainHttp(): boolean {
    return this.policy.loopback;
  }

  /** Returns the reason against calling a URL, such as `must be an https:// URL`, or null. */
  async refusal(text: string): Promise<string | null> {
    const url = URL.canParse(text) ? new URL(text) : null;
    const malformed = this.malformed(text, url);
    if (malformed !== null || url === null) return malformed;
    try {
      await this.resolve(url.hostname.replace(/^\[(.*)\]$/, '$1'), LOOKUP_MS);
      return null;
    } catch (error) {
      // A name that does not resolve now may do so later, and is checked then: every connect resolves it again.
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
    // Our resolver may know names that the world does not: where they lead is for the operator alone.
    this.logger.warn({ msg: 'a host resolves to an address that is refused', host, address, refusal });
    const where = `${host}${RESOLVES_TO}an address that is not public`;
    throw new RequestFailure('address', `must be a public address: ${where}`);
  }

  /** Refuses a name that cannot be public before it is resolved, where only public addresses are allowed. */
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

/** One query to one DNS server; the second try waits longer (c-ares doubles it). */
const QUERIES = { timeout: 2000, tries: 2 };
/** The time that the slower address family gets after the other has resolved. */
const OTHER_FAMILY_MS = 1000;
const LOOPBACK = ['127.0.0.1', '::1'];

/** Codes of c-ares in terms of a name. An unchanged ECONNREFUSED would describe the host itself. */
const MEANT: Readonly<Record<string, string>> = { ECONNREFUSED: 'EAI_AGAIN', EBADRESP: 'ESERVFAIL' };

/** Addresses of names. Nothing is cached: requests for a name whose lookup is in flight share it. ADR 76. */
export class HostNames {
  private readonly lookups = new Map<string, Promise<readonly string[]>>();
  /** getaddrinfo holds one of libuv's threads until it is done; the others serve the names of our own servers. */
  private thread: Promise<unknown> = Promise.resolve();

  constructor(private readonly hostsFile = '/etc/hosts') {}

  /** Every A and AAAA record of a name in lower case. Rejects with a {@link RequestFailure} `dns`. */
  async addresses(hostname: string, timeoutMs: number): Promise<readonly string[]> {
    const name = hostname.replace(/\.$/, '');
    // RFC 6761: never resolved.
    if (name === 'localhost' || name.endsWith('.localhost')) return LOOPBACK;
    const listed = this.listed(name);
    if (listed.length > 0) return listed;
    const key = `${name} ${timeoutMs}`;
    const found = this.lookups.get(key) ?? this.resolve(name, timeoutMs);
    this.lookups.set(key, found);
    return found.finally(() => this.lookups.delete(key));
  }

  /** Read at each lookup and synchronously: a page of memory, while asynchronous reads wait for getaddrinfo's threads. */
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

  private async resolve(name: string, timeoutMs: number): Promise<readonly string[]> {
    try {
      return await (name.includes('.') ? queryDns(name, timeoutMs) : this.askSystem(name, timeoutMs));
    } catch (error) {
      const code = readCode(error);
      throw new RequestFailure('dns', describe({ code: MEANT[code] ?? code }));
    }
  }

  /** A name without a dot, such as a service of a compose file, needs the search list of the system. */
  private askSystem(name: string, timeoutMs: number): Promise<readonly string[]> {
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

/** Queries A and AAAA over separate sockets (a fresh port against forged responses) and not on a thread. */
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
 * One family is enough when the other has no addresses, fails or is late. Only addresses that were seen are checked and
 * connected to, so withholding a record gains nothing. The families alternate, IPv4 first.
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
