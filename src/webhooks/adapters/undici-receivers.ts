import { isIP, type Socket } from 'node:net';
import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { Agent, buildConnector, request, type Dispatcher } from 'undici';
import { CONFIG, type Config } from '../../platform/config/config.js';
import type { ReceiverAnswer, Receivers } from '../application/ports.js';
import type { FailurePhase } from '../domain/outcome.js';
import { AddressRefused, ReceiverAddresses } from './receiver-addresses.js';

/** The most that is read of an answer; whatever follows is cut off with the connection. */
const MAX_ANSWER_BYTES = 65_536;
const EXCERPT_BYTES = 1024;
const KEEP_ALIVE_MS = 15_000;

type Connect = ReturnType<typeof buildConnector>;
type ConnectOptions = Parameters<Connect>[0];

/**
 * Sends deliveries over kept-alive connections. Every new connection resolves the name again, has all its addresses
 * judged and goes to an address that was judged, never to the name: a name cannot change its mind in between.
 * Redirects are not followed and answers never decompressed.
 */
@Injectable()
export class UndiciReceivers implements Receivers, OnApplicationShutdown {
  private readonly agent: Agent;
  private readonly timeoutMs: number;

  constructor(
    @Inject(CONFIG) config: Pick<Config, 'webhookTimeoutMs'>,
    private readonly addresses: ReceiverAddresses,
  ) {
    this.timeoutMs = config.webhookTimeoutMs;
    const connect = buildConnector({ timeout: this.timeoutMs });
    this.agent = new Agent({
      connect: (options, callback) => {
        this.guardedConnect(connect, options).then(
          (socket) => callback(null, socket),
          (error: Error) => callback(error, null),
        );
      },
      keepAliveTimeout: KEEP_ALIVE_MS,
      keepAliveMaxTimeout: KEEP_ALIVE_MS,
      // One deadline over everything is set on each request instead.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
  }

  async post(url: string, headers: Readonly<Record<string, string>>, body: string): Promise<ReceiverAnswer> {
    const signal = AbortSignal.timeout(this.timeoutMs);
    let answer: Dispatcher.ResponseData | undefined;
    try {
      answer = await request(url, { method: 'POST', headers, body, signal, dispatcher: this.agent });
      const excerpt = await readBounded(answer.body);
      const retryAfter = answer.headers['retry-after'];
      return {
        response: {
          kind: 'answered',
          status: answer.statusCode,
          retryAfter: (Array.isArray(retryAfter) ? retryAfter[0] : retryAfter) ?? null,
        },
        error: null,
        excerpt,
      };
    } catch (error) {
      const phase = signal.aborted ? 'timeout' : phaseOf(error, answer !== undefined);
      return { response: { kind: 'failed', phase }, error: describe(error), excerpt: null };
    }
  }

  async onApplicationShutdown(): Promise<void> {
    await this.agent.destroy();
  }

  private async guardedConnect(connect: Connect, options: ConnectOptions): Promise<Socket> {
    const addresses = await this.addresses.resolve(options.hostname);
    let failure: Error = new Error('the name has no addresses');
    for (const address of addresses) {
      try {
        return await open(connect, pinned(options, address));
      } catch (error) {
        failure = error as Error;
      }
    }
    throw failure;
  }
}

/** The connection goes to the address; the certificate is still checked against the name. */
function pinned(options: ConnectOptions, address: string): ConnectOptions {
  const name = options.hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '');
  return { ...options, hostname: address, ...(isIP(name) ? {} : { servername: name }) };
}

function open(connect: Connect, options: ConnectOptions): Promise<Socket> {
  return new Promise((resolve, reject) => {
    connect(options, (error, socket) => {
      if (socket) resolve(socket);
      else reject(error ?? new Error('no connection'));
    });
  });
}

/** Reads at most {@link MAX_ANSWER_BYTES} and returns the first KiB. Leaving the loop early closes the connection. */
async function readBounded(body: AsyncIterable<Buffer>): Promise<Buffer> {
  const kept: Buffer[] = [];
  let read = 0;
  for await (const chunk of body) {
    if (read < EXCERPT_BYTES) kept.push(chunk.subarray(0, EXCERPT_BYTES - read));
    read += chunk.length;
    if (read >= MAX_ANSWER_BYTES) break;
  }
  return Buffer.concat(kept);
}

const CONNECT_CODES =
  /^(ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL|UND_ERR_CONNECT_TIMEOUT|EACCES)$/;
const DNS_CODES = /^(ENOTFOUND|EAI_.*|ENODATA|ESERVFAIL)$/;
const TLS_CODES = /^(ERR_TLS_.*|ERR_SSL_.*|EPROTO|CERT_.*|DEPTH_ZERO_.*|SELF_SIGNED_.*|UNABLE_TO_.*)$/;

function phaseOf(error: unknown, answered: boolean): FailurePhase {
  if (error instanceof AddressRefused) return 'address';
  const code = codeOf(error);
  if (DNS_CODES.test(code)) return 'dns';
  if (CONNECT_CODES.test(code)) return 'connect';
  if (TLS_CODES.test(code)) return 'tls';
  return answered ? 'answer' : 'send';
}

function codeOf(error: unknown): string {
  const code: unknown =
    typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : '';
}

function describe(error: unknown): string {
  if (error instanceof AddressRefused) return error.message;
  return codeOf(error) || (error instanceof Error ? error.name : 'unknown');
}
