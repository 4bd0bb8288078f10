import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { setTimeout as sleep } from 'node:timers/promises';
import { call, type Credentials } from '../../../bench/support/sign.js';
import type { Service } from '../../../bench/support/service.js';
import { stopProcess, until } from '../../../sandbox/processes.js';
import { randomPhone } from '../support/operations.js';
import { Shared } from '../support/shared.js';
import { oneOf, type Suite, type SuiteOptions } from '../support/suite.js';

const PROGRAMS = fileURLToPath(new URL('../../../dist/cli.js', import.meta.url));
const USERS = '/merchants/v1/users';
const WRITERS = 4;
const USERS_A_STEP = 20;
/** Two looks of a process at the key ring. */
export const REFRESHED_MS = 12_000;
/** Longer than a master key, or a key that was added, is waited for. */
export const LATER_SECONDS = 150;

interface Person {
  readonly id: string;
  readonly phone: string;
}

interface UserBody {
  readonly user: { readonly id: string; readonly phone_number: string };
}

/** Creates users through whichever process is up, and reads each from another one. */
class Load {
  readonly people: Person[] = [];
  readonly failures: string[] = [];
  private targets: readonly Service[];
  private turnout = 0;
  /** By writer: which change of targets its turn began with. */
  private readonly began = Array.from({ length: WRITERS }, () => 0);
  private stopped = false;
  private readonly writers: readonly Promise<void>[];

  constructor(
    private readonly who: Credentials,
    first: Service,
  ) {
    this.targets = [first];
    this.targets = [first];
    this.writers = this.began.map((_, place) => this.write(place));
  }

  /** From now on these alone; resolves when nothing is under way at others and enough was done at these. */
  async on(...targets: readonly Service[]): Promise<void> {
    this.targets = targets;
    this.turnout += 1;
    while (this.began.some((turn) => turn < this.turnout)) await sleep(5);
    const enough = this.people.length + USERS_A_STEP;
    while (this.people.length < enough && this.failures.length < 20) await sleep(10);
  }

  async stop(): Promise<void> {
    this.stopped = true;
    await Promise.all(this.writers);
  }

  private async write(place: number): Promise<void> {
    while (!this.stopped) {
      this.began[place] = this.turnout;
      const phone = randomPhone();
      try {
        const [writer, reader] = [oneOf(this.targets), oneOf(this.targets)];
        const made = await call(writer.baseUrl, this.who, 'POST', USERS, 201, { phone_number: phone });
        const person = { id: (made as UserBody).user.id, phone };
        this.people.push(person);
        await this.read(person, reader);
        // Hashed alike by every process: the number is taken.
        await call(reader.baseUrl, this.who, 'POST', USERS, 422, { phone_number: phone });
      } catch (error) {
        this.failures.push(String(error));
        await sleep(50);
      }
    }
  }

  async read({ id, phone }: Person, { baseUrl }: Service): Promise<void> {
    const read = (await call(baseUrl, this.who, 'GET', `${USERS}/${id}`, 200)) as UserBody;
    if (read.user.phone_number !== phone) throw new Error(`${id} reads ${read.user.phone_number}`);
  }
}

/**
 * Two processes under load get a new master key, one after the other; in each rotation one is killed half way and comes
 * back with the former key alone. Then that one is retired, and opens nothing any more.
 */
export const keys: Suite = async ({ count, verdict, say }: SuiteOptions) => {
  const shared = await Shared.start();
  let present = randomBytes(32).toString('hex');
  const start = (name: string, masterKey: string, former?: string): Promise<Service> =>
    shared.service(name, {
      MASTER_KEY: masterKey,
      ...(former === undefined ? {} : { MASTER_KEY_FORMER: former }),
    });
  const databaseUrl = await shared.databaseUrl();
  const program = (env: Readonly<Record<string, string>>, ...args: string[]): ReturnType<typeof spawnSync> =>
    spawnSync(process.execPath, [PROGRAMS, 'keys', ...args], {
      env: { PATH: process.env['PATH'] ?? '', DATABASE_URL: databaseUrl, ...env },
      encoding: 'utf8',
    });
  try {
    let first = await start('first', present);
    let second = await start('second', present);
    const load = new Load(first.merchant, first);
    for (let rotation = 1; rotation <= count; rotation += 1) {
      const next = randomBytes(32).toString('hex');
      const both = { MASTER_KEY: next, MASTER_KEY_FORMER: present };
      await load.on(second);
      await first.child.stop();
      first = await start('first', next, present);
      await load.on(first, second);

      await load.on(first);
      await stopProcess(second.child.pid, [['SIGKILL', 10_000]]);
      second = await start('second', present);
      await load.on(first, second);
      verdict.expect(
        program(both, 'retire-former').status === 1,
        'the former key is not retired while a process goes by it',
      );
      await load.on(first);
      await second.child.stop();
      second = await start('second', next, present);
      await load.on(first, second);

      await shared.pool.query(`update platform.key_ring set seen_at = seen_at - make_interval(secs => $1)`, [
        LATER_SECONDS,
      ]);
      const retired = program(both, 'retire-former');
      verdict.expect(retired.status === 0, 'the former key is retired', String(retired.stderr));
      const refused = program({ MASTER_KEY: present }, 'status');
      verdict.expect(
        refused.status === 78 && String(refused.stderr).startsWith('MASTER_KEY does not match the key'),
        'the former key opens the database no more',
        `${refused.status} ${String(refused.stderr)}`,
      );
      // Every process knows the fresh key before it seals; what it seals with the one before until it looks again is
      // wrapped anew a minute later.
      await sleep(REFRESHED_MS);
      await sealSince(shared, 0);
      await sleep(REFRESHED_MS);
      await sealSince(shared, LATER_SECONDS);
      await load.on(first, second);
      verdict.expect(await resealed(shared), 'personal keys are wrapped by the fresh key');
      await load.on(first, second);
      present = next;
      say(`rotation ${rotation}: ${load.people.length} users, ${load.failures.length} failures`);
    }
    await load.stop();
    verdict.expect(load.failures.length === 0, 'no request failed', load.failures.slice(0, 3).join('\n'));
    const unread: string[] = [];
    for (const person of load.people) {
      await load.read(person, first).catch((error: unknown) => unread.push(String(error)));
    }
    verdict.expect(
      unread.length === 0,
      'every user is read with the last key',
      unread.slice(0, 3).join('\n'),
    );
    verdict.expect(load.people.length > count * USERS_A_STEP, 'there was load');
  } finally {
    await shared.close();
  }
};

/** As if the newest key had been added so long before. */
export async function sealSince(shared: Shared, seconds: number): Promise<void> {
  await shared.pool.query(
    `update platform.key_ring set seals_from = now() - make_interval(secs => $1)
     where seals_from = (select max(seals_from) from platform.key_ring)`,
    [seconds],
  );
}

/** Within two refreshes of a worker: no personal key is left that an older key wraps. */
export async function resealed(shared: Shared): Promise<boolean> {
  return until(async () => {
    const { rows } = await shared.pool.query<{ left: boolean }>(
      `select exists (
         select from platform.personal_keys where split_part(wrapped_key, '.', 2) <> (
           select key_id from platform.key_ring where seals_from <= now() order by seals_from desc limit 1)
       ) as left`,
    );
    return !rows[0]!.left;
  }, 60_000);
}
