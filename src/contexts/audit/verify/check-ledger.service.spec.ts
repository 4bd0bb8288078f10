import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import {
  AT,
  checkLedger,
  headOf,
  ledgerOver,
  log,
  signer,
  stored,
  TRUSTING,
} from '../../../../test/support/audit/signed-log.js';
import type { LeafEvent } from '../ledger/event-leaf.js';
import { hashOfHead, type SignedHead } from '../ledger/signed-head.js';
import type { Leaf, LedgerState } from '../ledger/ledger.store.js';
import type { LedgerInputs } from './check-ledger.service.js';

interface Compared {
  readonly state?: LedgerState;
  readonly leaves?: readonly Leaf[];
  readonly heads?: readonly SignedHead[];
  readonly ledger?: Partial<LedgerInputs>;
  /** The events of a page. */
  readonly page?: number;
}

async function compared(log: readonly LeafEvent[], recorded: readonly LeafEvent[], over: Compared = {}) {
  const ledger = { ...ledgerOver(recorded), ...over };
  const pages = (async function* () {
    const page = over.page ?? 3;
    for (let from = 0; from < log.length; from += page) yield log.slice(from, from + page);
  })();
  return checkLedger(pages, {
    state: ledger.state,
    leaves: async (index, limit) =>
      ledger.leaves.filter((leaf) => leaf.index >= index).slice(0, Math.min(limit, 4)),
    heads: stored(over.heads ?? []),
    trust: TRUSTING,
    ...over.ledger,
  });
}

const place = ({ position, stream, revision, id }: LeafEvent) => ({ position, stream, revision, id });

