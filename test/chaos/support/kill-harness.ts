import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '../../../sandbox/processes.js';
import type { Senders } from './senders.js';
import type { ServiceProcess } from '../../../bench/support/service.js';
import type { Shared } from './shared.js';
import { between, seconds, type SuiteOptions } from './suite.js';
import { Tally } from './verdict.js';

/** Leases of killed processes have to expire before another process continues their work. */
const REACHED_WITHIN_MS = 240_000;

interface KillHarnessOptions {
  readonly env: Readonly<Record<string, string>>;
  /** The roles of the process that stays up. */
  readonly livingRoles: string;
  /** Statements that expire leases at once, for suites with `--lease-ms`. */
  readonly expireLeases: readonly string[];
  /** The time after which the process is killed anywhere, because an outage may prevent a failpoint. */
  readonly outOfReachMs?: number;
  readonly maxFrozenMs: number;
}

interface Storm {
  readonly points: readonly string[];
  /** One in so many kills is at no failpoint. The others are periods of stopped processes and outages. */
  readonly randomEvery: number;
  readonly freezeEvery: number;
  readonly outageEvery: number;
  readonly fail: () => void;
  readonly load: Senders;
  readonly progress: () => string;
}

/** One process accepts requests and stays up. The other does all the work and is killed repeatedly. */
export class KillHarness {
  private readonly outages: string[] = [];
  private readonly living: ServiceProcess;
  private victim: ServiceProcess | null = null;
  private folder = 'victim';
  private failing = 0;
  private frozen = false;
  private readonly inBackground: Promise<void>[] = [];

  constructor(
    private readonly shared: Shared,
    private readonly options: KillHarnessOptions,
    private readonly suite: SuiteOptions,
  ) {
    this.living = shared.process('living', { ...options.env, ROLES: options.livingRoles });
  }

  /** Starts a first process, which registers merchants and keys, and stops it again. */
  async open(): Promise<ServiceProcess> {
    const first = await this.shared.service('victim', this.options.env);
    await this.living.start();
    await first.stop();
    return first;
  }

  targets(): readonly ServiceProcess[] {
    return this.victim === null ? [this.living] : [this.living, this.victim];
  }

  /** Returns whether the failpoint was reached, with a line about it. */
  private async killAt(point: string): Promise<readonly [reached: boolean, line: string]> {
    const { outOfReachMs = Infinity } = this.options;
    const began = performance.now();
    const after = (): number => performance.now() - began;
    const victim = await this.replace({ FAILPOINT: point });
    await until(() => !victim.runs || (this.failing > 0 && after() > outOfReachMs), REACHED_WITHIN_MS);
    if (!victim.runs && victim.lostItsPort) return this.killAt(point);
    const reached = !victim.runs;
    if (reached || this.failing === 0)
      this.suite.verdict.equal(victim.exited(), 'signal SIGKILL', `killed at ${point}: its end`);
    await this.killVictim();
    await this.expireLeases();
    return [
      reached,
      `${point.padEnd(32)} ${reached ? 'reached' : 'out of reach, killed'} after ${seconds(after())}`,
    ];
  }

  private async killAnywhere(): Promise<string> {
    await this.readyVictim();
    const ms = between(0, 4000);
    await sleep(ms);
    await this.killVictim();
    return `anywhere, ${seconds(ms)} after it was ready`;
  }

  private async readyVictim(): Promise<void> {
    await readyOnItsPort(() => this.replace({}));
  }

  /** Stops a process for longer or shorter than its leases. Others continue its work and are killed. */
  private async freeze(): Promise<void> {
    if (this.frozen) return;
    this.frozen = true;
    const still = await readyOnItsPort(async () => {
      const spawned = this.shared.process('frozen', this.options.env);
      await spawned.spawn();
      return spawned;
    });
    await sleep(between(100, 2000));
    process.kill(still.pid, 'SIGSTOP');
    this.inBackground.push(this.thaw(still));
  }

