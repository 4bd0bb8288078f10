import { afterEach, expect, test } from '@jest/globals';
import { JsonRpcProvider, Wallet } from 'ethers';
import { eventually } from '../test/support/eventually.js';
import { specFolder } from '../test/support/run-folder.js';
import { rpc, startChain, type RunningChain } from './chain.js';
import { isAlive } from './processes.js';
import { deployUsdc, FUNDED, TEST_USDC_ADDRESS } from './usdc.js';

const CHAIN_ID = 31337;
const running: RunningChain[] = [];

afterEach(async () => {
  for (const chain of running.splice(0)) await chain.stop();
});

async function start(dir: string): Promise<RunningChain> {
  const chain = await startChain({ dir, chainId: CHAIN_ID });
  running.push(chain);
  return chain;
}

async function pay(chain: RunningChain): Promise<string> {
  const provider = new JsonRpcProvider(chain.rpcUrl, CHAIN_ID, { staticNetwork: true, pollingInterval: 20 });
  try {
    const sent = await new Wallet(FUNDED.privateKey, provider).sendTransaction({
      to: TEST_USDC_ADDRESS,
      data: '0x18160ddd',
    });
    await sent.wait();
    return sent.hash;
  } finally {
    provider.destroy();
  }
}

const receipt = (chain: RunningChain, hash: string): Promise<unknown> =>
  rpc(chain.rpcUrl, 'eth_getTransactionReceipt', [hash]);

test('the dev chain retains transactions and the test USDC address across a stop and a kill', async () => {
  const dir = specFolder('chain');
  const first = await start(dir);
  expect(await deployUsdc(first.rpcUrl, CHAIN_ID)).toBe(TEST_USDC_ADDRESS);
  expect(await deployUsdc(first.rpcUrl, CHAIN_ID)).toBe(TEST_USDC_ADDRESS);
  expect(await rpc(first.rpcUrl, 'eth_blockNumber', [])).toBe('0x1');
  const decimals = [{ to: TEST_USDC_ADDRESS, data: '0x313ce567' }, 'latest'];
  expect(await rpc(first.rpcUrl, 'eth_call', decimals)).toMatch(/06$/);
  // As the next service finds it when this one is killed.
  const { pid, rpcUrl } = first;
  expect(await start(dir)).toMatchObject({ origin: 'adopted', pid, rpcUrl });
  const paid = await pay(first);
  const before = await receipt(first, paid);
  await first.stop();

  const second = await start(dir);
  expect(second.origin).toBe('restored');
  expect(await receipt(second, paid)).toEqual(before);
  expect(await deployUsdc(second.rpcUrl, CHAIN_ID)).toBe(TEST_USDC_ADDRESS);
  const saved = await pay(second);
  expect(await second.save()).toBe(true);
  expect(await second.save()).toBe(false);
  process.kill(second.pid, 'SIGKILL');
  await eventually(() => !isAlive(second.pid));

  const third = await start(dir);
  expect(third).toMatchObject({ origin: 'restored', rpcUrl: second.rpcUrl });
  expect(await receipt(third, saved)).not.toBeNull();
});
