import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { onTestDatabase } from '../../../../test/support/postgres.js';
import { deriveId, newId } from '../../../kernel/ids.js';
import { InMemoryEventStore } from '../../../../test/support/in-memory-event-store.js';
import type { Commit, CommitResult, NewEvent, StreamAppend } from '../port.js';
import { encodeUnit, groupOfUnits } from './commit-call.js';
import { PostgresEventStore } from './postgres-event-store.js';

const expected = fc.oneof(fc.constant<StreamAppend['expected']>('no_stream'), fc.integer({ min: 0, max: 3 }));
const append = fc.record({
  stream: fc.constantFrom('a', 'b', 'c', 'd'),
  ids: fc.uniqueArray(fc.integer({ min: 0, max: 8 }), { maxLength: 3 }),
  expected,
});
const unit = fc.record({
  appends: fc.uniqueArray(append, { maxLength: 3, selector: ({ stream }) => stream }),
  response: fc.option(
    fc.record({ key: fc.constantFrom('k', 'l', 'm'), body: fc.constantFrom('', 'one', 'two') }),
  ),
});
type Unit = typeof unit extends fc.Arbitrary<infer T> ? T : never;

/** Random units with few names, so that they conflict; `round` separates the rounds. */
function commitOf({ appends, response }: Unit, round: string): Commit {
  const event = (n: number): NewEvent => ({
    id: deriveId(round, String(n)),
    type: 'x.v1',
    data: { n },
    metadata: {},
  });
  return {
    appends: appends.map(({ stream, ids, expected: revision }): StreamAppend => {
      return { stream: `${stream}-${round}`, events: ids.map(event), expected: revision };
    }),
    ...(response && {
      response: {
        scope: round,
        key: deriveId(response.key),
        fingerprint: 'f',
        status: 201,
        body: response.body,
      },
    }),
  };
}

describe('group commit', () => {
  describe('in PostgreSQL', () => {
    const database = onTestDatabase();

    it('returns for every unit of a shared call the same result as for a separate commit', async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(unit, { minLength: 1, maxLength: 25 }), async (units) => {
          const round = newId();
          const commits = units.map((each) => commitOf(each, round));
          const store = new PostgresEventStore(database.pool);
          // The units take effect group by group, and within a group in the order of submission.
          const order: number[] = [];
          const results = await Promise.all(
            commits.map(async (commit, n) => {
              const result = await store.commit(commit);
              order.push(n);
              return result;
            }),
          );
          const model = new InMemoryEventStore();
          for (const n of order)
            expect(comparable(results[n]!)).toEqual(comparable(await model.commit(commits[n]!)));
          for (const stream of ['a', 'b', 'c', 'd']) {
            const ids = async (from: PostgresEventStore | InMemoryEventStore): Promise<readonly string[]> =>
              (await from.readStream(`${stream}-${round}`)).map(({ id }) => id);
            expect(await ids(store)).toEqual(await ids(model));
          }
        }),
        { numRuns: 60 },
      );
    });

    it('fails only the unit whose content the database refuses', async () => {
      const store = new PostgresEventStore(database.pool);
      const one = (id: string): Promise<CommitResult> => {
        const events = [{ id, type: 'x.v1', data: {}, metadata: {} }];
        return store.commit({ appends: [{ stream: `s-${newId()}`, events, expected: 'no_stream' }] });
      };
      const results = await Promise.allSettled([one(newId()), one('no uuid'), one(newId())]);
      expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    });
  });

  it('puts units that conflict into separate groups, and splits a group that is too large', () => {
    fc.assert(
      fc.property(fc.array(unit, { minLength: 1, maxLength: 30 }), (units) => {
        const joins = groupOfUnits(2000);
        const members = units.map((each) => encodeUnit(commitOf(each, 'r'))).filter(joins);
        expect(hasMeeting(members.map(({ commit }) => commit))).toBe(false);
        expect(members.length > 1 && members.reduce((sum, { bytes }) => sum + bytes, 0) > 2000).toBe(false);
      }),
    );
    const large = { ...encodeUnit({ appends: [] }), bytes: 5000 };
    expect([large, large].filter(groupOfUnits(2000))).toHaveLength(1);
  });
});

/** The results without the values of positions, which differ between stores. */
function comparable(result: CommitResult): object {
  return result.outcome === 'committed' ? { ...result, position: result.position !== null } : result;
}

function hasMeeting(commits: readonly Commit[]): boolean {
  return commits.some((one, n) =>
    commits.slice(n + 1).some((other) => {
      const sameKey = one.response !== undefined && one.response.key === other.response?.key;
      const sameStream = one.appends.some((a) =>
        other.appends.some((b) => a.stream === b.stream && (a.events.length > 0 || b.events.length > 0)),
      );
      return sameKey || sameStream;
    }),
  );
}
