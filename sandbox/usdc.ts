import { TEST_USDC } from './contracts/test-usdc.js';
import { SandboxError } from './sandbox-error.js';

// The first three accounts of DEV_MNEMONIC. They are literals, because deriving a key takes longer than the
// rest of a start.

/** The funded account, with test USDC and gas. sandbox.json contains its key for users of the sandbox. */
export const FUNDED = {
  address: '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266',
  privateKey: '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80',
};
/** The deployer. The token is its first transaction, so that its address is the same on every dev chain. */
const DEPLOYER_KEY = '0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d';
/** The account behind `POST /sandbox/transfers`. Only one process uses it, to keep its nonces in order. */
export const TREASURY = {
  address: '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC',
  privateKey: '0x5de4111afa1a4b94908f83103eb1f1706367c2e68ca870fc3fb9a804cdab365a',
};
/** The address of the test USDC on every dev chain: the deployer's first contract. */
export const TEST_USDC_ADDRESS = '0x8464135c8F25Da09e49BC8782676a84730C318bC';

/** The initial balance of each of the two holders: one billion USDC, in minor units. */
const FUNDS = 1_000_000_000n * 1_000_000n;

/** Deploys the 6-decimal test USDC if the chain lacks it. Returns its address. */
export async function deployUsdc(rpcUrl: string, chainId: number): Promise<string> {
  const { ContractFactory, JsonRpcProvider, Wallet } = await import('ethers');
  const provider = new JsonRpcProvider(rpcUrl, chainId, {
    staticNetwork: true,
    cacheTimeout: -1,
    pollingInterval: 50,
  });
  try {
    if ((await provider.getCode(TEST_USDC_ADDRESS)) !== '0x') return TEST_USDC_ADDRESS;
    const deployer = new Wallet(DEPLOYER_KEY, provider);
    if ((await deployer.getNonce()) !== 0) {
      throw new SandboxError(
        `The dev chain has no test USDC at ${TEST_USDC_ADDRESS}, but its deployer was used: delete the chain's folder.`,
      );
    }
    const token = await new ContractFactory(TEST_USDC.abi, TEST_USDC.bytecode, deployer).deploy(
      [FUNDED.address, TREASURY.address],
      FUNDS,
    );
    await token.waitForDeployment();
    return TEST_USDC_ADDRESS;
  } finally {
    provider.destroy();
  }
}
