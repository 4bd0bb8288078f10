import type { Block } from '../../../../platform/chain/block.js';
import { ChainUnavailable } from '../../../../platform/chain/chain-unavailable.js';
import type { FoundDeposit, FoundTransfer } from '../../store/deposits.js';
import { ANY_HASH, type BlockPlace, type ScanCursor } from '../../store/scan-cursors.js';
import type { Heads } from '../../../../platform/chain/node-state.js';
import type { ScanNode } from './scan-node.js';
import type { TokenTransfer } from './transfer-logs.js';

/** Blocks that one look confirms at most: a gap of days is made up for in steps, each of which is stored. */
const STEP_BLOCKS = 1000;

export interface ScanRules {
  /** Nothing after this height is confirmed: for too few nodes it is final. */
  readonly finalUntil: number;
  /** The chain mines on demand: its blocks tell no time, and its head goes back when it is set up anew. */
  readonly isOnDemand: boolean;
}

/** What a node says of the blocks after the cursor. */
export interface ScanLook extends Heads {
  /** The newest final block, or as far towards it as one step goes. */
  readonly scanned: Block;
  readonly confirmed: readonly TokenTransfer[];
  /** Null: not looked at, there is more to confirm first. */
  readonly unconfirmed: { readonly after: number; readonly transfers: readonly TokenTransfer[] } | null;
}

/** The chain is no longer the one that was scanned. */
export class Reorganised extends Error {
  override readonly name = 'Reorganised';
  constructor(readonly head: Block) {
    super('the chain was reorganised');
  }
}

/** Throws {@link Reorganised}, or ChainUnavailable when nothing can be concluded from what the node says. */
export async function lookAhead(node: ScanNode, cursor: ScanCursor, rules: ScanRules): Promise<ScanLook> {
  const { head, final } = await node.heads();
  const { scanned, seen } = cursor;
  if (head.number < scanned.number) {
    if (rules.isOnDemand) throw new Reorganised(head);
    throw new ChainUnavailable('the newest block of the node is behind what was scanned');
  }
  const tip = Math.max(scanned.number, Math.min(final.number, rules.finalUntil));
  const to = Math.min(tip, scanned.number + STEP_BLOCKS);
  const hasSeen = seen.number >= to && seen.number <= head.number;
  const before = await node.blocks([scanned.number, to, final.number, ...(hasSeen ? [seen.number] : [])]);
  if (scanned.hash !== ANY_HASH && before(scanned.number).hash !== scanned.hash) throw new Reorganised(head);
  if (before(final.number).hash !== final.hash)
    throw new ChainUnavailable('the chain was reorganised during the look');
  // It is what tells that an order was not paid in time.
  if (before(to).timestamp > (to <= final.number ? final : head).timestamp)
    throw new ChainUnavailable('a block is later than one after it');
  const confirmed = to > scanned.number ? await node.transfers(scanned.number + 1, to) : [];
  const look = { head, final, scanned: before(to), confirmed };
  if (to < tip) return { ...look, unconfirmed: null };
  const after = hasSeen && before(seen.number).hash === seen.hash ? seen.number : to;
  const transfers = after < head.number ? await node.transfers(after + 1, head.number) : [];
  return { ...look, unconfirmed: { after, transfers } };
}

/** What of a look concerns orders. */
export interface OwnTransfers {
  readonly confirmed: readonly (TokenTransfer & FoundTransfer)[];
  /** Was seen under way in blocks that are confirmed now, and is not among these. */
  readonly vanished: readonly (BlockPlace & { readonly to: string })[];
}

/**
 * A second look, which has to agree with the first: the chain is still the same, each block that a transfer is in has
 * the hash that its log told, and another question about that block, and about those of what vanished, tells the same
 * transfers. Gives them with the times of their blocks. Throws ChainUnavailable where the node contradicts itself.
 */
export async function confirmLook(
  node: ScanNode,
  cursor: ScanCursor,
  look: ScanLook,
  { confirmed, vanished }: OwnTransfers,
): Promise<readonly FoundDeposit[]> {
  const wanted = [
    ...confirmed.map(({ blockNumber: number, blockHash: hash, to }) => ({ number, hash, to })),
    ...vanished,
  ];
  const stood = [cursor.scanned, look.scanned, look.final, look.head].filter(({ hash }) => hash !== ANY_HASH);
  const now = await node.blocks([...stood, ...wanted].map(({ number }) => number));
  const isCanonical = ({ number, hash }: BlockPlace): boolean => now(number).hash === hash;
  if (!stood.every(isCanonical) || !wanted.slice(0, confirmed.length).every(isCanonical))
    throw new ChainUnavailable('the chain was reorganised during the look');
  const addresses = new Map<string, { readonly block: BlockPlace; readonly to: string[] }>();
  for (const { to, ...block } of wanted.filter(isCanonical)) {
    const known = addresses.get(block.hash);
    if (known === undefined) addresses.set(block.hash, { block, to: [to] });
    else known.to.push(to);
  }
  const told = new Map<string, TokenTransfer>();
  for (const { block, to } of addresses.values())
    for (const each of await node.transfersTo(block, to))
      told.set(`${each.transactionHash}:${each.logIndex}`, each);
  for (const each of confirmed) {
    const again = told.get(`${each.transactionHash}:${each.logIndex}`);
    if (again?.to !== each.to || again.amountMinor !== each.amountMinor) throw contradiction();
  }
  if (told.size !== confirmed.length) throw contradiction();
  return confirmed.map((each) => ({ ...each, blockAt: new Date(now(each.blockNumber).timestamp * 1000) }));
}

function contradiction(): ChainUnavailable {
  return new ChainUnavailable('the node contradicts itself about a transfer');
}
