import { isIP } from 'node:net';
import type { Log } from '../telemetry/logger.js';
import { addressRefusal, type AddressPolicy } from './address-verdict.js';
import { HostNames } from './host-names.js';

/** How long {@link GuardedHosts.refusal} waits for a name to resolve; every connect resolves it again. */
const LOOKUP_MS = 2000;
const MAX_URL_LENGTH = 2048;
/** A DNS reply may hold thousands, and judging them all would cost everyone else some 100 ms. */
const MAX_ADDRESSES = 512;

export const HTTPS_ONLY = 'must be an https:// URL';
/** Labels of letters, digits, hyphens and underscores; one dot may end the name. */
const HOST_NAME = /^(?=.{1,254}$)[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63})*\.?$/;
/** RFC 6762, 7686, 8375 and ICANN's .internal: names that can never be public. */
const INTERNAL_NAME = /\.(internal|local|home\.arpa|onion)$/;

/** A name or address that may not be connected to. The message is for whoever chose it. */
export class AddressRefused extends Error {
  override readonly name = 'AddressRefused';
}

/** Where a client may connect to. */
export interface Hosts {
  /** Whether http:// is allowed. */
  readonly plainHttp: boolean;
  /**
   * Addresses of a host that may be connected to, in the order to try. Rejects with {@link AddressRefused}, or with
   * NameUnresolved, also when the signal aborts.
   */
  resolve(hostname: string, signal: AbortSignal): Promise<readonly string[]>;
}

/** Hosts that an operator chose: at any address, over http too. */
export class OperatorHosts implements Hosts {
  readonly plainHttp = true;
  private readonly names = new HostNames();

  async resolve(hostname: string, signal: AbortSignal): Promise<readonly string[]> {
    const host = withoutBrackets(hostname);
    return isIP(host) ? [host] : this.names.addresses(host, signal);
  }
}

/**
 * Which hosts of strangers may be reached: the one verdict for a URL that is taken and for every connect. Names are
 * resolved and every A and AAAA record is judged; one that is not allowed refuses the name.
 */
export class GuardedHosts implements Hosts {
  private readonly names = new HostNames();

  constructor(
    private readonly policy: AddressPolicy,
    private readonly log: Pick<Log, 'write'> | null = null,
  ) {}

  get plainHttp(): boolean {
    return this.policy.loopback;
  }

  /** Why a URL may not be called, such as `must be an https:// URL`; null when it may. */
  async refusal(text: string): Promise<string | null> {
    const url = URL.canParse(text) ? new URL(text) : null;
    const malformed = this.malformed(text, url);
    if (malformed !== null || url === null) return malformed;
    try {
      await this.resolve(url.hostname, AbortSignal.timeout(LOOKUP_MS));
      return null;
    } catch (error) {
      // A name that does not resolve now may do so later, and is judged then: every connect asks again.
      return error instanceof AddressRefused ? error.message : null;
    }
  }

  async resolve(hostname: string, signal: AbortSignal): Promise<readonly string[]> {
    const host = withoutBrackets(hostname);
    if (isIP(host)) return this.judged(host, [host]);
    const refusal = this.nameRefusal(host);
    if (refusal !== null) throw new AddressRefused(refusal);
    return this.judged(host, await this.names.addresses(host, signal));
  }

  private judged(host: string, addresses: readonly string[]): readonly string[] {
    if (addresses.length > MAX_ADDRESSES)
      throw new AddressRefused(`${host} resolves to more than ${MAX_ADDRESSES} addresses`);
    for (const address of addresses) {
      const refusal = addressRefusal(address, this.policy);
      if (refusal === null) continue;
      if (isIP(host)) throw new AddressRefused(`must be a public address: ${address} ${refusal}`);
      // Our resolver may know names that the world does not: where they lead is for the operator alone.
      this.log?.write('warn', 'a host resolves to an address that is refused', { host, address, refusal });
      throw new AddressRefused(`must be a public address: ${host} resolves to an address that is not public`);
    }
    return addresses;
  }

  /** Where nothing but public addresses is allowed, a name that cannot be public is not even looked up. */
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

/** `::1` of `[::1]`, as the host of a URL is written. */
function withoutBrackets(hostname: string): string {
  return hostname.replace(/^\[(.*)\]$/, '$1');
}
