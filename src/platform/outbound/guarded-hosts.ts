import { isIP } from 'node:net';
import { Logger } from '@nestjs/common';
import { addressRefusal, type AddressPolicy } from './address-verdict.js';
import { HostNames } from './host-names.js';
import { RequestFailure } from './request-failure.js';

/** How long {@link GuardedHosts.refusal} waits for a name to resolve; every connect resolves it again. */
const LOOKUP_MS = 2000;
const MAX_URL_LENGTH = 2048;
/** A DNS response may hold thousands, and checking them all would cost everyone else some 100 ms. */
const MAX_ADDRESSES = 512;

export const HTTPS_ONLY = 'must be an https:// URL';
/** Labels of letters, digits, hyphens and underscores; one dot may end the name. */
const HOST_NAME = /^(?=.{1,254}$)[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63})*\.?$/;
/** RFC 6762, 7686, 8375 and ICANN's .internal: names that can never be public. */
const INTERNAL_NAME = /\.(internal|local|home\.arpa|onion)$/;

/** Hosts that an operator chose: at any address, over http too. */
export class OperatorHosts {
  protected readonly names = new HostNames();

  /** Whether http:// is allowed. */
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

  /** Why a URL may not be called, such as `must be an https:// URL`; null when it may. */
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
      throw new RequestFailure('address', `${host} resolves to more than ${MAX_ADDRESSES} addresses`);
    for (const address of addresses) this.checkAddress(host, address);
    return addresses;
  }

  private checkAddress(host: string, address: string): void {
    const refusal = addressRefusal(address, this.policy);
    if (refusal === null) return;
    if (isIP(host)) throw new RequestFailure('address', `must be a public address: ${address} ${refusal}`);
    // Our resolver may know names that the world does not: where they lead is for the operator alone.
    this.logger.warn({ msg: 'a host resolves to an address that is refused', host, address, refusal });
    const where = `${host} resolves to an address that is not public`;
    throw new RequestFailure('address', `must be a public address: ${where}`);
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
