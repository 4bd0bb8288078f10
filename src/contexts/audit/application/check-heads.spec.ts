import { describe, expect, it } from '@jest/globals';
import {
  headOf,
  ledgerOver,
  LOG,
  log,
  signer,
  type Signer,
  stored,
  TRUSTING,
} from '../../../../test/support/audit/signed-log.js';
import type { LeafEvent } from '../domain/event-leaf.js';
import { keyText, type SignedHead, type SigningKey } from '../domain/signed-head.js';
import { checkLedger, type LedgerReport } from './check-ledger.js';
import { HeadTrust } from './head-trust.js';

async function checked(
  events: readonly LeafEvent[],
  heads: readonly SignedHead[],
  keys: readonly Signer[],
  known: SigningKey | null,
): Promise<LedgerReport> {
  const trust = new HeadTrust(LOG, keys, known, null);
  const pages = (async function* () {
    yield events;
  })();
  return checkLedger(pages, { state: null, leaves: async () => [], trust, heads: stored(heads) });
}

describe('heads, for an auditor who knows one public key', () => {
  const first = signer(null);
  const second = signer(first);
  const events = log([1, 2, 3, 4, 5]);
  const heads = [
    headOf(events.slice(0, 2), first),
    headOf(events.slice(0, 3), first),
    headOf(events, second),
  ];

  it.each([
    ['the first', first],
    ['a later one', second],
    ['none', null],
  ])('are in order over an unchanged log: %s', async (_name, known) => {
    const { findings, proven } = await checked(events, heads, [first, second], known);
    expect(findings).toEqual([]);
    expect(proven?.size).toBe(5);
  });

  it('prove nothing when a key that was put before it has signed them', async () => {
    // A writer to the database creates a key, has it sign the known one, and signs another history.
    const evil = signer(null);
    const signed = { ...first, former_key_id: evil.key_id };
    const keys = [evil, { ...signed, signature: evil.sign(keyText(signed)) }];
    const forged = log([1, 2, 3, 4, 999]);
    const { findings, proven } = await checked(forged, [headOf(forged, evil)], keys, first);
    expect(proven).toBeNull();
    expect(findings).toEqual([expect.objectContaining({ kind: 'head', size: 5 })]);
  });

  it('that were retained show that log and ledger were cut back, also without the heads between', async () => {
    const cut = events.slice(0, 2);
    const { state, leaves } = ledgerOver(cut);
    const retained = headOf(events, first, 'a hash of a head that was deleted');
    const pages = (async function* () {
      yield cut;
    })();
    const { findings } = await checkLedger(pages, {
      state,
      leaves: async (index) => leaves.slice(index),
      trust: TRUSTING,
      heads: stored([heads[0]!, retained]),
      retained: new Set([retained]),
    });
    expect(findings.map(({ kind }) => kind)).toEqual(['truncated', 'ledger']);
  });

  it('of earlier keys still show what contradicts them', async () => {
    const forged = [...log([7]), ...events.slice(1)];
    const all = [...heads.slice(0, 2), headOf(forged, second)];
    const { findings } = await checked(forged, all, [first, second], second);
    expect(findings.map(({ kind }) => kind)).toEqual(['rewritten']);
  });
});
