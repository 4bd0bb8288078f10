import { describe, expect, it } from '@jest/globals';
import { Streams } from './streams.js';
import { Violations } from './findings.js';

type Event = readonly [stream: string, type: string, data?: object];

function rulesOf(...events: readonly Event[]): string {
  const violations = new Violations();
  const streams = new Streams(violations);
  const revisions = new Map<string, number>();
  events.forEach(([stream, type, data = {}], place) => {
    const revision = (revisions.get(stream) ?? -1) + 1;
    revisions.set(stream, revision);
    streams.add({ position: String(place + 1), stream, revision, type, data });
  });
  return violations.listed.map(({ rule }) => rule).join();
}

const claim = (owner: string, stream = 'transfer-1'): Event => [stream, 'claim.taken.v1', { owner }];
const fence = (stream: string): Event => [stream, 'claim.owner_abandoned.v1'];

describe('streams', () => {
  it('have no gaps, and their positions grow', () => {
    const violations = new Violations();
    const streams = new Streams(violations);
    streams.add({ position: '9', stream: 'x-1', revision: 0, type: 'x', data: {} });
    streams.add({ position: '10', stream: 'x-1', revision: 1, type: 'x', data: {} });
    expect(violations.count).toBe(0);
    streams.add({ position: '9', stream: 'x-1', revision: 3, type: 'x', data: {} });
    expect(violations.listed.map(({ rule }) => rule)).toEqual([
      'positions grow',
      'revisions of x-1 have no gap (1, then 3)',
    ]);
  });

  it('of a part of the log without the claims of others may begin later only for claims', () => {
    const violations = new Violations();
    const streams = new Streams(violations, { wholeStreams: true, allClaims: false });
    streams.add({
      position: '1',
      stream: 'transfer-1',
      revision: 2,
      type: 'claim.taken.v1',
      data: { owner: 'a-1' },
    });
    expect(violations.count).toBe(0);
    streams.add({ position: '2', stream: 'x-1', revision: 2, type: 'x', data: {} });
    streams.add({
      position: '3',
      stream: 'transfer-1',
      revision: 4,
      type: 'claim.taken.v1',
      data: { owner: 'a-1' },
    });
    expect(violations.listed).toEqual([
      { position: '2', rule: 'revisions of x-1 have no gap (-1, then 2)' },
      { position: '3', rule: 'revisions of transfer-1 have no gap (2, then 4)' },
    ]);
  });

  it('of a part of the log are not checked for moved claims', () => {
    const violations = new Violations();
    const streams = new Streams(violations, { wholeStreams: false, allClaims: true });
    const events: readonly Event[] = [['a-1', 'a'], claim('a-1'), claim('a-2')];
    events.forEach(([stream, type, data = {}], n) =>
      streams.add({ position: String(n + 1), stream, revision: n, type, data }),
    );
    expect(violations.count).toBe(0);
  });

  it('are counted with their events, and keep their places while their number grows', () => {
    const violations = new Violations();
    const streams = new Streams(violations);
    const add = (n: number, revision: number, position: number): number =>
      streams.add({ position: String(position), stream: `x-${n}`, revision, type: 'x', data: {} });
    for (let n = 0; n < 3000; n += 1) expect(add(n, 0, n + 1)).toBe(n);
    expect([add(1023, 1, 4000), add(1024, 1, 4001), add(2999, 1, 4002)]).toEqual([1023, 1024, 2999]);
    expect([streams.count, streams.events, violations.listed]).toEqual([3000, 3003, []]);
  });

  it('grow in position as numbers, not as texts', () => {
    const violations = new Violations();
    const streams = new Streams(violations);
    ['9', '10', '11', '11', '9'].forEach((position, revision) =>
      streams.add({ position, stream: 'x-1', revision, type: 'x', data: {} }),
    );
    expect(violations.listed).toEqual([
      { position: '11', rule: 'positions grow' },
      { position: '9', rule: 'positions grow' },
    ]);
  });

  it('of a part of the log may begin later, and are then not whole', () => {
    const violations = new Violations();
    const streams = new Streams(violations, { wholeStreams: false, allClaims: false });
    const number = streams.add({ position: '9', stream: 'x-1', revision: 4, type: 'x', data: {} });
    const other = streams.add({ position: '10', stream: 'x-2', revision: 0, type: 'x', data: {} });
    expect([violations.count, streams.isWhole(number), streams.isWhole(other)]).toEqual([0, false, true]);
  });

  it.each<[string, readonly Event[]]>([
    ['again by its owner', [claim('a-1'), ['a-1', 'a'], claim('a-1')]],
    ['by another while its owner has not begun', [claim('a-1'), claim('a-2'), ['a-2', 'a']]],
    ['by another while its owner has no events', [claim('a-1'), fence('a-1'), claim('a-2'), ['a-2', 'a']]],
    [
      'by another once its owner is done with it',
      [
        claim('a-1', 'user_phone_number-1'),
        ['a-1', 'user.deactivated.v1'],
        claim('a-2', 'user_phone_number-1'),
      ],
    ],
  ])('claims may move %s', (_name, events) => {
    expect(rulesOf(...events)).toBe('');
  });

  it.each<[string, readonly Event[], RegExp]>([
    ['from an owner that holds it', [claim('a-1'), ['a-1', 'a'], claim('a-2')], /transfer-1 has one owner/],
    [
      'from one that is done, of a claim that stays held',
      [claim('a-1'), ['a-1', 'user.deactivated.v1'], claim('a-2')],
      /transfer-1 has one owner/,
    ],
    ...['user_external_id-1', 'user_wallet-1'].map((held): [string, readonly Event[], RegExp] => [
      `of ${held} from a user who is deactivated`,
      [claim('a-1', held), ['a-1', 'user.deactivated.v1'], claim('a-2', held)],
      /has one owner/,
    ]),
    [
      'of a phone number from one who is not done with it',
      [claim('a-1', 'user_phone_number-1'), ['a-1', 'a'], claim('a-2', 'user_phone_number-1')],
      /user_phone_number-1 has one owner/,
    ],
    ['and hold other events', [claim('a-1'), ['transfer-1', 'a']], /holds claims alone, and no a/],
    ['and given up by an owner with events', [['a-1', 'a'], fence('a-1')], /given up before it holds events/],
  ])('claims may not move %s', (_name, events, rule) => {
    expect(rulesOf(...events)).toMatch(rule);
  });
});
