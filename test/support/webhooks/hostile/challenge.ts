import { setTimeout as sleep } from 'node:timers/promises';
import type { Certificates } from './certificates.js';
import { responded, receiver, says, type Expected, type Hosted, type HostileReceiver } from './receiver.js';
import type { Sent, SendingProcess } from './sending-process.js';

/** Beyond the deadline: what two busy cores may add, unless given otherwise. */
const LATE_MS = 1000;
/** Far above what is read of any response, and above what fits into the buffers of a connection on loopback. */
const MAX_SENT = 24 * 1024 * 1024;
const MAX_EXCERPT = 1024;

/** What came of the deliveries to one receiver. */
export interface Challenged {
  readonly name: string;
  readonly sent: readonly Sent[];
  /** What should not have been, each as a sentence. */
  readonly complaints: readonly string[];
}

/** Sends to a receiver that runs what its kind expects, and holds the results against that. */
export async function challenge(
  { name, expected }: HostileReceiver,
  hosted: Hosted,
  sender: SendingProcess,
  timeoutMs: number,
  lateMs = LATE_MS,
): Promise<Challenged> {
  const sent: Sent[] = [];
  const complaints: string[] = [];
  for (const [index, allowed] of expected.entries()) {
    // What a receiver still sends unrequested has the time to arrive.
    if (index > 0) await sleep(100);
    const each = await sender.post(hosted.url);
    sent.push(each);
    if (!allowed.some((one) => fits(each, one))) complaints.push(`delivery ${index + 1} got ${textOf(each)}`);
    if (each.tookMs > timeoutMs + lateMs) complaints.push(`it took ${Math.round(each.tookMs)} ms`);
    if (/secret|127\.0\.0\.1/.test(each.error ?? ''))
      complaints.push(`its error says too much: ${each.error}`);
    if (each.excerptBytes > MAX_EXCERPT) complaints.push(`${each.excerptBytes} bytes of it were kept`);
  }
  if (hosted.sent() > MAX_SENT) complaints.push(`${hosted.sent()} bytes of it were read`);
  if (hosted.connections() > expected.length)
    complaints.push(`${hosted.connections()} connections were opened`);
  const own = hosted.complaint();
  if (own !== null) complaints.push(own);
  return { name, sent, complaints };
}

function fits({ response, error }: Sent, expected: Expected): boolean {
  if ('status' in expected) {
    const after = expected.retryAfter ?? null;
    return (
      response.kind === 'responded' && response.status === expected.status && response.retryAfter === after
    );
  }
  return response.kind === 'failed' && response.phase === expected.phase && expected.error.test(error ?? '');
}

/** `responded 200`, or `failed at tls: the certificate has expired (CERT_HAS_EXPIRED)`. */
export function textOf({ response, error }: Sent): string {
  if (response.kind === 'failed') return `failed at ${response.phase}: ${error}`;
  const after = response.retryAfter === null ? '' : `, Retry-After ${JSON.stringify(response.retryAfter)}`;
  return `responded ${response.status}${after}`;
}

/** Opens as many connections at once as will be needed, so that what a process allocates but once is not counted later. */
export async function warmUp(
  sender: SendingProcess,
  certificates: Certificates,
  atOnce = 100,
): Promise<void> {
  const ok = says('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok');
  const kinds = [
    receiver('plain', responded(200), ok),
    receiver('secure', responded(200), ok, { tls: ({ good }) => good }),
  ];
  for (const kind of kinds) {
    const hosted = await kind.start(certificates);
    for (let round = 0; round < 3; round += 1) {
      await Promise.all(Array.from({ length: atOnce }, () => sender.post(hosted.url)));
    }
    await hosted.stop();
  }
}
