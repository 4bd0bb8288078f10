import { readFileSync } from 'node:fs';
import { ContractFactory, getCreateAddress, HDNodeWallet, JsonRpcProvider, type InterfaceAbi } from 'ethers';
import { DEV_MNEMONIC } from './chain.js';
import { SandboxError } from './sandbox-error.js';

/** Account of the dev mnemonic whose key sandbox.json gives away: whoever tries the sandbox pays from it. */
const FUNDED_ACCOUNT = 0;
/** Deploys the token as its first transaction, so that the token has the same address on every dev chain. */
const DEPLOYER_ACCOUNT = 1;
/** Pays what `POST /sandbox/transfers` sends; nobody else uses it, so that its nonces are its own. */
const TREASURY_ACCOUNT = 2;

/** What each of the two accounts owns in the beginning: one billion USDC, in minor units. */
const FUNDS = 1_000_000_000n * 1_000_000n;

const artifact = JSON.parse(
  readFileSync(new URL('../../../contracts/TestUSDC.json', import.meta.url), 'utf8'),
) as { abi: InterfaceAbi; bytecode: string };

function devAccount(index: number): HDNodeWallet {
  return HDNodeWallet.fromPhrase(DEV_MNEMONIC, undefined, `m/44'/60'/0'/0/${index}`);
}

/** Private key of the account that holds test USDC and gas from the start. */
export function fundedPrivateKey(): string {
  return devAccount(FUNDED_ACCOUNT).privateKey;
}

/** The account that `POST /sandbox/transfers` pays from. */
export function treasuryWallet(): HDNodeWallet {
  return devAccount(TREASURY_ACCOUNT);
}

/** Where the test USDC stands on every dev chain. */
export function usdcAddress(): string {
  return getCreateAddress({ from: devAccount(DEPLOYER_ACCOUNT).address, nonce: 0 });
}

/** Deploys the 6-decimal test USDC unless the chain has it. Answers its address. */
export async function deployUsdc(rpcUrl: string, chainId: number): Promise<string> {
  const provider = new JsonRpcProvider(rpcUrl, chainId, {
    staticNetwork: true,
    cacheTimeout: -1,
    pollingInterval: 50,
  });
  try {
    const address = usdcAddress();
    if ((await provider.getCode(address)) !== '0x') return address;
    const deployer = devAccount(DEPLOYER_ACCOUNT).connect(provider);
    if ((await deployer.getNonce()) !== 0) {
      throw new SandboxError(
        `The dev chain has no test USDC at ${address}, but its deployer was used: delete the chain's folder.`,
      );
    }
    const holders = [devAccount(FUNDED_ACCOUNT).address, devAccount(TREASURY_ACCOUNT).address];
    const token = await new ContractFactory(artifact.abi, artifact.bytecode, deployer).deploy(holders, FUNDS);
    await token.waitForDeployment();
    return address;
  } finally {
    provider.destroy();
  }
}
