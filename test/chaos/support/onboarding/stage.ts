import { setTimeout as sleep } from 'node:timers/promises';
import { lastWords, ready, type Child } from '../../../../bench/support/children.js';
import { freePort, until } from '../../../../sandbox/processes.js';
import type { Onfido } from '../../../support/onfido/onfido.js';
import type { StripeServer } from '../../../support/stripe/stripe.js';
import type { Twilio } from '../../../support/twilio/twilio.js';
import type { Shared } from '../shared.js';
import { between, oneOf, seconds, type SuiteOptions } from '../suite.js';
import type { Door } from './persons.js';

/** Leases of the killed run out meanwhile, and people who lost a code wait 30 s for the next. */
const REACHED_WITHIN_MS = 240_000;
/** While a provider is away most points are out of reach: the process is killed wherever it is then. */
const PATIENCE_MS = 12_000;

export interface StandIns {
  readonly twilio: Twilio;
  readonly onfido: Onfido;
  readonly stripe: StripeServer;
}

/** One process that takes requests and lives, and one that does all there is to do and is killed over and over. */
export class Stage {
  readonly outages: string[] = [];
  private readonly env: Readonly<Record<string, string>>;
  private readonly doors = new Map<string, Door>();
  private folder = 'victim';
  private victim: Spawned | null = null;
  private living: Spawned | null = null;
  private away = 0;
  private frozen = 0;
  private readonly underway: Promise<void>[] = [];

  constructor(
    private readonly shared: Shared,
    private readonly providers: StandIns,
    xpub: string,
    private readonly options: SuiteOptions,
  ) {
    this.env = {
      ...providers.twilio.settings,
      ...providers.onfido.settings,
      ...providers.stripe.settings,
      // All people come from one address.
      ONBOARDING_CODES_PER_ADDRESS: '1000000',
      ONBOARDING_WALLETS: 'xpub',
      ONBOARDING_WALLET_XPUB: xpub,
      WEBHOOK_RETRY_SCHEDULE_SECONDS: '0,1,2,5,10,30,60',
    };
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

  /** Whether the point was reached, and a line about it. */
  async killAt(point: string): Promise<readonly [boolean, string]> {
    const began = performance.now();
    const { child } = await this.replace({ FAILPOINT: point });
    const after = (): number => performance.now() - began;
    await until(() => child.exited() !== null || (this.away > 0 && after() > PATIENCE_MS), REACHED_WITHIN_MS);
    if (portWasTaken(child)) return this.killAt(point);
    const reached = child.exited() !== null;
    if (reached || this.away === 0)
      this.options.verdict.equal(child.exited(), 'signal SIGKILL', `killed at ${point}: its end`);
    this.kill();
    this.doors.delete('victim');
    await this.leasesRunOut();
    const line = `${point.padEnd(32)} ${reached ? 'reached' : 'out of reach, killed'} after ${seconds(after())}`;
    return [reached, line];
  }

  async killAnywhere(): Promise<string> {
    await this.readyVictim();
    const ms = between(0, 4000);
    await sleep(ms);
    this.kill();
    this.doors.delete('victim');
    return `anywhere, ${seconds(ms)} after it was ready`;
  }

  /** A new process in the place of the old one, which is killed if it lives. */
  async replace(env: Readonly<Record<string, string>>): Promise<Spawned> {
    this.kill();
    // In a folder that no living process has.
    this.folder = this.folder === 'victim' ? 'other' : 'victim';
    const { process: victim, door } = await this.spawn(this.folder, env);
    this.victim = victim;
    this.doors.set('victim', door);
    return victim;
  }

  /** As {@link replace}, and it is ready. */
  async readyVictim(): Promise<void> {
    await readyOnPorts(() => this.replace({}));
  }

  /** A process stands still for longer or shorter than its leases hold, while others do its work and are killed. */
  async standStill(): Promise<void> {
    if (this.frozen > 0) return;
    this.frozen += 1;
    const still = await readyOnPorts(async () => (await this.spawn('still', {})).process);
    await sleep(between(100, 2000));
    process.kill(still.child.pid, 'SIGSTOP');
    this.underway.push(this.goOn(still.child));
  }

  /** Unless one is away already, one goes away for half of the time that was asked for, to all of it. */
  providerAway(): void {
    if (this.away === 0)
      this.underway.push(this.leaveAndReturn(oneOf(['twilio', 'onfido', 'stripe'] as const)));
  }

  /** All providers are there and no process stands still. */
  async calm(): Promise<void> {
    await Promise.all(this.underway);
  }

  async leave(): Promise<void> {
    for (const each of [this.victim, this.living]) {
      await each!.child.stop();
      const end = each!.child.exited();
      this.options.verdict.expect(end === 'exit code 0', 'SIGTERM ends a process', end);
    }
  }

  private async spawn(folder: string, env: Readonly<Record<string, string>>) {
    const widgetPort = await freePort();
    const spawned = await this.shared.spawn(folder, {
      ...this.env,
      ...env,
      WIDGET_PORT: String(widgetPort),
    });
    return { process: spawned, door: doorOf(spawned.port, widgetPort) };
  }

  private async goOn(child: Child): Promise<void> {
    const { verdict, say } = this.options;
    const ms = between(1000, Math.min(90_000, this.mostSeconds * 1000));
    await sleep(ms);
    process.kill(child.pid, 'SIGCONT');
    await sleep(between(500, 3000));
    verdict.expect(child.exited() === null, 'a process that stood still goes on', lastWords(child.log));
    if (child.exited() === null) process.kill(child.pid, 'SIGKILL');
    this.frozen -= 1;
    say(`     a process stood still for ${seconds(ms)}`);
  }

  private async leaveAndReturn(name: keyof StandIns): Promise<void> {
    const ms = between(this.mostSeconds * 500, this.mostSeconds * 1000);
    this.away += 1;
    await this.providers[name].goAway();
    await sleep(ms);
    await this.providers[name].comeBack();
    this.away -= 1;
    this.outages.push(`${name} ${seconds(ms)}`);
    this.options.say(`     ${name} was away for ${seconds(ms)}`);
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
    await this.shared.pool.query(
      "update work.items set due_at = now() where kind = 'onboarding.step' and due_at > now()",
    );
    await this.shared.pool.query(
      'update onboarding.verifications set check_claimed_until = now() where check_claimed_until > now()',
    );
  }
}

type Spawned = Awaited<ReturnType<Shared['spawn']>>;

/** Free ports were chosen before the process listened: on a busy machine another takes one of them now and then. */
function portWasTaken(child: Child): boolean {
  return child.exited() === 'exit code 1' && lastWords(child.log).includes('EADDRINUSE');
}

async function readyOnPorts(spawn: () => Promise<Spawned>): Promise<Spawned> {
  for (;;) {
    const spawned = await spawn();
    const { child, port } = spawned;
    try {
      await ready(child, `http://127.0.0.1:${port}/health/ready`);
      return spawned;
    } catch (error) {
      if (!portWasTaken(child)) throw error;
    }
  }
}

function doorOf(port: number, widgetPort: number): Door {
  return { api: `http://127.0.0.1:${port}`, widget: `http://127.0.0.1:${widgetPort}` };
}
