import { HDNodeWallet } from 'ethers';
import { eventually } from '../../../bench/support/wait.js';
import { ONBOARDING_FAILPOINTS } from '../../../src/contexts/onboarding/failpoints.js';
import { Onfido } from '../../support/onfido/onfido.js';
import { StripeServer } from '../../support/stripe/stripe.js';
import { Twilio } from '../../support/twilio/twilio.js';
import { runAudit } from '../support/audit.js';
import { Completions } from '../support/onboarding/completions.js';
import { Decisions } from '../support/onboarding/decisions.js';
import { allCompleted, checkOnboardings } from '../support/onboarding/onboarding-facts.js';
import { Persons } from '../support/onboarding/persons.js';
import { Stage } from '../support/onboarding/stage.js';
import { Shared } from '../support/shared.js';
import { seconds, type Suite } from '../support/suite.js';
import { Tally } from '../support/verdict.js';

const PEOPLE = 4;
const SETTLE_MS = 600_000;
/** One kill in so many is at no named point; sends a provider away; has a process stand still beside it. */
const RANDOM_EVERY = 4;
const AWAY_EVERY = 8;
const STANDS_STILL_EVERY = 9;

/**
 * `kill -9` of the process that takes onboardings further, `--count` times, at each named point of their way and at
 * random, under a load of people who go through the page, with codes through Twilio, identities of Onfido, cards of
 * Stripe and wallets of an extended public key (stand-ins on this machine). Meanwhile one provider after the other is
 * away for half of `--seconds N` (120 when not told otherwise) to all of them, and a process stands still.
 */
export const onboarding: Suite = async (options) => {
  const { count, verdict, say, sizes } = options;
  const shared = await Shared.start();
  const [twilio, onfido, stripe] = [await Twilio.start(), await Onfido.start(), await StripeServer.start()];
  const account = HDNodeWallet.createRandom('', "m/44'/60'/0'");
  const stage = new Stage(shared, { twilio, onfido, stripe }, account.neuter().extendedKey, options);
  let completions: Completions | null = null;
  let decisions: Decisions | null = null;
  let persons: Persons | null = null;
  try {
    const { baseUrl, merchant } = await stage.open();
    completions = await Completions.register(baseUrl, merchant);
    decisions = new Decisions(onfido, () => stage.openDoors(), sizes?.seconds ?? 120);
    persons = new Persons(() => stage.openDoors(), merchant, twilio, verdict);
    persons.start(PEOPLE);
    const points = new Tally();
    let next = Math.floor(Math.random() * ONBOARDING_FAILPOINTS.length);
    for (let n = 1; n <= count; n += 1) {
      if (n % STANDS_STILL_EVERY === 0) await stage.standStill();
      if (n % AWAY_EVERY === 0) stage.providerAway();
      const point = ONBOARDING_FAILPOINTS[next % ONBOARDING_FAILPOINTS.length]!;
      const atPoint = n % RANDOM_EVERY !== 0;
      const [reached, line] = atPoint ? await stage.killAt(point) : [false, await stage.killAnywhere()];
      if (atPoint) next += 1;
      if (reached) points.add(point.replace('onboarding.', ''));
      say(`${String(n).padStart(3)}  ${line}; ${persons.handedIn.length} people`);
    }
    const everybodyHandedIn = persons.stop();
    await stage.calm();
    await stage.readyVictim();
    await everybodyHandedIn;
    const began = performance.now();
    const { handedIn } = persons;
    await eventually(
      'everybody has come to the end, and it was delivered',
      () => allCompleted(shared.pool, handedIn, completions!),
      SETTLE_MS,
    ).catch((error: Error) => verdict.expect(false, error.message));
    say(`settled ${seconds(performance.now() - began)} after the last; ${persons.tally.toString()}`);
    verdict.expect(handedIn.length > 0, 'there are people');
    await decisions.stop();
    await checkOnboardings(
      { pool: shared.pool, onfido, stripe, account, completions },
      handedIn,
      verdict,
      say,
    );
    say(`kills at points: ${points.toString()}`);
    say(`messages ${twilio.messages.length}; decisions: ${decisions.tally.toString()}`);
    say(`outages ${stage.outages.length}: ${stage.outages.join(', ')}`);
    say(`audit  ${await runAudit(await shared.databaseUrl(), verdict)}`);
    await stage.leave();
  } finally {
    persons?.abandon();
    await decisions?.stop();
    await Promise.all([twilio.goAway(), onfido.goAway(), stripe.goAway(), completions?.stop()]);
    await shared.close();
  }
};
