import { afterEach, describe, expect, it } from '@jest/globals';
import { IdentityVerifier } from '../../../src/contexts/onboarding/providers/providers.ports.js';
import en from '../../../src/contexts/onboarding/words/en.json' with { type: 'json' };
import { Progress } from '../../../src/contexts/onboarding/onboardings/onboardings.view.js';
import { registry } from '../../../src/platform/telemetry/metrics.js';
import { eventually } from '../../support/eventually.js';
import { confirmed, eventsOf, onboardingOf, submitted, urlOf } from '../../support/onboarding/onboard.js';
import { asShell } from '../../support/programs/disburse.js';
import { startPeople, type People } from '../../support/onboarding/people.js';

const MASTER_KEY = '11'.repeat(32);

const started: People[] = [];
afterEach(async () => {
  for (const people of started.splice(0).reverse()) await people.close();
});

async function start(options: Parameters<typeof startPeople>[0] = {}): Promise<People> {
  const people = await startPeople({ masterKey: MASTER_KEY, roles: 'api,worker,admin', ...options });
  started.push(people);
  return people;
}

const user = (people: People, verb: string, userId: string, ...args: string[]): Promise<object> =>
  asShell(people.dataDir, 'users', verb, userId, ...args, '--reason', 'decided by a suite');

async function stepOf(people: People, userId: string): Promise<Record<string, unknown> | undefined> {
  const [step] = await people.database.query(
    `select coalesce((state->>'polls')::int, 0) as polls, failures, cause as last_error, due_at > now() as later
     from work.items where kind = 'onboarding.step' and key = $1`,
    [userId],
  );
  return step;
}

const stageOf = async (people: People, userId: string): Promise<string> =>
  (await onboardingOf(people, userId)).stage;

describe('an identity under review in the sandbox', () => {
  it('survives a restart, counts as no failed attempt, and ends once an operator decides', async () => {
    const first = await start();
    const userId = await submitted(first, 'Review');
    await eventually(async () => ((await stepOf(first, userId))?.['polls'] as number) >= 2);
    expect(await stepOf(first, userId)).toMatchObject({ failures: 0, last_error: null });
    await first.module.close();
    const second = await start({ databaseUrl: urlOf(first) });
    await eventually(async () => ((await stepOf(second, userId))?.['polls'] as number) >= 3);
    expect(await stageOf(second, userId)).toBe('kyc_submitted');
    await user(second, 'review', userId, '--decision', 'approve');
    await eventually(async () => (await stageOf(second, userId)) === 'completed');
    expect((await eventsOf(second, userId)).filter((type) => type.startsWith('kyc'))).toEqual([
      'kyc_submitted.v1',
      'kyc_passed.v1',
    ]);
    await expect(user(second, 'review', userId, '--decision', 'reject')).rejects.toThrow('"status":409');

    const other = await submitted(second, 'Review');
    await eventually(async () => Number((await stepOf(second, other))?.['polls'] ?? 0) > 0);
    await user(second, 'review', other, '--decision', 'reject');
    await eventually(async () => (await stageOf(second, other)) === 'kyc_failed');
    expect(await onboardingOf(second, other)).toMatchObject({ reason: en.reasonVerification });
    await expect(user(second, 'retry', other)).rejects.toThrow(
      'The images are no longer here: the person takes them again, by the same link as before',
    );
    expect(await stageOf(second, other)).toBe('kyc_failed');
  });
});

/** An identity verifier that throws until it has recovered. */
class Unavailable {
  readonly provider = 'unavailable';
  private hasRecovered = false;
  recover(): void {
    this.hasRecovered = true;
  }
  calls = 0;
  async decide(): Promise<object> {
    this.calls += 1;
    if (!this.hasRecovered) throw new Error('secret of Ada Lovelace');
    return { passed: true };
  }
  async forget(): Promise<void> {}
}

describe('a provider of the onboarding', () => {
  it('is retried for ONBOARDING_GIVE_UP_SECONDS while it fails; then an operator can retry the failed check', async () => {
    const provider = new Unavailable();
    const people = await start({
      override: (builder) => builder.overrideProvider(IdentityVerifier).useValue(provider),
    });
    const userId = await submitted(people);
    await eventually(async () => Number((await stepOf(people, userId))?.['failures']) > 0);
    expect((await stepOf(people, userId))?.['last_error']).toBe('unexpected: Error');
    const onboarding = async () => {
      type Displayed = { readonly user: { readonly onboarding: object | null } };
      return (await asShell<Displayed>(people.dataDir, 'users', 'show', userId)).user.onboarding;
    };
    expect(JSON.stringify(await onboarding())).not.toContain('Lovelace');
    const failing = "update work.items set failing_since = failing_since - interval '1 year' where key = $1";
    await people.database.query(failing, [userId]);
    await eventually(async () => (await stageOf(people, userId)) === 'kyc_failed');
    expect(await onboardingOf(people, userId)).toMatchObject({ reason: en.reasonNotChecked });
    await eventually(async () => (await stepOf(people, userId)) === undefined);
    expect(provider.calls).toBeGreaterThan(1);
    expect(await onboarding()).toMatchObject({ stage: 'kyc_failed', reason: en.reasonNotChecked });
    provider.recover();
    await user(people, 'retry', userId);
    await eventually(async () => (await stageOf(people, userId)) === 'completed');
  });

  it('has metrics of its calls and of onboardings by stage; a review passes after SANDBOX_REVIEW_SECONDS', async () => {
    // Suites of one worker share the registry.
    registry.resetMetrics();
    const people = await start({ env: { SANDBOX_REVIEW_SECONDS: '1' } });
    await submitted(people, 'Rejected');
    await confirmed(people);
    await eventually(async () => {
      const rows = await people.database.query('select stage from onboarding.progress order by stage');
      return rows.map((row) => row['stage']).join() === 'details_confirmed,kyc_failed';
    });
    await people.module.get(Progress, { strict: false }).measure();
    const metrics = await registry.metrics();
    expect(metrics).toContain('disburse_onboardings{stage="kyc_failed"} 1');
    expect(metrics).toMatch(
      /disburse_onboarding_provider_calls_total\{port="identity",outcome="done"\} [1-9]/,
    );

    const reviewed = await submitted(people, 'Review');
    await eventually(async () => (await stageOf(people, reviewed)) === 'completed');
  });
});
