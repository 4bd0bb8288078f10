import {
  Contract,
  HDNodeWallet,
  Interface,
  JsonRpcProvider,
  NonceManager,
  Wallet,
  ZeroAddress,
  zeroPadValue,
  type TransactionReceipt,
} from 'ethers';
import { rpc, startChain, type RunningChain } from '../../../sandbox/chain.js';
import { deployUsdc, FUNDED } from '../../../sandbox/usdc.js';
import { toMinorUnits } from '../../../src/kernel/money.js';
import { specFolder } from '../run-folder.js';

export const CHAIN_ID = 31337;

export const USDC = new Interface([
  'function transfer(address to, uint256 amount) returns (bool)',
  'function mint(address to, uint256 amount)',
  'function balanceOf(address) view returns (uint256)',
  'event Transfer(address indexed from, address indexed to, uint256 value)',
]);

/** A separate dev chain with the test USDC, so that reorgs and outages disturb no other suite. */
export class TestChain {
  private constructor(
    private readonly anvil: RunningChain,
    readonly provider: JsonRpcProvider,
    readonly usdcAddress: string,
    /** The account that owns gas and a billion test USDC. */
    readonly funded: NonceManager,
  ) {}

  /** `folder` creates the folder of the chain, by default that of the suite. */
  static async start(folder = specFolder): Promise<TestChain> {
    const anvil = await startChain({ dir: folder('chain'), chainId: CHAIN_ID });
    const usdcAddress = await deployUsdc(anvil.rpcUrl, CHAIN_ID);
    const provider = new JsonRpcProvider(anvil.rpcUrl, CHAIN_ID, {
      staticNetwork: true,
      cacheTimeout: -1,
      pollingInterval: 20,
    });
    const funded = new NonceManager(new Wallet(FUNDED.privateKey, provider));
    return new TestChain(anvil, provider, usdcAddress, funded);
  }

  get rpcUrl(): string {
    return this.anvil.rpcUrl;
  }

  newAddress(): string {
    return HDNodeWallet.createRandom().address;
  }

  /** Sends `amount` (a decimal string of USDC), or of another `token`, and waits for its block. */
  async transfer(to: string, amount: string, token = this.usdcAddress): Promise<TransactionReceipt> {
    const data = USDC.encodeFunctionData('transfer', [to, toMinorUnits(amount)]);
    const sent = await this.funded.sendTransaction({ to: token, data });
    const receipt = await sent.wait();
    if (receipt === null) throw new Error('the transfer has no receipt');
    return receipt;
  }

  /** Sends one transaction with two Transfer logs of `amount` to the same wallet. Returns its hash. */
  async twoTransfers(to: string, amount: string): Promise<string> {
    const mint = USDC.encodeFunctionData('mint', [to, toMinorUnits(amount)]).slice(2);
    const [selector, recipient, value] = [mint.slice(0, 8), mint.slice(8, 72), mint.slice(72)];
    // A contract that calls the token twice at its creation: PUSH and MSTORE thrice, then CALL.
    const memory = `7f${selector.padEnd(64, '0')}6000527f${recipient}6004527f${value}602452`;
    const call = `6000600060446000600073${this.usdcAddress.slice(2)}5af150`;
    const data = `0x${memory}${call}${call}00`;
    const sent = await this.funded.sendTransaction({ data, gasLimit: 1_000_000n });
    await sent.wait();
    return sent.hash;
  }

  /** A contract that mints `amount` for the last set address: one transaction may pay several. */
  async payer(amount: string): Promise<{ readonly address: string; pays(to: string): Promise<unknown> }> {
    const address = this.newAddress();
    const mint = USDC.encodeFunctionData('mint', [ZeroAddress, toMinorUnits(amount)]).slice(2);
    // The recipient is in the storage: PUSH and MSTORE thrice, then CALL.
    const memory = `7f${mint.slice(0, 8).padEnd(64, '0')}6000526000546004527f${mint.slice(72)}602452`;
    const call = `6000600060446000600073${this.usdcAddress.slice(2)}5af100`;
    await this.rpc('anvil_setCode', [address, `0x${memory}${call}`]);
    const slot = `0x${'0'.repeat(64)}`;
    return {
      address,
      pays: (to) => this.rpc('anvil_setStorageAt', [address, slot, zeroPadValue(to, 32)]),
    };
  }

  /** Sends a transfer that is mined and fails, because the sender owns no USDC. Returns its hash. */
  async revertedTransfer(to: string, amount: string): Promise<string> {
    const poor = HDNodeWallet.createRandom().connect(this.provider);
    await this.rpc('anvil_setBalance', [poor.address, '0xde0b6b3a7640000']);
    const data = USDC.encodeFunctionData('transfer', [to, toMinorUnits(amount)]);
    const sent = await poor.sendTransaction({ to: this.usdcAddress, data, gasLimit: 100_000 });
    await this.provider.waitForTransaction(sent.hash).catch(() => undefined);
    return sent.hash;
  }

  async balanceOf(address: string): Promise<bigint> {
    const token = new Contract(this.usdcAddress, USDC, this.provider);
    return (await token.getFunction('balanceOf')(address)) as bigint;
  }

  async mine(blocks = 1): Promise<void> {
    await this.rpc('anvil_mine', [`0x${blocks.toString(16)}`]);
  }

  /** Replaces the last `depth` blocks by empty ones, which drops their transactions. */
  async reorg(depth: number): Promise<void> {
    await this.rpc('anvil_reorg', [depth, []]);
    this.funded.reset();
  }

  rpc(method: string, params: readonly unknown[] = []): Promise<unknown> {
    return rpc(this.anvil.rpcUrl, method, params);
  }

  async stop(): Promise<void> {
    this.provider.destroy();
    await this.anvil.stop();
  }
}
