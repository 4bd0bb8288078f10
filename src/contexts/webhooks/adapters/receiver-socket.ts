import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { AttemptFailure, describe } from './attempt-failure.js';

/** Where a connection goes: to an address that was judged; the name is for the certificate alone. */
export interface SocketTarget {
  readonly address: string;
  readonly port: number;
  /** The host of the URL. */
  readonly host: string;
  readonly secure: boolean;
}

/**
 * Opens a connection. Rejects with an {@link AttemptFailure}: `connect` until TCP stands, `tls` from then on. Whenever it
 * rejects, and when the signal is aborted, nothing of the connection is left.
 */
export function openSocket(target: SocketTarget, signal: AbortSignal): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = begin(target);
    let phase: 'connect' | 'tls' = 'connect';
    const give = (): void => void socket.destroy(new AttemptFailure(phase, 'given up'));
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
      reject(new AttemptFailure(phase, describe(error)));
    });
    socket.once('close', () => reject(new AttemptFailure(phase, 'the connection was closed')));
  });
}

/**
 * TLS sessions are not taken up again: a resumed one is not checked against its certificate. Every new connection
 * verifies chain, dates and name.
 */
function begin({ address, port, host, secure }: SocketTarget): Socket {
  const to = { host: address, port };
  if (!secure) return connectTcp(to);
  const name = host.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '');
  return connectTls({ ...to, ALPNProtocols: ['http/1.1'], ...(isIP(name) ? {} : { servername: name }) });
}
