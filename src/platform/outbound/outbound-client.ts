import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { Agent, Client, Pool, type buildConnector, type Dispatcher } from 'undici';
import { withTimeout } from '../timeout.js';
import { HTTPS_ONLY, type OperatorHosts } from './guarded-hosts.js';
import { MAX_HEADER_BYTES, OutboundRequest, type HttpResult, type Limits } from './outbound-request.js';
import { describe, RequestFailure } from './request-failure.js';

/** The number of addresses of one name that are tried. */
const MAX_ADDRESSES_TRIED = 4;
/** The parts of the time that the lookup, and each address but the last, may take, so that some is left for the rest. */
const NAME_SHARE = 1 / 3;
const ADDRESS_SHARE = 1 / 6;
const KEEP_ALIVE_MS = 15_000;

type Headers = Readonly<Record<string, string>>;
type Dispatched = Dispatcher.DispatchOptions & { readonly request: OutboundRequest };

/**
 * Calls hosts through undici's agent, which pools the connections. Every new connection resolves the name again, has all
 * its addresses checked and goes to an address that was checked, never to the name: a name cannot change its mind in
 * between. Redirects are not followed and responses never decompressed. ADR 76.
 */
export class OutboundClient {
  private readonly agent: Agent;
  private readonly requests = new Set<OutboundRequest>();

  constructor(
    private readonly hosts: Pick<OperatorHosts, 'plainHttp' | 'resolve'>,
    private readonly limits: Limits,
  ) {
    this.agent = new Agent({
      factory: (origin) => new Pool(origin, { factory: (url) => this.newClient(url) }),
    });
  }

  /** POSTs and waits for the response, within the limits. Never rejects. */
  post(url: string, headers: Headers, body: string): Promise<HttpResult> {
    return this.send('POST', url, headers, body);
  }

  /** GETs, like {@link post}. */
  get(url: string, headers: Headers): Promise<HttpResult> {
    return this.send('GET', url, headers, null);
  }

  async close(): Promise<void> {
    for (const request of this.requests) request.fail(new RequestFailure('send', 'the sender stops'));
    await this.agent.destroy();
  }

  private async send(
    method: 'GET' | 'POST',
    url: string,
    headers: Headers,
    body: string | null,
  ): Promise<HttpResult> {
    const parsed = URL.canParse(url) ? new URL(url) : null;
    // The parsed protocol counts: the text may say HTTPS.
    if (parsed === null || !/^https?:$/.test(parsed.protocol))
      return { kind: 'failed', phase: 'address', error: 'must be a valid URL' };
    const { origin, pathname, search } = parsed;
    const { timeoutMs } = this.limits;
    const request = new OutboundRequest(this.limits);
    const dispatched: Dispatched = { origin, path: pathname + search, method, headers, body, request };
    this.requests.add(request);
    this.agent.dispatch(dispatched, request);
    return withTimeout(timeoutMs, request.result, () => {
      request.fail(new RequestFailure('timeout', `timed out after ${timeoutMs / 1000} s, ${request.stage}`));
      return request.result;
    }).finally(() => this.requests.delete(request));
  }

  /** A client has one request at a time, so that all events of its connection belong to that request. */
  private newClient(origin: URL): Client {
    let current: OutboundRequest;
    let socket: Socket | null = null;
    const client = new Client(origin, {
      connect: (target, callback) => {
        this.connect(target, current).then(
          (connected) => {
            socket = connected.on('readable', () => current.readMore());
            // The listener follows undici's `readable`, so that undici alone reads: each chunk comes here before it is
            // parsed.
            socket.on('data', (chunk: Buffer) => current.receive(chunk));
            callback(null, connected);
          },
          (error: Error) => callback(error, null),
        );
      },
      maxHeaderSize: MAX_HEADER_BYTES,
      maxResponseSize: this.limits.bodyBytes,
      keepAliveTimeout: KEEP_ALIVE_MS,
      keepAliveMaxTimeout: KEEP_ALIVE_MS,
      // One deadline over everything instead.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
    const dispatch = client.dispatch.bind(client);
    client.dispatch = (options, handler) => {
      current = (options as Dispatched).request;
      if (socket !== null) current.carriedBy(socket);
      return dispatch(options, handler);
    };
    return client;
  }

  /** Rejects with a {@link RequestFailure}: `address`, `dns`, `connect` or `tls`. */
  private async connect(target: buildConnector.Options, request: OutboundRequest): Promise<Socket> {
    request.connects();
    const { timeoutMs } = this.limits;
    const resolved = await this.hosts.resolve(target.hostname, timeoutMs * NAME_SHARE);
    // Accepted in sandbox mode, perhaps, into a database that serves production now.
    if (target.protocol !== 'https:' && !this.hosts.plainHttp)
      throw new RequestFailure('address', HTTPS_ONLY);
    const addresses = resolved.slice(0, MAX_ADDRESSES_TRIED);
    let failure: unknown = new RequestFailure('dns', 'the name has no addresses');
    for (const [index, address] of addresses.entries()) {
      if (request.isSettled) break;
      const socket = openSocket(target, address).setNoDelay(true);
      request.carriedBy(socket);
      const ms = index === addresses.length - 1 ? timeoutMs : timeoutMs * ADDRESS_SHARE;
      try {
        return await withTimeout(ms, connected(socket), () => {
          throw new RequestFailure('connect', 'the connection timed out');
        });
      } catch (error) {
        socket.destroy();
        failure = error;
      }
    }
    throw failure;
  }
}

/**
 * TLS sessions are not resumed: a resumed one is not checked against its certificate. Every new connection verifies
 * chain, dates and name.
 */
function openSocket({ hostname, protocol, port }: buildConnector.Options, address: string): Socket {
  if (protocol !== 'https:') return connectTcp({ host: address, port: Number(port) || 80 });
  const name = hostname.replace(/\.$/, '');
  const servername = isIP(name) ? {} : { servername: name };
  const to = { host: address, port: Number(port) || 443 };
  return connectTls({ ...to, ...servername, ALPNProtocols: ['http/1.1'] });
}

/** Rejects with a {@link RequestFailure}: `connect` until TCP is connected, `tls` from then on. */
function connected(socket: Socket): Promise<Socket> {
  return new Promise((resolve, reject) => {
    let phase: 'connect' | 'tls' = 'connect';
    socket.once('connect', () => (phase = 'tls'));
    socket.once('encrypted' in socket ? 'secureConnect' : 'connect', () => resolve(socket));
    // Stays for good: an error that nothing handles would end the process.
    socket.on('error', (error) => reject(new RequestFailure(phase, describe(error))));
    socket.once('close', () => reject(new RequestFailure(phase, 'the connection was closed')));
  });
}
