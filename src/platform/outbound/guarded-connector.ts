import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { buildConnector } from 'undici';
import type { Stage } from './exchange.js';
import { AddressRefused, HTTPS_ONLY, type Hosts } from './guarded-hosts.js';
import { describe, RequestFailure } from './request-failure.js';

/** Of a name with hundreds of addresses, so many are tried. */
const ADDRESSES_TRIED = 4;
/** The parts of the time that the look-up, and each address but the last, may take, so that some is left for the rest. */
const NAME_SHARE = 1 / 3;
const ADDRESS_SHARE = 1 / 6;

/** Where a connection goes: to an address that was judged; the name is for the certificate alone. */
interface Target {
  readonly address: string;
  readonly port: number;
  /** The host of the URL. */
  readonly host: string;
  readonly secure: boolean;
}

/**
 * Opens connections to addresses that were judged, never to a name: it cannot change its mind in between. The caller's
 * signal ends whatever is under way; what is left then is nothing.
 */
export class GuardedConnector {
  constructor(
    private readonly hosts: Hosts,
    private readonly timeoutMs: number,
  ) {}

  /** Rejects with a {@link RequestFailure}: `address`, `dns`, `connect` or `tls`. */
  async open(
    { hostname, protocol, port }: buildConnector.Options,
    signal: AbortSignal,
    doing: (stage: Stage) => void,
  ): Promise<Socket> {
    doing('resolving the name');
    const addresses = await this.resolved(hostname, signal);
    doing('connecting');
    const secure = protocol === 'https:';
    // Taken in sandbox mode, perhaps, into a database that serves production now.
    if (!secure && !this.hosts.plainHttp) throw new RequestFailure('address', HTTPS_ONLY);
    const target = { host: hostname, port: Number(port) || (secure ? 443 : 80), secure };
    let failure: unknown = new RequestFailure('dns', 'the name has no addresses');
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
        this.hosts.resolve(hostname, slice),
      );
      return found.slice(0, ADDRESSES_TRIED);
    } catch (error) {
      if (error instanceof AddressRefused) throw new RequestFailure('address', error.message);
      throw new RequestFailure('dns', describe(error));
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

/**
 * Opens a connection. Rejects with a {@link RequestFailure}: `connect` until TCP stands, `tls` from then on. Whenever it
 * rejects, and when the signal is aborted, nothing of the connection is left.
 */
function openSocket(target: Target, signal: AbortSignal): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = begin(target);
    let phase: 'connect' | 'tls' = 'connect';
    const give = (): void => void socket.destroy(new RequestFailure(phase, 'given up'));
    signal.addEventListener('abort', give, { once: true });
    if (signal.aborted) give();
    socket.setNoDelay(true);
    socket.on('connect', () => (phase = 'tls'));
    socket.once(target.secure ? 'secureConnect' : 'connect', () => {
      signal.removeEventListener('abort', give);
      resolve(socket);
    });
    // Stays for good: an error that nobody hears would end the process.
    socket.on('error', (error) => {
      signal.removeEventListener('abort', give);
      reject(new RequestFailure(phase, describe(error)));
    });
    socket.once('close', () => reject(new RequestFailure(phase, 'the connection was closed')));
  });
}

/**
 * TLS sessions are not taken up again: a resumed one is not checked against its certificate. Every new connection
 * verifies chain, dates and name.
 */
function begin({ address, port, host, secure }: Target): Socket {
  const to = { host: address, port };
  if (!secure) return connectTcp(to);
  const name = host.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '');
  return connectTls({ ...to, ALPNProtocols: ['http/1.1'], ...(isIP(name) ? {} : { servername: name }) });
}
