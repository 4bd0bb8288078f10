import { describe, expect, it } from '@jest/globals';
import { onlyOnce } from '../../../kernel/history-rules.js';
import type { PlacedEvent } from '../ledger/event-leaf.js';
import { FindingList } from '../../../kernel/finding-list.js';
import { Violations } from './findings.js';
import { Histories } from './streams.js';

const created = (stream: string, type = 'thing.created.v1'): PlacedEvent => ({
  position: '7',
  stream,
  revision: 0,
  type,
  data: {},
});

describe('the histories of a log', () => {
  it('are verified by the rules of their category, in any order of their streams', () => {
    const violations = new Violations();
    const histories = new Histories([onlyOnce('thing', 'thing.created.v1').rules], violations);
    histories.add(created('thing-a'), 3);
    histories.add(created('thing-b-c'), 1);
    histories.add(created('thing-b-c', 'claim.owner_abandoned.v1'), 1);
    histories.add(created('thing-b-c', 'thing.unknown.v1'), 1);
    histories.add(created('other-a'), 0);
    expect([histories.evaluated, violations.listed]).toEqual([2, []]);
    histories.add(created('thing-a'), 3);
    expect(violations.listed).toEqual([
      {
        position: '7',
        rule: 'thing-a, thing.created.v1: it does not follow from what was before it',
      },
    ]);
  });
});

describe('what is found', () => {
  it('is listed up to fifty differences, and counted', () => {
    const differences = new FindingList<string>();
    for (let n = 0; n < 49; n += 1) differences.add(String(n));
    differences.addAll(['a', 'b'], 5);
    differences.addAll(['c'], 1);
    differences.add('d');
    expect([differences.count, differences.listed.length, differences.listed.at(-1)]).toEqual([56, 50, 'a']);
  });

  it('is listed up to a thousand violations, and counted', () => {
    const violations = new Violations();
    for (let n = 0; n < 1001; n += 1) violations.add({ position: String(n), rule: 'r' });
    expect([violations.count, violations.listed.length, violations.listed.at(-1)]).toEqual([
      1001,
      1000,
      { position: '999', rule: 'r' },
    ]);
  });
});
