import { describe, expect, it } from '@jest/globals';
import { Test } from '@nestjs/testing';
import { DomainError } from '../../../kernel/domain-error.js';
import { ProviderUnavailable } from '../../../platform/outbound/provider-errors.js';
import { WorkItems } from '../../../platform/jobs/work-items.js';
import { OnboardingSteps } from './onboarding-steps.service.js';
import { StepsProcessor } from './steps.processor.js';
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
      StepsProcessor,
      { provide: WorkItems, useValue: items },
      { provide: OnboardingSteps, useValue: { advance, giveUp } },
      { provide: onboardingConfig.KEY, useValue: { onboardingGiveUpSeconds: GIVE_UP_SECONDS } },
    ],
  })
    .setLogger({ log() {}, warn() {}, error() {} })
    .compile();
  await module.get(StepsProcessor).work.options.run(new AbortController().signal);
  return { outcome, calls };
}

const again = (cause: string): object => ({ inMs: expect.any(Number), failure: { cause } });
const unavailable = new ProviderUnavailable('no response');

describe('the processor of onboarding steps', () => {
  it.each(['completed', 'card_failed', 'kyc_failed'])('completes a step that ends at %s', async (stage) => {
    expect(await performed(stage)).toEqual({ outcome: 'done', calls: ['advance'] });
  });

  it('polls a verification under review again and counts the polls', async () => {
    const { outcome } = await performed('kyc_submitted', { state: { polls: 4 } });
    expect(outcome).toEqual({ inMs: expect.any(Number), state: { polls: 5 } });
  });

  it.each<[string, Error, object, unknown]>([
    ['while the provider is unavailable', unavailable, {}, again('no response')],
    // Nothing gives up without a configured provider.
    ['without a provider', new DomainError('unavailable', 'No provider'), failing, again('No provider')],
    ['after an unexpected error', new TypeError('of Ada'), {}, again('unexpected: TypeError')],
    ['of a user who is deactivating', new DomainError('invalid_transition', 'no'), {}, 'done'],
    ['of an erased user', new DomainError('not_found', 'no'), {}, 'done'],
  ])('retries a step unless its user is deactivating or erased: %s', async (_when, error, step, outcome) => {
    expect(await performed(error, step)).toEqual({ outcome, calls: ['advance'] });
  });

  it.each([
    ['kyc_failed', 'done'],
    ['card_failed', 'done'],
    // This stage cannot fail.
    ['kyc_passed', again('no response; retried for too long')],
  ])('gives up a step that fails for too long; its stage is then %s', async (stage, outcome) => {
    expect(await performed(unavailable, failing, stage)).toEqual({ outcome, calls: ['advance', 'giveUp'] });
  });
});
