import { afterEach, describe, expect, test } from '@jest/globals';
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

function receipt(chain: RunningChain, hash: string): Promise<unknown> {
  return rpc(chain.rpcUrl, 'eth_getTransactionReceipt', [hash]);
}

describe('the dev chain', () => {
  test('has the test USDC at the same address every time, deployed once', async () => {
    const chain = await start(specFolder('chain'));
    expect(await deployUsdc(chain.rpcUrl, CHAIN_ID)).toBe(TEST_USDC_ADDRESS);
    expect(await deployUsdc(chain.rpcUrl, CHAIN_ID)).toBe(TEST_USDC_ADDRESS);
    expect(await rpc(chain.rpcUrl, 'eth_blockNumber', [])).toBe('0x1');
    expect(
      await rpc(chain.rpcUrl, 'eth_call', [{ to: TEST_USDC_ADDRESS, data: '0x313ce567' }, 'latest']),
    ).toMatch(/06$/);
  });

  test('is adopted when a killed service left it running', async () => {
    const dir = specFolder('chain');
    const first = await start(dir);
    const second = await start(dir);
    expect(second.origin).toBe('adopted');
    expect([second.pid, second.rpcUrl]).toEqual([first.pid, first.rpcUrl]);
  });

  test('knows its transactions again after a stop', async () => {
    const dir = specFolder('chain');
    const first = await start(dir);
    await deployUsdc(first.rpcUrl, CHAIN_ID);
    const hash = await pay(first);
    const before = await receipt(first, hash);
    await first.stop();

    const second = await start(dir);
    expect(second.origin).toBe('restored');
    expect(await receipt(second, hash)).toEqual(before);
    expect(await deployUsdc(second.rpcUrl, CHAIN_ID)).toBe(TEST_USDC_ADDRESS);
    await pay(second);
  });

  test('loses nothing that was saved when it is killed itself', async () => {
    const dir = specFolder('chain');
    const first = await start(dir);
    await deployUsdc(first.rpcUrl, CHAIN_ID);
    const hash = await pay(first);
    expect(await first.save()).toBe(true);
    expect(await first.save()).toBe(false);
    process.kill(first.pid, 'SIGKILL');
    await eventually(() => !isAlive(first.pid));

    const second = await start(dir);
    expect(second.origin).toBe('restored');
    expect(second.rpcUrl).toBe(first.rpcUrl);
    expect(await receipt(second, hash)).not.toBeNull();
  });
});
