import { join } from 'node:path';
import type { Config } from '../src/composition.js';
import { urlsIn } from '../src/platform/config/settings.js';
import { startChain, type RunningChain } from './chain.js';
import { SandboxError } from './sandbox-error.js';
import type { Supervisor } from './supervisor.js';
import { deployUsdc, TEST_USDC_ADDRESS } from './usdc.js';

const SAVE_EVERY_MS = 1000;
const NOTES = {
  created: 'new, with a test USDC',
  restored: 'restored',
  adopted: 'still running, adopted',
} as const;

/** The maximum fraction of time that saving may take. A long chain saves slowly and therefore less often. */
const SAVING_SHARE = 0.05;

export interface ChainPart {
  readonly rpcUrl: string;
  readonly usdcAddress: string;
  readonly note: string;
  stop(): Promise<void>;
}

/** Prepares the chain of the sandbox: its own dev chain, or the node that CHAIN_RPC_URL names. */
export async function prepareChain(
  config: Config,
  dataDir: string,
  supervisor: Supervisor,
): Promise<ChainPart> {
  if (config.chainRpcUrl !== null) return givenChain(config, config.chainRpcUrl);
  const options = { dir: join(dataDir, 'chain'), chainId: config.chainId };
  const started = await startChain(options);
  const { rpcUrl } = started;
  const address = config.usdcAddress ?? (await deployUsdc(rpcUrl, config.chainId));
  await started.save();
  const chain = supervisor.watch('the dev chain', started, () => startChain(options));
  const stopSaving = saveRegularly(chain);
  return {
    rpcUrl,
    usdcAddress: address,
    note: NOTES[started.origin],
    stop: async () => {
      await supervisor.stop();
      await stopSaving();
      await chain().stop();
    },
  };
}

async function givenChain(config: Config, rpcUrl: string): Promise<ChainPart> {
  const address = config.usdcAddress ?? (await deployOn(urlsIn(rpcUrl)[0]!, config.chainId));
  return { rpcUrl, usdcAddress: address, note: 'the one of CHAIN_RPC_URL', stop: async () => undefined };
}

/** Deploys the test USDC on a dev chain with the usual accounts. Any other chain needs USDC_ADDRESS. */
async function deployOn(rpcUrl: string, chainId: number): Promise<string> {
  try {
    return await deployUsdc(rpcUrl, chainId);
  } catch (error) {
    throw new SandboxError(
      `USDC_ADDRESS must be set: the chain of CHAIN_RPC_URL has no test USDC at ${TEST_USDC_ADDRESS} and it could not be deployed there (${(error as Error).message}).`,
    );
  }
}

/** Saves the state shortly after each block, so that a killed chain loses little. */
function saveRegularly(chain: () => RunningChain): () => Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  let saving: Promise<void> = Promise.resolve();
  let stopped = false;
  const schedule = (delay: number): void => {
    if (stopped) return;
    timer = setTimeout(() => {
      saving = save();
    }, delay);
    timer.unref();
  };
  const save = async (): Promise<void> => {
    const began = performance.now();
    // A node that is unavailable or busy is saved at the next attempt.
    await chain()
      .save()
      .catch(() => false);
    schedule(Math.max(SAVE_EVERY_MS, (performance.now() - began) / SAVING_SHARE));
  };
  schedule(SAVE_EVERY_MS);
  return async () => {
    stopped = true;
    clearTimeout(timer);
    await saving;
  };
}