describe('the comparison of a log with the leaves of its ledger', () => {
  const key = signer(null);
  const events = log([1, 2, 3, 4, 5, 6, 7, 8, 9]);
  const [first, , third, fourth] = events as [LeafEvent, LeafEvent, LeafEvent, LeafEvent];
  const without = (...gone: readonly LeafEvent[]) => events.filter((event) => !gone.includes(event));
  const changed = events.map((event) => (event === third ? { ...event, data: { amount: 99 } } : event));

  it('finds no difference in an unchanged log, with pages of any size', async () => {
    const head = headOf(events.slice(0, 7), key);
    for (const page of [1, 4, 9]) {
      const report = await compared(events, events, { page, heads: [head] });
      expect(report).toEqual({ events: 9, unsigned: 2, heads: 1, proven: head, findings: [], more: 0 });
    }
  });

  it('accepts that the newest events have no leaves yet', async () => {
    expect(await compared(events, events.slice(0, 6))).toMatchObject({
      events: 9,
      findings: [],
      unsigned: 9,
    });
    expect(await compared([], [], { ledger: { state: null } })).toMatchObject({ events: 0, findings: [] });
  });

  it('ignores leaves that are added during the check', async () => {
    const { leaves } = ledgerOver([...events, ...log([1])]);
    const { state } = ledgerOver(events);
    expect((await compared(events, events, { leaves, state })).findings).toEqual([]);
    const deleted = leaves.filter(({ index }) => index !== 8);
    expect((await compared(events, events, { leaves: deleted, state })).findings).toEqual([
      { kind: 'inserted', ...place(events[8]!) },
      { kind: 'ledger', what: 'found 8 leaves, expected 9' },
    ]);
  });

  it.each<[string, readonly LeafEvent[], readonly object[]]>([
    ['changed', changed, [{ kind: 'changed', ...place(third) }]],
    ['deleted in the middle', without(third), [{ kind: 'deleted', position: '3' }]],
    [
      'deleted at the beginning, together with a later event',
      without(first, fourth),
      [
        { kind: 'deleted', position: '1' },
        { kind: 'deleted', position: '4' },
      ],
    ],
    [
      'deleted at the end',
      events.slice(0, 7),
      [{ kind: 'truncated', events: 7, size: 9, signed_at: null, ends_at: '7', ended_at: '9' }],
    ],
  ])('finds an event that was %s', async (_what, log, findings) => {
    expect((await compared(log, events)).findings).toEqual(findings);
    expect((await compared(log, events, { page: 1 })).findings).toEqual(findings);
  });

  const spread = events.map((event) => ({ ...event, position: `${event.position}0` }));

  it('finds an event that was inserted between two others', async () => {
    const stranger = { ...third, id: randomUUID(), position: '35' };
    const log = [...spread.slice(0, 3), stranger, ...spread.slice(3)];
    expect((await compared(log, spread)).findings).toEqual([{ kind: 'inserted', ...place(stranger) }]);
  });

  it('reports both positions of an event that was moved', async () => {
    const moved = { ...spread[2]!, position: '45' };
    const log = [...spread.slice(0, 2), spread[3]!, moved, ...spread.slice(4)];
    expect((await compared(log, spread)).findings).toEqual([{ kind: 'moved', from: '30', ...place(moved) }]);
  });

  it('reports an event that cannot be read', async () => {
    const broken = events.map((event) =>
      event === third ? { ...event, data: { amount: Infinity } } : event,
    );
    expect((await compared(broken, events)).findings).toEqual([{ kind: 'unreadable', ...place(third) }]);
  });

  it('reports only once an event that the service did not write', async () => {
    const isForged = ({ position }: LeafEvent): boolean => position === '3';
    const forged = { kind: 'forged', ...place(third) };
    expect((await compared(events, events, { ledger: { isForged } })).findings).toEqual([forged]);
    expect((await compared(events, events.slice(0, 2), { ledger: { isForged } })).findings).toEqual([forged]);
    expect((await compared(changed, events, { ledger: { isForged } })).findings).toMatchObject([
      { kind: 'changed' },
    ]);
  });

  it('reports a leaf instead of its event if a signed head agrees with the event', async () => {
    const { findings } = await compared(events, changed, { heads: [headOf(events.slice(0, 4), key)] });
    expect(findings).toEqual([{ kind: 'ledger', what: 'the leaf at position 3 is not that of the event' }]);
  });

  it('reports the first head that contradicts the log, and the size of the last agreeing head', async () => {
    const [two, four] = [headOf(events.slice(0, 2), key), headOf(events.slice(0, 4), key)];
    const { findings, proven, unsigned } = await compared(changed, events, { heads: [two, four] });
    expect(findings).toEqual([
      { kind: 'head', size: 4, why: 'it does not follow the head before it' },
      { kind: 'changed', ...place(third) },
    ]);
    expect([proven, unsigned]).toEqual([two, 7]);
    const chained = { ...four, previous: hashOfHead(two) };
    expect((await compared(changed, events, { heads: [two, chained] })).findings).toEqual([
      { kind: 'changed', ...place(third) },
      { kind: 'rewritten', size: 4, since: 2, signed_at: AT },
    ]);
  });

  it('reports a head that covers more events than log and leaves have', async () => {
    const { findings } = await compared(events.slice(0, 5), events.slice(0, 5), {
      heads: [headOf(events, key)],
    });
    expect(findings).toEqual([
      { kind: 'truncated', events: 5, size: 9, signed_at: AT, ends_at: '5', ended_at: '9' },
      { kind: 'ledger', what: 'the leaves end before event 9, the last one of a signed head' },
    ]);
  });

  it('reports heads whose key is older than the key of the auditor', async () => {
    const [two, four] = [headOf(events.slice(0, 2), key), headOf(events.slice(0, 4), key)];
    const heads = [two, { ...four, previous: hashOfHead(two) }];
    const why = 'its key is older than the one that you brought, which does not prove it';
    const trusting = (trusts: LedgerInputs['trust']['trusts']): Compared => ({
      heads,
      ledger: { trust: { ...TRUSTING, trusts } },
    });
    const [older, later] = [trusting(() => false), trusting((head) => head === heads[1])];
    const none = { proven: null, unsigned: 9, findings: [{ kind: 'head', size: 4, why }] };
    expect(await compared(events, events, older)).toMatchObject(none);
    expect(await compared(events, events, later)).toMatchObject({ unsigned: 5, findings: [] });
    const other = await compared(changed, changed, older);
    expect(other.findings).toContainEqual(expect.objectContaining({ kind: 'rewritten', size: 4 }));
  });

  it('finds that log and ledger were both truncated if the auditor retained a head', async () => {
    const cut = events.slice(0, 2);
    const retained = headOf(events, key, 'a hash of a head that was deleted');
    const heads = [headOf(cut, key), retained];
    const { findings } = await compared(cut, cut, { heads, ledger: { retained: new Set([retained]) } });
    expect(findings.map(({ kind }) => kind)).toEqual(['truncated', 'ledger']);
  });

  it('reports heads with a wrong signature, and does not use them as proof', async () => {
    const verify = (): string => 'its signature is wrong';
    const { findings, proven } = await compared(events, events, {
      heads: [headOf(events.slice(0, 4), key)],
      ledger: { trust: { ...TRUSTING, verify } },
    });
    expect(findings).toEqual([{ kind: 'head', size: 4, why: 'its signature is wrong' }]);
    expect(proven).toBeNull();
  });

  it('reports rows of the ledger that were changed', async () => {
    const { state, leaves } = ledgerOver(events);
    const whats = async (over: Compared): Promise<readonly string[]> =>
      (await compared(events, events, over)).findings.map((each) =>
        each.kind === 'ledger' ? each.what : each.kind,
      );
    expect(await whats({ ledger: { forgedRows: ['a row'] } })).toEqual(['a row']);
    expect(await whats({ state: { ...state, position: '8' } })).toEqual([
      'the position in audit.ledger is not that of the last leaf',
    ]);
    expect(await whats({ state: { ...state, tree: ledgerOver(changed).state.tree } })).toEqual([
      'audit.ledger has another root than its leaves',
    ]);
    for (const length of [64, 32]) {
      const completed = Buffer.alloc(length);
      const wrong = leaves.map((leaf) => (leaf.index === 3 ? { ...leaf, completed } : leaf));
      const what = 'the subtree roots stored with leaf 3 do not match the leaves';
      expect(await whats({ leaves: wrong })).toEqual([what]);
    }
    expect(await whats({ leaves: leaves.slice(0, 8) })).toEqual(['inserted', 'found 8 leaves, expected 9']);
    const gap = leaves.filter(({ index }) => index !== 2);
    expect((await whats({ leaves: gap }))[0]).toBe('leaf 2 is missing before leaf 3');
  });

  it('lists the first 100 findings, or the first 50 differences, and counts the others', async () => {
    const many = log(Array.from({ length: 130 }, (_, n) => n));
    const isForged = (): boolean => true;
    const report = await compared(many, many, { ledger: { isForged } });
    expect([report.findings.length, report.more]).toEqual([100, 30]);
    const others = many.map((event) => ({ ...event, data: { amount: -1 } }));
    const differing = await compared(others, many);
    expect([differing.findings.length, differing.more]).toEqual([50, 80]);
  });
});
