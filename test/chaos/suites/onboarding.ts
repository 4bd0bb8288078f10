import { setTimeout as sleep } from 'node:timers/promises';
import { HDNodeWallet } from 'ethers';
import { lastWords, ready } from '../../../bench/support/children.js';
import { eventually } from '../../../bench/support/wait.js';
import { freePort, until } from '../../../sandbox/processes.js';
import { ONBOARDING_FAILPOINTS } from '../../../src/contexts/onboarding/failpoints.js';
import { StripeServer } from '../../support/stripe/stripe.js';
import { Twilio } from '../../support/twilio/twilio.js';
import { runAudit } from '../support/audit.js';
import { Completions } from '../support/onboarding/completions.js';
import { allCompleted, checkOnboardings } from '../support/onboarding/onboarding-facts.js';
import { Persons, type Door } from '../support/onboarding/persons.js';
import { Shared } from '../support/shared.js';
import { between, oneOf, seconds, type Suite, type SuiteOptions } from '../support/suite.js';

const PEOPLE = 4;
/** Providers may be away meanwhile, and people who lost a code wait 30 s for the next. */
const REACHED_WITHIN_MS = 240_000;
const SETTLE_MS = 600_000;
/** One kill in so many is at no named point; finds a provider away; follows a process that stood still. */
const RANDOM_EVERY = 4;
const AWAY_EVERY = 8;
const STANDS_STILL_EVERY = 9;

/**
 * `kill -9` of the process that takes onboardings further, `--count` times, at each named point of their way and at
 * random, under a load of people who go through the page, with codes through Twilio, cards of Stripe and wallets of an
 * extended public key (stand-ins on this machine). In between a provider is away for half of `--seconds N` (120 when not
 * told otherwise) to all of them, and a process stands still for longer than its leases hold, or shorter.
 */
export const onboarding: Suite = async (options) => {
  const { count, verdict, say } = options;
  const shared = await Shared.start();
  const [twilio, stripe] = [await Twilio.start(), await StripeServer.start()];
  const account = HDNodeWallet.createRandom('', "m/44'/60'/0'");
  const stage = new Stage(shared, { twilio, stripe }, account.neuter().extendedKey, options);
  let completions: Completions | null = null;
  const outages: Promise<void>[] = [];
  try {
    const { baseUrl, merchant } = await stage.open();
    completions = await Completions.register(baseUrl, merchant);
    const persons = new Persons(() => stage.openDoors(), merchant, twilio, verdict);
    persons.start(PEOPLE);
    const first = Math.floor(Math.random() * ONBOARDING_FAILPOINTS.length);
    for (let n = 1; n <= count; n += 1) {
      if (n % STANDS_STILL_EVERY === 0) say(`     ${await stage.standStill()}`);
      if (n % AWAY_EVERY === 0 && stage.allThere) outages.push(stage.providerAway());
      const point = ONBOARDING_FAILPOINTS[(first + n) % ONBOARDING_FAILPOINTS.length]!;
      const line = n % RANDOM_EVERY === 0 ? await stage.killAnywhere() : await stage.killAt(point);
      say(`${String(n).padStart(3)}  ${line}; ${persons.handedIn.length} people`);
    }
    await Promise.all(outages);
    await stage.replace({});
    await persons.stop();
    const began = performance.now();
    const { handedIn } = persons;
    await eventually(
      'everybody has come to the end, and it was delivered',
      () => allCompleted(shared.pool, handedIn, completions!),
      SETTLE_MS,
    ).catch((error: Error) => verdict.expect(false, error.message));
    say(`settled ${seconds(performance.now() - began)} after the last; ${persons.tally.toString()}`);
    verdict.expect(handedIn.length > 0, 'there are people');
    await checkOnboardings({ pool: shared.pool, stripe, account, completions }, handedIn, verdict, say);
    say(`messages ${twilio.messages.length}; outages ${outages.length}: ${stage.outages.join(', ')}`);
    say(`audit  ${await runAudit(await shared.databaseUrl(), verdict)}`);
    await stage.leave();
  } finally {
    await Promise.all([twilio.goAway(), stripe.goAway(), completions?.stop()]);
    await shared.close();
  }
};

/** One process that takes requests and lives, and one that does all there is to do and is killed over and over. */
class Stage {
  readonly outages: string[] = [];
  private readonly env: Readonly<Record<string, string>>;
  private readonly doors = new Map<string, Door>();
  private folder = 'victim';
  private victim: Awaited<ReturnType<Shared['spawn']>> | null = null;
  private living: Awaited<ReturnType<Shared['spawn']>> | null = null;
  private away = 0;

