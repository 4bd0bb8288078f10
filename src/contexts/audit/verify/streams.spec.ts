import { describe, expect, it } from '@jest/globals';
import { onlyOnce } from '../../../kernel/history-rules.js';
import { Violations } from './findings.js';
import { type Extent, Histories, Streams } from './streams.js';

type Event = readonly [stream: string, type: string, data?: object];
/** An event of type `x` by stream, position and revision. */
type Placed = readonly [stream: string, position: string, revision: number];

/** The broken rules of events, each at the next revision of its stream. */
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

/** Checks events at these places; those of `transfer` streams are claims. */
function checkOf(events: readonly Placed[], extent?: Extent) {
  const violations = new Violations();
  const streams = new Streams(violations, extent);
  const numbers = events.map(([stream, position, revision]) => {
    const isClaim = stream.startsWith('transfer-');
    const content = isClaim ? { type: 'claim.taken.v1', data: { owner: 'a-1' } } : { type: 'x', data: {} };
    return streams.add({ position, stream, revision, ...content });
  });
  return { streams, numbers, found: violations.listed };
}

const claim = (owner: string, stream = 'transfer-1'): Event => [stream, 'claim.taken.v1', { owner }];
const fence = (stream: string): Event => [stream, 'claim.owner_abandoned.v1'];

describe('the streams of a log', () => {
  it('are reported if their revisions have a gap', () => {
    const gap = checkOf([
      ['x-1', '9', 0],
      ['x-1', '10', 1],
      ['x-1', '11', 3],
    ]);
    expect(gap.found).toEqual([{ position: '11', rule: 'revisions of x-1 must have no gap (1, then 3)' }]);
  });

  it('may lack their first events in an export of one merchant only if they contain claims', () => {
    const events: Placed[] = [
      ['transfer-1', '1', 2],
      ['x-1', '2', 2],
      ['transfer-1', '3', 4],
    ];
    expect(checkOf(events, { wholeStreams: true, allClaims: false }).found).toEqual([
      { position: '2', rule: 'revisions of x-1 must have no gap (-1, then 2)' },
      { position: '3', rule: 'revisions of transfer-1 must have no gap (2, then 4)' },
    ]);
  });

  it('are not checked for second owners of claims in an export without the beginning of the log', () => {
    const violations = new Violations();
    const streams = new Streams(violations, { wholeStreams: false, allClaims: true });
    const events: readonly Event[] = [['a-1', 'a'], claim('a-1'), claim('a-2')];
    events.forEach(([stream, type, data = {}], n) =>
      streams.add({ position: String(n + 1), stream, revision: n, type, data }),
    );
    expect(violations.count).toBe(0);
  });

  it('get consecutive numbers and are counted with their events', () => {
    const first = Array.from({ length: 3000 }, (_, n): Placed => [`x-${n}`, String(n + 1), 0]);
    const again = [1023, 1024, 2999].map((n): Placed => [`x-${n}`, String(n + 4000), 1]);
    const { streams, numbers, found } = checkOf([...first, ...again]);
    expect(numbers).toEqual([...first.keys(), 1023, 1024, 2999]);
    expect([streams.count, streams.events, found]).toEqual([3000, 3003, []]);
  });

  it('have positions that are compared as numbers, not as texts', () => {
    const positions = ['9', '10', '11', '11', '9'];
    expect(checkOf(positions.map((position, revision) => ['x-1', position, revision])).found).toEqual([
      { position: '11', rule: 'positions must increase' },
      { position: '9', rule: 'positions must increase' },
    ]);
  });

  it('count as incomplete if an export begins later than the log and lacks their first events', () => {
    const { streams, numbers, found } = checkOf(
      [
        ['x-1', '9', 4],
        ['x-2', '10', 0],
      ],
      { wholeStreams: false, allClaims: false },
    );
    expect([found, numbers.map((number) => streams.isWhole(number))]).toEqual([[], [false, true]]);
  });

  it.each<[string, readonly Event[]]>([
    ['by the same owner', [claim('a-1'), ['a-1', 'a'], claim('a-1')]],
    ['by another owner while the first has no events', [claim('a-1'), claim('a-2'), ['a-2', 'a']]],
    ['by another owner after a fence of the first', [claim('a-1'), fence('a-1'), claim('a-2'), ['a-2', 'a']]],
    [
      'of a phone number after the deactivation of the first owner',
      [
        claim('a-1', 'user_phone_number-1'),
        ['a-1', 'user.deactivated.v1'],
        claim('a-2', 'user_phone_number-1'),
      ],
    ],
  ])('may contain a second claim %s', (_name, events) => {
    expect(rulesOf(...events)).toBe('');
  });

  it.each<[string, readonly Event[], RegExp]>([
    ['a second owner of a claim', [claim('a-1'), ['a-1', 'a'], claim('a-2')], /transfer-1 must have one/],
    ...['transfer-1', 'user_external_id-1', 'user_wallet-1'].map(
      (held): [string, readonly Event[], RegExp] => [
        `a second owner of ${held} after the first was deactivated`,
        [claim('a-1', held), ['a-1', 'user.deactivated.v1'], claim('a-2', held)],
        /must have one owner/,
      ],
    ),
    [
      'a second owner of the phone number of an active owner',
      [claim('a-1', 'user_phone_number-1'), ['a-1', 'a'], claim('a-2', 'user_phone_number-1')],
      /user_phone_number-1 must have one owner/,
    ],
    ['other events in a claim stream', [claim('a-1'), ['transfer-1', 'a']], /contain only claims, and no a/],
    ['a fence of an owner with events', [['a-1', 'a'], fence('a-1')], /abandoned before it has events/],
  ])('may not contain %s', (_name, events, rule) => {
    expect(rulesOf(...events)).toMatch(rule);
  });
});

it('histories are verified by the rules of their category, regardless of the order of their streams', () => {
  const violations = new Violations();
  const histories = new Histories([onlyOnce('thing', 'thing.created.v1').rules], violations);
  const add = (stream: string, number: number, type = 'thing.created.v1'): void =>
    histories.add({ position: '7', stream, revision: 0, type, data: {} }, number);
  add('thing-a', 3);
  add('thing-b-c', 1);
  add('thing-b-c', 1, 'claim.owner_abandoned.v1');
  add('thing-b-c', 1, 'thing.unknown.v1');
  add('other-a', 0);
  expect([histories.evaluated, violations.listed]).toEqual([2, []]);
  add('thing-a', 3);
  const rule = 'thing-a, thing.created.v1: it does not follow from what was before it';
  expect(violations.listed).toEqual([{ position: '7', rule }]);
});