  /**
   * Kills as often as the suite counts, at one failpoint after the other, and at any point one time in
   * `randomEvery`. Meanwhile processes freeze and providers fail. Then everything recovers and the load ends.
   */
  async storm(storm: Storm): Promise<void> {
    const { count, say, sizes = {} } = this.suite;
    const { points, load, progress } = storm;
    // A run with few kills begins anywhere, so that many runs reach every failpoint.
    let next = sizes.only === undefined ? Math.floor(Math.random() * points.length) : sizes.only - 1;
    const reachedPoints = new Tally();
    for (let n = 1; n <= count; n += 1) {
      if (n % storm.freezeEvery === 0) await this.freeze();
      if (n % storm.outageEvery === 0) storm.fail();
      if (n % storm.randomEvery === 0) {
        say(`${String(n).padStart(3)}  ${await this.killAnywhere()}; ${progress()}`);
        continue;
      }
      const point = points[next % points.length]!;
      if (sizes.only === undefined) next += 1;
      const [reached, line] = await this.killAt(point);
      if (reached) reachedPoints.add(point);
      say(`${String(n).padStart(3)}  ${line}; ${progress()}`);
    }
    const ended = load.stop();
    await Promise.all(this.inBackground);
    await this.readyVictim();
    await ended;
    say(`kills at points: ${reachedPoints.toString()}`);
    say(`outages ${this.outages.length}: ${this.outages.join(', ')}`);
    say(`requests ${load.tally.toString()}`);
  }

  /** Fails a dependency for a while, unless an outage is in progress. */
  startOutage(name: string, ms: number, fail: () => unknown, recover: () => unknown): void {
    if (this.failing > 0) return;
    this.failing += 1;
    const outage = async (): Promise<void> => {
      await fail();
      await sleep(ms);
      await recover();
      this.failing -= 1;
      this.outages.push(`${name} ${seconds(ms)}`);
      this.suite.say(`     ${name} was unavailable for ${seconds(ms)}`);
    };
    this.inBackground.push(outage());
  }

  async terminate(): Promise<void> {
    for (const each of this.targets())
      this.suite.verdict.equal(await each.stop(), 'exit code 0', `SIGTERM ends the ${each.name}`);
  }

  private async replace(env: Readonly<Record<string, string>>): Promise<ServiceProcess> {
    await this.killVictim();
    // No running process uses this folder.
    this.folder = this.folder === 'victim' ? 'other' : 'victim';
    const victim = this.shared.process(this.folder, { ...this.options.env, ...env });
    await victim.spawn();
    this.victim = victim;
    return victim;
  }

  private async killVictim(): Promise<void> {
    const { victim } = this;
    this.victim = null;
    if (victim?.runs === true) await victim.kill();
  }

  private async thaw(still: ServiceProcess): Promise<void> {
    const { verdict, say } = this.suite;
    const ms = between(1000, this.options.maxFrozenMs);
    await sleep(ms);
    process.kill(still.pid, 'SIGCONT');
    await sleep(between(500, 3000));
    verdict.expect(still.runs, 'a process that was stopped continues', still.lastWords());
    if (still.runs) await still.kill();
    this.frozen = false;
    say(`     a process was stopped for ${seconds(ms)}`);
  }

  /** Expires leases if the run does not wait for them. */
  private async expireLeases(): Promise<void> {
    const ms = this.suite.sizes?.['lease-ms'];
    if (ms === undefined) return;
    await sleep(ms);
    for (const statement of this.options.expireLeases) await this.shared.pool.query(statement);
  }
}

async function readyOnItsPort(spawn: () => Promise<ServiceProcess>): Promise<ServiceProcess> {
  for (;;) {
    const spawned = await spawn();
    try {
      await spawned.ready();
      return spawned;
    } catch (error) {
      if (spawned.runs || !spawned.lostItsPort) throw error;
    }
  }
}
