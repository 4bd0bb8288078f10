import { id } from 'ethers';
import { rpc } from '../../../../sandbox/chain.js';

const TRANSFER = id('Transfer(address,address,uint256)');

export interface Transfer {
  readonly hash: string;
  readonly minor: bigint;
}

/** Reads all transfers of the token, by recipient in lower case, without the service's code. */
export async function transfersOf(
  rpcUrl: string,
  token: string,
): Promise<ReadonlyMap<string, readonly Transfer[]>> {
  const filter = { fromBlock: '0x0', toBlock: 'latest', address: token, topics: [TRANSFER] };
  const logs = (await rpc(rpcUrl, 'eth_getLogs', [filter])) as {
    readonly topics: readonly string[];
    readonly data: string;
    readonly transactionHash: string;
  }[];
  const found = new Map<string, Transfer[]>();
  for (const { topics, data, transactionHash: hash } of logs) {
    const to = `0x${topics[2]!.slice(26)}`;
    found.set(to, [...(found.get(to) ?? []), { hash, minor: BigInt(data) }]);
  }
  return found;
}

export async function balanceOf(rpcUrl: string, token: string, address: string): Promise<bigint> {
  const data = `${id('balanceOf(address)').slice(0, 10)}${address.slice(2).toLowerCase().padStart(64, '0')}`;
  return BigInt((await rpc(rpcUrl, 'eth_call', [{ to: token, data }, 'latest'])) as string);
}

/** Deploys a contract whose call mints its amount for recipient NUMBER % count, which differs by block. */
export async function fickleContract(
  rpcUrl: string,
  token: string,
  address: string,
  recipients: readonly string[],
): Promise<void> {
  const mint = id('mint(address,uint256)').slice(2, 10);
  const count = recipients.length.toString(16).padStart(2, '0');
  // Memory gets the selector, the recipient from the slot NUMBER % count, and the first word of the call;
  // then CALL.
  const memory = `63${mint}60e01b60005260${count}430654600452600035602452`;
  const call = `6000600060446000600073${token.slice(2)}5af100`;
  await rpc(rpcUrl, 'anvil_setCode', [address, `0x${memory}${call}`]);
  for (const [place, recipient] of recipients.entries()) {
    const slot = `0x${place.toString(16).padStart(64, '0')}`;
    await rpc(rpcUrl, 'anvil_setStorageAt', [
      address,
      slot,
      `0x${recipient.slice(2).toLowerCase().padStart(64, '0')}`,
    ]);
  }
}
