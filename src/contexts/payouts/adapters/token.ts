import type { JsonRpcNode } from '../../../platform/chain/json-rpc-node.js';
import { rpcResult } from '../../../platform/chain/node-state.js';
import { isWord } from '../../../platform/chain/values.js';

/** Amounts of payouts have so many. */
const USDC_DECIMALS = 6;
const DECIMALS = '0x313ce567';
const SYMBOL = '0x95d89b41';
const MAX_SYMBOL = 20;

export interface Token {
  readonly symbol: string;
  /** Why it cannot be USDC, as a sentence; null when it can. */
  readonly problem: string | null;
}

/** The contract of USDC_ADDRESS, as a node has it. Throws ChainUnavailable when the node does not have it. */
export async function readToken(node: JsonRpcNode, address: string, chainId: number): Promise<Token> {
  const call = (data: string) => ({ method: 'eth_call', params: [{ to: address, data }, 'latest'] });
  const [code, decimals, symbol] = await node.ask([
    { method: 'eth_getCode', params: [address, 'latest'] },
    call(DECIMALS),
    call(SYMBOL),
  ]);
  const name = 'result' in symbol! ? symbolIn(symbol.result) : '';
  const token = (problem: string | null): Token => ({ symbol: name, problem });
  const about = `USDC_ADDRESS (${address})`;
  if (rpcResult(code!) === '0x') return token(`${about} is no contract on chain ${chainId}.`);
  const none = `${about} is a contract${name === '' ? '' : ` (${name})`} without decimals(): it is no token.`;
  if ('refused' in decimals! && decimals.refused.isRevert === true) return token(none);
  const value = rpcResult(decimals!);
  if (!isWord(value)) return token(none);
  return BigInt(value) === BigInt(USDC_DECIMALS)
    ? token(null)
    : token(
        `${about} is ${name === '' ? 'a token' : name} with ${BigInt(value)} decimals: USDC has ${USDC_DECIMALS}.`,
      );
}

/** The printable characters of a string or of 32 bytes, however the contract encodes them. */
function symbolIn(result: unknown): string {
  if (typeof result !== 'string') return '';
  const text = Buffer.from(result.slice(2, 1024), 'hex').toString('latin1');
  return text.replace(/[^\x21-\x7e]/g, '').slice(0, MAX_SYMBOL);
}