  constructor(
    private readonly shared: Shared,
    private readonly providers: { readonly twilio: Twilio; readonly stripe: StripeServer },
    xpub: string,
    private readonly options: SuiteOptions,
  ) {
    this.env = {
      ...providers.twilio.settings,
      ...providers.stripe.settings,
      ONBOARDING_WALLETS: 'xpub',
      ONBOARDING_WALLET_XPUB: xpub,
      WEBHOOK_RETRY_SCHEDULE_SECONDS: '0,1,2,5,10,30,60',
    };
  }

  get allThere(): boolean {
    return this.away === 0;
  }

  async open() {
    const first = await this.shared.service('victim', this.env);
    const widgetPort = await freePort();
    this.living = await this.shared.spawn('living', {
      ...this.env,
      ROLES: 'api,widget',
      WIDGET_PORT: String(widgetPort),
    });
    await ready(this.living.child, `http://127.0.0.1:${this.living.port}/health/ready`);
    await first.child.stop();
    this.doors.set('living', doorOf(this.living.port, widgetPort));
    return { merchant: first.merchant, baseUrl: doorOf(this.living.port, widgetPort).api };
  }

  openDoors(): readonly Door[] {
    return [...this.doors.values()];
  }

  async killAt(point: string): Promise<string> {
    const began = performance.now();
    const { child } = await this.replace({ FAILPOINT: point });
    await until(() => child.exited() !== null, REACHED_WITHIN_MS);
    this.options.verdict.equal(child.exited(), 'signal SIGKILL', `killed at ${point}: its end`);
    this.doors.delete('victim');
    await this.leasesRunOut();
    return `${point.padEnd(32)} reached after ${seconds(performance.now() - began)}`;
  }

  async killAnywhere(): Promise<string> {
    const { child, port } = await this.replace({});
    await ready(child, `http://127.0.0.1:${port}/health/ready`);
    const ms = between(0, 4000);
    await sleep(ms);
    this.kill();
    this.doors.delete('victim');
    return `anywhere, ${seconds(ms)} after it was ready`;
  }

  /** A new process in the place of the old one, which is killed if it lives. */
  async replace(env: Readonly<Record<string, string>>): Promise<NonNullable<Stage['victim']>> {
    this.kill();
    // In a folder that no living process has.
    this.folder = this.folder === 'victim' ? 'other' : 'victim';
    const widgetPort = await freePort();
    this.victim = await this.shared.spawn(this.folder, {
      ...this.env,
      ...env,
      WIDGET_PORT: String(widgetPort),
    });
    this.doors.set('victim', doorOf(this.victim.port, widgetPort));
    return this.victim;
  }

  /** Stands still for longer or shorter than its leases hold, while another does its work; then both go on for a while. */
  async standStill(): Promise<string> {
    const { child, port } = await this.replace({});
    await ready(child, `http://127.0.0.1:${port}/health/ready`);
    await sleep(between(100, 2000));
    process.kill(child.pid, 'SIGSTOP');
    this.victim = null;
    await this.replace({});
    const ms = between(1000, Math.min(90_000, this.mostSeconds * 1000));
    await sleep(ms);
    process.kill(child.pid, 'SIGCONT');
    await sleep(between(500, 3000));
    const { verdict } = this.options;
    verdict.expect(child.exited() === null, 'a process that stood still goes on', lastWords(child.log));
    if (child.exited() === null) process.kill(child.pid, 'SIGKILL');
    return `a process stood still for ${seconds(ms)}`;
  }

  async providerAway(): Promise<void> {
    const name = oneOf(['twilio', 'stripe'] as const);
    const ms = between(this.mostSeconds * 500, this.mostSeconds * 1000);
    this.away += 1;
    await this.providers[name].goAway();
    await sleep(ms);
    await this.providers[name].comeBack();
    this.away -= 1;
    this.outages.push(`${name} ${seconds(ms)}`);
    this.options.say(`     ${name} was away for ${seconds(ms)}`);
  }

  async leave(): Promise<void> {
    for (const each of [this.victim, this.living]) {
      await each!.child.stop();
      const end = each!.child.exited();
      this.options.verdict.expect(end === 'exit code 0', 'SIGTERM ends a process', end);
    }
  }

  private get mostSeconds(): number {
    return this.options.sizes?.seconds ?? 120;
  }

  private kill(): void {
    const pid = this.victim?.child.exited() === null ? this.victim.child.pid : null;
    if (pid !== null) process.kill(pid, 'SIGKILL');
  }

  /** Where nobody wants to wait for them: as if their time had passed. */
  private async leasesRunOut(): Promise<void> {
    const ms = this.options.sizes?.['lease-ms'];
    if (ms === undefined) return;
    await sleep(ms);
    await this.shared.pool.query('update onboarding.steps set due_at = now() where due_at > now()');
  }
}

function doorOf(port: number, widgetPort: number): Door {
  return { api: `http://127.0.0.1:${port}`, widget: `http://127.0.0.1:${widgetPort}` };
}
