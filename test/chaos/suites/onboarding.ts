import { HDNodeWallet } from 'ethers';
import { SignedClient } from '../../support/http/signed-client.js';
import { ONBOARDING_FAILPOINTS } from '../../support/failpoints.js';
import { Onfido } from '../../support/onboarding/onfido/onfido.js';
import { StripeServer } from '../../support/onboarding/stripe/stripe.js';
import { Twilio } from '../../support/onboarding/twilio/twilio.js';
import { checkBooks } from '../support/books.js';
import { KillHarness } from '../support/kill-harness.js';
import { Decisions, Persons } from '../support/onboarding/persons.js';
import { allCompleted, checkOnboardings, COMPLETED } from '../support/onboarding/onboarding-facts.js';
import { Shared } from '../support/shared.js';
import { between, oneOf, type Suite } from '../support/suite.js';
import { FLAKY_DELIVERIES, Receivers } from '../support/webhooks/receivers.js';

const PEOPLE = 4;
const SETTLE_MS = 600_000;
/** One in so many kills is at no failpoint. */
const RANDOM_EVERY = 4;
const OUTAGE_EVERY = 8;
const FREEZE_EVERY = 9;
const MAX_FROZEN_MS = 90_000;
/** Most failpoints are out of reach during an outage of a provider. */
const OUT_OF_REACH_MS = 12_000;

/**
 * Kills the process that continues onboardings `--count` times with `kill -9`, at each failpoint and at
 * random. People use the page with local providers meanwhile. One provider after the other is unavailable for
 * half of `--seconds N` (120 by default), and a process is stopped.
 */
export const onboarding: Suite = async (options) => {
  const { verdict, say, sizes = {} } = options;
  const maxMs = (sizes.seconds ?? 120) * 1000;
  await Shared.run(async (shared) => {
    const [twilio, onfido, stripe] = [await Twilio.start(), await Onfido.start(), await StripeServer.start()];
    const providers = { twilio, onfido, stripe };
    for (const each of Object.values(providers)) shared.ends.add(() => each.shutDown());
    const account = HDNodeWallet.createRandom('', "m/44'/60'/0'");
    const harness = new KillHarness(
      shared,
      {
        env: {
          ...twilio.settings,
          ...onfido.settings,
          ...stripe.settings,
          // All people share one client address.
          ONBOARDING_CODES_PER_ADDRESS: '1000000',
          ONBOARDING_WALLETS: 'xpub',
          ONBOARDING_WALLET_XPUB: account.neuter().extendedKey,
          ...FLAKY_DELIVERIES,
          WEBHOOK_RETRY_SCHEDULE_SECONDS: '0,1,2,5,10,30,60',
        },
        livingRoles: 'api,widget',
        expireLeases: [
          `update work.items set due_at = now() where kind = 'onboarding.step' and due_at > now()`,
          'update onboarding.verifications set check_claimed_until = now() where check_claimed_until > now()',
        ],
        outOfReachMs: OUT_OF_REACH_MS,
        maxFrozenMs: Math.min(MAX_FROZEN_MS, maxMs),
      },
      options,
    );
    const { merchant } = await harness.open();
    const client = new SignedClient(harness.targets()[0]!.baseUrl, merchant);
    const receiver = await shared.ends.start(Receivers.register(client, [COMPLETED]));
    const decisions = new Decisions(onfido, () => harness.targets(), maxMs);
    shared.ends.add(() => decisions.stop());
    const persons = new Persons(() => harness.targets(), merchant, twilio, verdict);
    shared.ends.add(() => persons.abandon());
    persons.start(PEOPLE);
    const { handedIn } = persons;
    await harness.storm({
      points: ONBOARDING_FAILPOINTS,
      randomEvery: RANDOM_EVERY,
      freezeEvery: FREEZE_EVERY,
      outageEvery: OUTAGE_EVERY,
      fail: () => {
        const name = oneOf(['twilio', 'onfido', 'stripe'] as const);
        const provider = providers[name];
        harness.startOutage(
          name,
          between(maxMs / 2, maxMs),
          () => provider.shutDown(),
          () => provider.restart(),
        );
      },
      load: persons,
      progress: () => `${handedIn.length} people`,
    });
    await verdict.eventually(
      'every person has completed, and it was delivered',
      () => allCompleted(shared.pool, handedIn, receiver),
      SETTLE_MS,
    );
    verdict.expect(handedIn.length > 0, 'there are people');
    await decisions.stop();
    await checkOnboardings({ pool: shared.pool, onfido, stripe, account, receiver }, handedIn, verdict, say);
    say(`messages ${twilio.messages.length}; decisions: ${decisions.tally.toString()}`);
    say(`audit  ${await checkBooks(shared, verdict)}`);
    await harness.terminate();
  });
};
