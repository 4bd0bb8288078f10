import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { setTimeout as wait } from 'node:timers/promises';
import { PayoutHarness, type TestUser } from '../../support/payouts/payout-harness.js';
import type { RpcCall } from '../../support/payouts/test-node.js';

const ATTACKS = 40;
const LARGE_BYTES = 14_000_000;
/** The node takes so long before the first byte of a large receipt, and of logs of its block. */
const SLOW_MS = 2500;
/** Of the time that a payout takes while nothing else is to be verified. */
const MAX_RATIO = 12;

/** A node in front of the dev chain that has large receipts, and is slow with them. */
class LargeNode {
  readonly large = new Set<string>();
  /** White space is JSON, too, and counts like every byte. */
  private readonly filler = Buffer.alloc(LARGE_BYTES / 100, ' ');
  private readonly server: Server;

  constructor(private readonly chainUrl: string) {
    this.server = createServer((request, response) => void this.respond(request, response));
  }

  async start(): Promise<string> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private async respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await text(request);
    const calls = [JSON.parse(body) as RpcCall | RpcCall[]].flat();
    const isSlow = ({ method, params }: RpcCall): boolean =>
      method === 'eth_getLogs' ||
      (method === 'eth_getTransactionReceipt' && this.large.has(String(params[0])));
    const slow = calls.filter(isSlow);
    const headers = { 'content-type': 'application/json' };
    const honest = await (await fetch(this.chainUrl, { method: 'POST', headers, body })).text();
    if (slow.length > 0) await wait(SLOW_MS);
    response.writeHead(200, headers);
    const large = slow.filter(({ method }) => method === 'eth_getTransactionReceipt').length;
    const chunks = [...Array.from({ length: 100 * large }, () => this.filler), Buffer.from(honest)];
    // The service may have read enough.
    await pipeline(Readable.from(chunks), response).catch(() => undefined);
  }
}

describe('payouts of a merchant alongside forty large receipts of another', () => {
  let harness: PayoutHarness;
  let node: LargeNode;
  let attacker: TestUser;
  let honest: TestUser;

  beforeAll(async () => {
    harness = await PayoutHarness.open();
    node = new LargeNode(harness.chain.rpcUrl);
    await harness.start({ CHAIN_RPC_URL: await node.start(), PAYOUT_CHECK_INTERVAL_MS: '1000' });
    [attacker, honest] = [await harness.activeUser(), await harness.activeUser()];
  });
  afterAll(async () => {
    await harness.close();
    await node.stop();
  });

  const receive = async (): Promise<number> => {
    const { hash } = await harness.chain.transfer(honest.wallet, '1');
    const began = performance.now();
    expect(await harness.settled(await harness.report({ user: honest, hash }))).toBe('received');
    return performance.now() - began;
  };

  it('are received soon, at the first check and while the large ones expire', async () => {
    // The slowest of three: one that comes just before a round is received at once.
    const quiet = Math.max(await receive(), await receive(), await receive());
    const hashes: string[] = [];
    for (let n = 0; n < ATTACKS; n += 1)
      hashes.push((await harness.chain.transfer(attacker.wallet, '1')).hash.toLowerCase());
    for (const hash of hashes) node.large.add(hash);
    await Promise.all(
      // They pay the wallet, and not the amount: nothing spares the service their logs.
      hashes.map((hash) => harness.report({ user: attacker, hash, amount: '2', windowSeconds: 4 })),
    );
    await wait(200);
    const ratios: number[] = [];
    for (const until = Date.now() + 10_000; Date.now() < until;) ratios.push((await receive()) / quiet);
    expect(Math.max(...ratios)).toBeLessThan(MAX_RATIO);
  }, 300_000);
});
