import { describe, expect, it } from '@jest/globals';
import { Test } from '@nestjs/testing';
import { DomainError } from '../../../kernel/domain-error.js';
import { ProviderUnavailable } from '../../../platform/outbound/provider-errors.js';
import { WorkItems } from '../../../platform/jobs/work-items.js';
import { OnboardingSteps } from './onboarding-steps.service.js';
import { StepsWorker } from './steps.processor.js';
import { onboardingConfig } from '../onboarding.config.js';

const GIVE_UP_SECONDS = 100;
const failing = { failures: 3, failing_seconds: GIVE_UP_SECONDS };

/** What becomes of a step that ends like this, with the stage that giving up leads to. */
async function performed(
  result: string | Error,
  step: object = {},
  givenUp = 'kyc_failed',
): Promise<{ readonly outcome: unknown; readonly calls: readonly string[] }> {
  const item = { key: 'u1', failures: 0, failing_seconds: 0, cause: null, state: {}, ...step };
  const calls: string[] = [];
  let outcome: unknown;
  const advance = async (): Promise<string> => {
    calls.push('advance');
    if (result instanceof Error) throw result;
    return result;
  };
  const giveUp = async (): Promise<string> => {
    calls.push('giveUp');
    return givenUp;
  };
  const items = {
    claim: async () => ({ items: [item], more: false }),
    whileClaimed: (_: object, __: number, work: () => Promise<unknown>) => work(),
    complete: async () => void (outcome = 'done'),
    retry: async (_: object, next: object) => void (outcome = next),
  };
  const module = await Test.createTestingModule({
    providers: [
      StepsWorker,
      { provide: WorkItems, useValue: items },
      { provide: OnboardingSteps, useValue: { advance, giveUp } },
      { provide: onboardingConfig.KEY, useValue: { onboardingGiveUpSeconds: GIVE_UP_SECONDS } },
    ],
  })
    .setLogger({ log() {}, warn() {}, error() {} })
    .compile();
  await module.get(StepsWorker).work.options.run(new AbortController().signal);
  return { outcome, calls };
}

const again = (cause: string): object => ({ inMs: expect.any(Number), failure: { cause } });

describe('the worker of onboarding steps', () => {
  it('completes a step after which the person continues or the onboarding is complete', async () => {
    for (const stage of ['completed', 'card_failed', 'kyc_failed'])
      expect(await performed(stage)).toEqual({ outcome: 'done', calls: ['advance'] });
  });

  it('polls a verification under review again, and counts the polls', async () => {
    const { outcome } = await performed('kyc_submitted', { state: { polls: 4 } });
    expect(outcome).toEqual({ inMs: expect.any(Number), state: { polls: 5 } });
  });

  it('retries a step while the provider is unavailable', async () => {
    const { outcome, calls } = await performed(new ProviderUnavailable('no response'));
    expect({ outcome, calls }).toEqual({ outcome: again('no response'), calls: ['advance'] });
  });

  it('completes a step of a user who is deactivating or erased', async () => {
    for (const code of ['invalid_transition', 'not_found'] as const)
      expect((await performed(new DomainError(code, 'the user is not active'))).outcome).toBe('done');
  });

  it.each(['kyc_failed', 'card_failed'])('gives up a step that fails for too long: %s', async (stage) => {
    const { outcome, calls } = await performed(new ProviderUnavailable('no response'), failing, stage);
    expect({ outcome, calls }).toEqual({ outcome: 'done', calls: ['advance', 'giveUp'] });
  });

  it('retries a step that fails for too long at a stage that cannot fail', async () => {
    const { outcome } = await performed(new ProviderUnavailable('no response'), failing, 'kyc_passed');
    expect(outcome).toEqual(again('no response; retried for too long'));
  });

  it('retries a step without a configured provider indefinitely', async () => {
    const { outcome, calls } = await performed(new DomainError('unavailable', 'No card provider'), failing);
    expect({ outcome, calls }).toEqual({
      outcome: again('No card provider'),
      calls: ['advance'],
    });
  });

  it('reports only the name of an unexpected error', async () => {
    const { outcome } = await performed(new TypeError('the person lives at 5 Main Street'));
    expect(outcome).toEqual(again('unexpected: TypeError'));
  });
});
