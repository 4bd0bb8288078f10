import type { Socket } from 'node:net';
import type { buildConnector } from 'undici';
import { AttemptFailure, describe } from './attempt-failure.js';
import type { Stage } from './exchange.js';
import { AddressRefused, HTTPS_ONLY, type ReceiverAddresses } from './receiver-addresses.js';
import { openSocket } from './receiver-socket.js';

/** Of a name with hundreds of addresses, so many are tried. */
const ADDRESSES_TRIED = 4;
/** The parts of the time that the look-up, and each address but the last, may take, so that some is left for the rest. */
const NAME_SHARE = 1 / 3;
const ADDRESS_SHARE = 1 / 6;

/**
 * Opens connections to addresses that were judged, never to a name: it cannot change its mind in between. The caller's
 * signal ends whatever is under way; what is left then is nothing.
 */
export class GuardedConnector {
  constructor(
    private readonly addresses: ReceiverAddresses,
    private readonly timeoutMs: number,
  ) {}

  /** Rejects with an AttemptFailure: `address`, `dns`, `connect` or `tls`. */
  async open(
    { hostname, protocol, port }: buildConnector.Options,
    signal: AbortSignal,
    doing: (stage: Stage) => void,
  ): Promise<Socket> {
    doing('resolving the name');
    const addresses = await this.resolved(hostname, signal);
    doing('connecting');
    const secure = protocol === 'https:';
    // Registered in sandbox mode, perhaps, in a database that serves production now.
    if (!secure && !this.addresses.plainHttp) throw new AttemptFailure('address', HTTPS_ONLY);
    const target = { host: hostname, port: Number(port) || (secure ? 443 : 80), secure };
    let failure: unknown = new AttemptFailure('dns', 'the name has no addresses');
    for (const [index, address] of addresses.entries()) {
      if (signal.aborted) break;
      const last = index === addresses.length - 1;
      try {
        return await this.within(last ? null : this.timeoutMs * ADDRESS_SHARE, signal, (slice) =>
          openSocket({ ...target, address }, slice),
        );
      } catch (error) {
        failure = error;
      }
    }
    throw failure;
  }

  private async resolved(hostname: string, signal: AbortSignal): Promise<readonly string[]> {
    try {
      const found = await this.within(this.timeoutMs * NAME_SHARE, signal, (slice) =>
        this.addresses.resolve(hostname, slice),
      );
      return found.slice(0, ADDRESSES_TRIED);
    } catch (error) {
      if (error instanceof AddressRefused) throw new AttemptFailure('address', error.message);
      throw new AttemptFailure('dns', describe(error));
    }
  }

  /** Runs `work` with a signal that aborts with the caller's, or after so many milliseconds when that is no null. */
  private async within<T>(
    ms: number | null,
    signal: AbortSignal,
    work: (slice: AbortSignal) => Promise<T>,
  ): Promise<T> {
    if (ms === null) return work(signal);
    const slice = new AbortController();
    const giveUp = (): void => slice.abort();
    const timer = setTimeout(giveUp, ms);
    signal.addEventListener('abort', giveUp, { once: true });
    if (signal.aborted) giveUp();
    try {
      return await work(slice.signal);
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', giveUp);
    }
  }
}
