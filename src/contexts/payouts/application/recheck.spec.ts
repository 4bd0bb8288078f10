import { expect, it } from '@jest/globals';
import { evidenceAt } from '../../../../test/support/payouts/evidence.js';
import type { RecordedEvent } from '../../../platform/event-store/port.js';
import { Recheck, type RecheckedNode, type Noted } from './recheck.js';

const HERE = 31337;
const evidence = evidenceAt(0);

function received(position: number, chainId: number): RecordedEvent {
  const data = {
    payout_id: `payout-${position}`,
    merchant_id: 'm',
    user_id: 'u',
    amount: '12.5',
    currency_code: 'USDC',
    transaction_hash: `0x${String(position).padStart(64, '0')}`,
    custom_metadata: '{}',
    chain_id: chainId,
    received_at: 't',
    ...evidence,
    created_at: 't',
  };
  return {
    id: `${position}`,
    type: 'payout.received.v2',
    data,
    metadata: {},
    stream: 's',
    revision: 1,
    position: String(position),
    recordedAt: new Date(0),
  };
}

it('a payout on another chain is counted as such, and neither requested from the node nor called undone', async () => {
  const events = [received(1, 1), received(2, HERE), received(3, 8453)];
  const requested: string[] = [];
  const node: RecheckedNode = {
    confirm: async (transactions) => {
      requested.push(...transactions.map(({ hash }) => hash));
      const block = { number: 100, hash: '0xaa', timestamp: 1 };
      // No transaction is on any block.
      return {
        head: block,
        final: block,
        receipts: new Map(transactions.map(({ hash }) => [hash, null])),
        node: 'node.example',
        refusals: [],
      };
    },
    blockHashes: async (heights) => new Map(heights.map((height) => [height, evidence.block_hash])),
  };
  const store = {
    head: async () => '3',
    readAll: async (after: string | null) => (after === null ? events : []),
  };
  const recheck = new Recheck(store, node, { altered: async () => new Set<string>() }, HERE);
  const notes: Noted[] = [];
  await recheck.run(
    null,
    (note) => notes.push(note),
    () => undefined,
  );
  expect(requested).toEqual([events[1]!.data['transaction_hash']]);
  expect(notes.map(({ kind, payout_id }) => [kind, payout_id])).toEqual([['undone', 'payout-2']]);
  expect(recheck.counts).toMatchObject({ checked: 1, undone: 1, other_chains: 2 });
});
