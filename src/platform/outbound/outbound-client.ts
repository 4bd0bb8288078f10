import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { Agent, Client, Pool, type buildConnector, type Dispatcher } from 'undici';
import { withTimeout } from '../timeout.js';
import { HTTPS_ONLY, type OperatorHosts } from './guarded-hosts.js';
import { MAX_HEADER_BYTES, OutboundRequest, type HttpResult, type Limits } from './outbound-request.js';
import { describe, RequestFailure } from './request-failure.js';

const MAX_ADDRESSES_TRIED = 4;
/** The shares of the deadline for the lookup and for each address except the last. */
const NAME_SHARE = 1 / 3;
const ADDRESS_SHARE = 1 / 6;
const KEEP_ALIVE_MS = 15_000;

type Headers = Readonly<Record<string, string>>;
type Dispatched = Dispatcher.DispatchOptions & { readonly request: OutboundRequest };

/**
 * The HTTP client for hosts outside of the service (ADR 76). Every new connection resolves the name and uses
 * a checked address, so that a changed DNS record cannot evade the check. It follows no redirects.
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

  /** Sends a POST. Never rejects. */
  post(url: string, headers: Headers, body: string): Promise<HttpResult> {
    return this.send('POST', url, headers, body);
  }

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

  /** Creates an undici client. It sends one request at a time, to which all events of its socket belong. */
  private newClient(origin: URL): Client {
    let current: OutboundRequest;
    let socket: Socket | null = null;
    const client = new Client(origin, {
      connect: (target, callback) => {
        this.connect(target, current).then(
          (connected) => {
            socket = connected.on('readable', () => current.readMore());
            // undici's earlier `readable` listener reads. Each chunk arrives here before it is parsed.
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
      // The deadline of `send` covers both.
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

  /** Connects to a checked address. Rejects with a RequestFailure: `address`, `dns`, `connect` or `tls`. */
  private async connect(target: buildConnector.Options, request: OutboundRequest): Promise<Socket> {
    request.connects();
    const { timeoutMs } = this.limits;
    const resolved = await this.hosts.resolve(target.hostname, timeoutMs * NAME_SHARE);
    // The URL may have been accepted in sandbox mode.
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

/** Opens a socket. TLS sessions are not resumed, because resumption skips the certificate check. */
function openSocket({ hostname, protocol, port }: buildConnector.Options, address: string): Socket {
  if (protocol !== 'https:') return connectTcp({ host: address, port: Number(port) || 80 });
  const name = hostname.replace(/\.$/, '');
  const servername = isIP(name) ? {} : { servername: name };
  const to = { host: address, port: Number(port) || 443 };
  return connectTls({ ...to, ...servername, ALPNProtocols: ['http/1.1'] });
}

/** Waits for the connection. A RequestFailure has the phase `connect` until TCP is connected, then `tls`. */
function connected(socket: Socket): Promise<Socket> {
  return new Promise((resolve, reject) => {
    let phase: 'connect' | 'tls' = 'connect';
    socket.once('connect', () => (phase = 'tls'));
    socket.once('encrypted' in socket ? 'secureConnect' : 'connect', () => resolve(socket));
    // The listener stays: an unhandled error would end the process.
    socket.on('error', (error) => reject(new RequestFailure(phase, describe(error))));
    socket.once('close', () => reject(new RequestFailure(phase, 'the connection was closed')));
  });
}
