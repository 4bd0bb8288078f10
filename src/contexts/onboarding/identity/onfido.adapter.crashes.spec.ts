import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '../../../../test/support/eventually.js';
import { OnfidoHarness, type Person } from '../../../../test/support/onboarding/onfido/onfido-harness.js';
import { newId } from '../../../kernel/ids.js';

let harness: OnfidoHarness;
beforeAll(async () => {
  harness = await OnfidoHarness.open();
});
afterEach(() => harness.onfido.recover());
afterAll(() => harness.close());

describe('a process that crashes during an identity check', () => {
  /** Decides until there is an outcome, each time as a separate process, once the claim of the dead one is over. */
  const until = (ada: Person) =>
    eventually(async () => {
      await harness.database.query('update onboarding.verifications set check_claimed_until = null');
      const decided = await harness
        .verifier()
        .decide(ada)
        .catch(() => null);
      return decided === 'under_review';
    });

  const once = (ada: Person) => {
    expect(harness.checksOf(ada)).toHaveLength(1);
    const [applicant] = harness.applicantsOf(ada).filter(({ checks }) => checks.length > 0);
    // Images may be there twice, but none is missing.
    expect(new Set(applicant!.documents.map(({ side }) => side))).toEqual(new Set(['back', 'front']));
    expect(applicant!.livePhotos).not.toEqual([]);
    // An orphaned one holds no personal data.
    const others = harness.applicantsOf(ada).filter(({ checks }) => checks.length === 0);
    for (const { fields } of others) expect(JSON.stringify(fields)).not.toMatch(/Ada|Lovelace|1815/);
  };

  const CALLS = 8;
  it.each(Array.from({ length: CALLS }, (_, nth) => nth))(
    'leaves one check if it crashes at request %i, before or after Onfido receives the request',
    async (nth) => {
      for (const fault of ['reset', 'done, then reset'] as const) {
        const ada = harness.person();
        harness.onfido.faults = [...Array.from({ length: nth }, () => null), fault];
        await until(ada);
        once(ada);
      }
    },
  );

  it('leaves one check even if eight processes work on it at the same time', async () => {
    const ada = harness.person();
    const all = Array.from({ length: 8 }, () =>
      harness
        .verifier()
        .decide(ada)
        .catch(() => null),
    );
    await Promise.all(all);
    await until(ada);
    once(ada);
  });

  it('leaves the older check in use if two checks were created', async () => {
    const ada = harness.person();
    await harness.verifier().decide(ada);
    const [applicant] = harness.applicantsOf(ada);
    const [first] = applicant!.checks;
    applicant!.checks.unshift({
      ...first!,
      id: newId(),
      created_at: '2099-01-01T00:00:00.000Z',
      status: 'complete',
      result: 'clear',
    });
    await harness.database.query('update onboarding.verifications set check_reference = null');
    expect(await harness.verifier().decide(ada)).toBe('under_review');
  });
});
