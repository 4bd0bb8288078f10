import { lookup, Resolver } from 'node:dns/promises';
import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { withTimeout } from '../timeout.js';
import { codeOf, describe, RequestFailure } from './request-failure.js';

/** One query to one DNS server; the second try waits longer (c-ares doubles it). */
const QUERIES = { timeout: 2000, tries: 2 };
/** How long the slower family may take after the other has resolved. */
const OTHER_FAMILY_MS = 1000;
const LOOPBACK = ['127.0.0.1', '::1'];

/** What some codes of c-ares mean for a name; ECONNREFUSED, left as it is, would speak of the host itself. */
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
    // RFC 6761: never looked up.
    if (name === 'localhost' || name.endsWith('.localhost')) return LOOPBACK;
    const listed = this.listed(name);
    if (listed.length > 0) return listed;
    const key = `${name} ${timeoutMs}`;
    const found = this.lookups.get(key) ?? this.lookUp(name, timeoutMs);
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

  private async lookUp(name: string, timeoutMs: number): Promise<readonly string[]> {
    try {
      return await (name.includes('.') ? queryDns(name, timeoutMs) : this.askSystem(name, timeoutMs));
    } catch (error) {
      const code = codeOf(error);
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

/** Queries A and AAAA over sockets of its own (a fresh port against forged responses) and not on a thread. */
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
 * connected to, so whoever withholds a record gains nothing. The families alternate, IPv4 first.
 */
async function joined(...families: readonly Promise<readonly string[]>[]): Promise<readonly string[]> {
  await Promise.any(families).catch(({ errors }: AggregateError) => {
    throw errors.find((error) => codeOf(error) !== 'ENODATA') ?? errors[0];
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
