import { Problem } from './terminal.mjs';

/** Sends test USDC on the sandbox's chain, as any wallet would. Resolves once it is in a block. */
export async function transferUsdc(chain, to, amount) {
  if (chain.funded_private_key === null) {
    throw new Problem(
      'The demo pays from the sandbox chain; this service runs on another one (CHAIN_RPC_URL).',
    );
  }
  const { Contract, JsonRpcProvider, parseUnits, Wallet } = await import('ethers');
  const provider = new JsonRpcProvider(chain.rpc_url, chain.chain_id, {
    staticNetwork: true,
    pollingInterval: 50,
  });
  try {
    const abi = ['function transfer(address to, uint256 amount) returns (bool)'];
    const usdc = new Contract(chain.usdc_address, abi, new Wallet(chain.funded_private_key, provider));
    const sent = await usdc.transfer(to, parseUnits(amount, 6));
    const { blockNumber } = await sent.wait();
    return { hash: sent.hash, blockNumber };
  } finally {
    provider.destroy();
  }
}
