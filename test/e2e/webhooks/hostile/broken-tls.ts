import type { Socket } from 'node:net';
import type { TLSSocket, TlsOptions } from 'node:tls';
import type { KeyAndCertificate } from '../../../support/http/certificate-authority.js';
import type { Certificates } from './certificates.js';
import {
  broken as brokenLater,
  responded,
  failed,
  onRequests,
  receiver,
  says,
  type Expected,
  type HostileReceiver,
} from './receiver.js';

const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok';
const HANDSHAKE_RECORD = Buffer.from('1603030100', 'hex');

/** Serves TLS with this certificate, and would return 200 if it were trusted. */
const shows = (
  name: string,
  expected: readonly Expected[],
  of: (certificates: Certificates) => KeyAndCertificate,
  options: TlsOptions = {},
): HostileReceiver =>
  receiver(name, expected, says(OK), { tls: (certificates) => ({ ...of(certificates), ...options }) });

/** Handles the bytes of a TLS client directly. */
const instead = (
  name: string,
  expected: readonly Expected[],
  behave: (socket: Socket) => void,
): HostileReceiver =>
  receiver(name, expected, (socket) => socket.once('data', () => behave(socket)), { https: true });

const untrusted = failed('tls', /^the certificate comes from an authority that is not trusted \([A-Z_]+\)$/);
/** The refusal of TLS 1.3 comes after the handshake, with or without an alert. */
const unwelcome = [
  ...failed('tls', /\(ERR_SSL_[A-Z0-9_]+\)$/),
  ...failed('send', /^the connection was (closed|reset)/),
];
const stalled = failed('timeout', /, connecting$/);
const broken = failed('tls', /\((ERR_SSL_[A-Z0-9_]+|EPROTO)\)$/);

export const BROKEN_TLS: readonly HostileReceiver[] = [
  shows('a self-signed certificate', failed('tls', /^the certificate is self-signed/), (c) => c.selfSigned),
  shows('an expired certificate', failed('tls', /^the certificate has expired/), (c) => c.expired),
  shows('a certificate of tomorrow', failed('tls', /^the certificate is not valid yet/), (c) => c.early),
  shows(
    'a certificate for another name',
    failed('tls', /^the certificate is for another name/),
    (c) => c.otherName,
  ),
  shows('a certificate of an unknown authority', untrusted, (c) => c.stranger),
  shows('TLS 1.1 at most', failed('tls', /^(the host speaks no version|TLS failed)/), (c) => c.good, {
    minVersion: 'TLSv1',
    maxVersion: 'TLSv1.1',
    ciphers: 'DEFAULT@SECLEVEL=0',
  }),
  shows('a certificate of the client is required', unwelcome, (c) => c.good, {
    requestCert: true,
    rejectUnauthorized: true,
  }),
  instead('plain text on the TLS port', failed('tls', /^the host does not speak TLS here/), (socket) =>
    socket.end(OK),
  ),
  instead('garbage instead of a handshake', broken, (socket) => socket.end(Buffer.alloc(512, 0x5a))),
  instead('a handshake of zeros', [...broken, ...stalled], (socket) =>
    socket.write(Buffer.concat([HANDSHAKE_RECORD, Buffer.alloc(256)])),
  ),
  instead('an alert instead of a handshake', broken, (socket) =>
    socket.end(Buffer.from('15030300020228', 'hex')),
  ),
  instead('a handshake that stalls', stalled, () => undefined),
  instead('a handshake that drips', stalled, (socket) => {
    socket.write(Buffer.from('160303400002003ffc0303', 'hex'));
    const timer = setInterval(() => socket.write('a'), 40);
    socket.on('close', () => clearInterval(timer));
  }),
  instead('a handshake that ends', failed('tls', /^the connection was (closed|reset)/), (socket) =>
    socket.end(),
  ),
  instead('a handshake that is reset', failed('tls', /^the connection was reset/), (socket) =>
    socket.resetAndDestroy(),
  ),
  receiver(
    'endless renegotiation',
    [...failed('timeout', /, waiting for a response$/), ...failed('tls', /./), ...failed('send', /./)],
    (socket) => {
      const again = (): void => {
        if (!socket.destroyed) (socket as TLSSocket).renegotiate({}, () => setTimeout(again, 5));
      };
      socket.once('data', again);
    },
    { tls: ({ good }) => ({ ...good, maxVersion: 'TLSv1.2' }) },
  ),
  receiver(
    'TLS that is cut off within the response',
    brokenLater(200, /^the connection was (closed|reset)/),
    (socket, host) =>
      onRequests(socket, host, () => {
        const { _parent: below } = socket as unknown as { _parent: Socket };
        socket.write('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf', () =>
          setTimeout(() => below.destroy(), 20),
        );
      }),
    { tls: ({ good }) => good },
  ),
  receiver('none of this', responded(200), says(OK), { tls: ({ good }) => good }),
];
