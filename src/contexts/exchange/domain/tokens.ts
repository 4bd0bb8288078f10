import { CHAINS, PAIRS, TOKENS, type Asset, type Chain, type Pair, type Token } from './catalog.js';

/**
 * Look-ups in the {@link ./catalog.ts}. What is exchanged for is `sol` on `solana` and nothing else (contract.md 25.2);
 * whoever checks a parameter asks {@link pairsTo}.
 */

const chains = new Map(CHAINS.map((chain) => [chain.id, chain]));
const tokens = new Map(TOKENS.map((token) => [token.id, token]));
const pairs = new Map(PAIRS.map((pair) => [pair.id, pair]));

/** Null for what is no pair; case counts. */
export function pairOf(id: string): Pair | null {
  return pairs.get(id) ?? null;
}

/** Null for what is no token; case counts. */
export function tokenOf(id: string): Token | null {
  return tokens.get(id) ?? null;
}

/** Null for what is no chain; case counts. */
export function chainOf(id: string): Chain | null {
  return chains.get(id) ?? null;
}

/** What amounts of a pair's orders are in, for people: `USDC on Base`. */
export function currencyOf(pairId: string): string {
  const from = pairOf(pairId)?.from;
  return from === undefined ? pairId : `${tokenOf(from.token)?.symbol} on ${chainOf(from.chain)?.name}`;
}

/** Digits after the point of a token on a chain. Throws for what the catalogue has not. */
export function decimalsOf({ token, chain }: Asset): number {
  const decimals = new Map(Object.entries(tokenOf(token)?.decimals ?? {})).get(chain);
  if (decimals === undefined) throw new Error(`the catalogue has no ${token} on ${chain}`);
  return decimals;
}

/** Pairs that give the token on the chain. */
export function pairsTo({ token, chain }: Asset): readonly Pair[] {
  return PAIRS.filter(({ to }) => to.token === token && to.chain === chain);
}

/** A token that is exchanged for another (contract.md 25.1). */
export interface OfferedToken {
  readonly token: Token;
  readonly chains: readonly Chain[];
  readonly pairs: readonly Pair[];
}

/** What can be exchanged for an asset by somebody who does these pairs, in the order of the catalogue. */
export function offered(to: Asset, pairIds: readonly string[]): readonly OfferedToken[] {
  const had = pairsTo(to).filter(({ id }) => pairIds.includes(id));
  return TOKENS.map((token) => {
    const of = had.filter(({ from }) => from.token === token.id);
    const on = new Set(of.map(({ from }) => from.chain));
    return { token, chains: CHAINS.filter(({ id }) => on.has(id)), pairs: of };
  }).filter(({ pairs: of }) => of.length > 0);
}
