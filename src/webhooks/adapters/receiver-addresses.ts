import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type Config } from '../../platform/config/config.js';
import type { ReceiverUrlGuard } from '../application/ports.js';
import { addressRefusal, parseCidrs, type AddressPolicy } from './address-verdict.js';

/** How long a registration waits for a name to resolve; every connect resolves it again. */
const REGISTRATION_LOOKUP_MS = 2000;
const MAX_URL_LENGTH = 2048;

/** A name or address that may not be connected to. The message is for the merchant. */
export class AddressRefused extends Error {
  override readonly name = 'AddressRefused';
}

/**
 * Which receivers may be reached: the one verdict for registration, PATCH and every connect. Names are resolved and
 * every A and AAAA record is judged; one that is not allowed refuses the name.
 */
@Injectable()
export class ReceiverAddresses implements ReceiverUrlGuard {
  private readonly policy: AddressPolicy;
  private readonly plainHttp: boolean;

  constructor(@Inject(CONFIG) config: Pick<Config, 'mode' | 'webhookAllowCidrs'>) {
    this.plainHttp = config.mode === 'sandbox';
    this.policy = { loopback: this.plainHttp, allowed: parseCidrs(config.webhookAllowCidrs) };
  }

  async refusal(text: string): Promise<string | null> {
    const url = URL.canParse(text) ? new URL(text) : null;
    const malformed = this.malformed(text, url);
    if (malformed !== null || url === null) return malformed;
    try {
      const timeout = AbortSignal.timeout(REGISTRATION_LOOKUP_MS);
      await Promise.race([this.resolve(url.hostname), whenAborted(timeout)]);
      return null;
    } catch (error) {
      // A name that does not resolve now may do so later, and is judged then: every connect asks again.
      return error instanceof AddressRefused ? error.message : null;
    }
  }

  /** Addresses of a host that may be connected to, in the order to try. Rejects with {@link AddressRefused} or the resolver's error. */
  async resolve(hostname: string): Promise<readonly string[]> {
    const host = hostname.replace(/^\[(.*)\]$/, '$1');
    const addresses = isIP(host) ? [host] : (await lookup(host, { all: true })).map((each) => each.address);
    for (const address of addresses) {
      const refusal = addressRefusal(address, this.policy);
      if (refusal !== null) {
        throw new AddressRefused(
          isIP(host)
            ? `must be a public address: ${address} ${refusal}`
            : `must be a public address: ${host} resolves to ${address}, which ${refusal}`,
        );
      }
    }
    return addresses;
  }

  private malformed(text: string, url: URL | null): string | null {
    if (url === null) return 'must be a valid URL';
    if (text.length > MAX_URL_LENGTH) return `must be at most ${MAX_URL_LENGTH} characters`;
    if (url.protocol !== 'https:' && !(this.plainHttp && url.protocol === 'http:'))
      return 'must be an https:// URL';
    if (url.username !== '' || url.password !== '') return 'must not contain a user name or password';
    if (url.hostname === '') return 'must name a host';
    return null;
  }
}

function whenAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
  });
}
