import { readFile } from 'node:fs/promises';
import type { Command } from 'commander';
import type { Database } from '../../../platform/postgres/database.js';
import type { Config } from '../../../platform/config/config.js';
import { ConfigError } from '../../../platform/config/settings.js';
import { comparePositions, type EventStore, type RecordedEvent } from '../../../platform/event-store/port.js';
import { connected } from '../../../platform/operator/connected.js';
import { operate, type Operator } from '../../../platform/operator/operator.js';
import { inOneLine } from '../../../platform/operator/printable.js';
import { KeyRing, masterKeysOf } from '../../../platform/sealing/key-ring.js';
import type { Sealer } from '../../../platform/sealing/sealer.js';
import { checkLedger, type LedgerReport } from '../application/check-ledger.js';
import { ledgerAtHand, type Brought } from '../application/checked-ledger.js';
import { LedgerKeys } from '../application/ledger-keys.js';
import { keyOfPem, pemOf } from '../application/signatures.js';
import { describeFindings } from '../domain/ledger-findings.js';
import { readHead, readKey, type SignedHead, type SigningKey } from '../domain/signed-head.js';
import { Heads } from '../store/heads.js';
import { Ledger } from '../store/ledger.js';
import { SigningKeys } from '../store/signing-keys.js';
import { EXIT_INCOMPLETE, EXIT_WRONG, reportMissingEvents, UNCOVERED, UNPINNED } from './outcome.js';
import { progressOf } from './progress.js';

const PAGE = 2000;

/** `npm run audit -- check`, `heads`, `key`: the ledger over the log. */
export function ledgerProgram(program: Command, operator: Operator): void {
  const asJson = (): boolean => program.opts<{ json?: boolean }>().json === true;

  program
    .command('check')
    .description(
      'compare every event with the ledger and its signed heads; exit 2 when anything was changed, 1 when no key or head proves that nothing was',
    )
    .option(
      '--head <file>',
      'heads that were kept elsewhere, one in a line of JSON; may be given again',
      append,
      [],
    )
    .option(
      '--key <file>',
      'the first public key, as it was published (PEM): of the keys before it nothing counts',
    )
    .action(async ({ head, key }: { readonly head: readonly string[]; readonly key?: string }) => {
      const config = operator.config();
      const heads = (await Promise.all(head.map(headsOf))).flat();
      const known = key === undefined ? null : await publicKeyOf(key);
      await reportMissingEvents(operator, asJson(), async () => {
        const report = await connected(operator, async (database, store) => {
          const sealer = await sealerOf(config, database);
          return check(database, store, { heads, key: known, sealer });
        });
        operator.print(asJson() ? JSON.stringify(report, null, 2) : describe(report));
        if (report.findings.length > 0) operator.exit(EXIT_WRONG);
        else if (unproven(report, report.pinned).length > 0) operator.exit(EXIT_INCOMPLETE);
      });
    });

  program
    .command('heads')
    .description('signed heads, one in a line of JSON, oldest first')
    .option('--since <size>', 'those of more than so many events', '0')
    .action(async ({ since }: { readonly since: string }) => {
      if (!/^[0-9]{1,15}$/.test(since)) throw new ConfigError('--since must be a number of events.');
      await connected(operator, async (database) => {
        const heads = new Heads(database);
        for (let size = Number(since); ;) {
          const page = await heads.after(size, PAGE);
          for (const each of page) operator.print(JSON.stringify(each));
          if (page.length < PAGE) return;
          size = page.at(-1)!.size;
        }
      });
    });

  const key = program
    .command('key')
    .description('the public key that heads are signed with (PEM); with --json all there were, oldest first')
    .action(() =>
      connected(operator, async (database) => {
        const keys = (await new SigningKeys(database).all()).map(readKey);
        const newest = keys.at(-1);
        if (asJson()) operator.print(JSON.stringify(keys, null, 2));
        else
          operator.print(
            newest === undefined ? 'There is no key yet: the ledger has not begun.' : shown(newest),
          );
      }),
    );
  key
    .command('rotate')
    .description('sign with a new key from now on, which the present one signs')
    .action(
      operate(operator, async (context) => {
        const made = readKey(await context.get(LedgerKeys, { strict: false }).rotate());
        return { text: shown(made), json: made };
      }),
    );
}

/** That of the master key, where it is at hand. Throws ConfigError where it is not the one of this database. */
export async function sealerOf(config: Config, database: Database): Promise<Sealer | null> {
  return config.masterKey === null ? null : (await KeyRing.open(database, masterKeysOf(config))).sealer;
}

/** Why nothing proves that a log without findings is the recorded one; empty: it is proven. */
export function unproven(
  report: Pick<LedgerReport, 'events' | 'proven'> | null,
  pinned: boolean,
): readonly string[] {
  if (report?.events === 0) return [];
  return [...(report?.proven ? [] : [UNCOVERED]), ...(pinned ? [] : [UNPINNED])];
}

/** The ledger as it is kept in `database`. */
export function storedLedger(database: Database): Parameters<typeof ledgerAtHand>[0] {
  return { ledger: new Ledger(database), heads: new Heads(database), keys: new SigningKeys(database) };
}

interface Checked extends LedgerReport {
  /** Whether something that is not in the database says whose the keys are. */
  readonly pinned: boolean;
}

/** Holds the whole log against the ledger in `database`. */
export async function check(database: Database, store: EventStore, brought: Brought): Promise<Checked> {
  const { ledger, trust } = await ledgerAtHand(storedLedger(database), await store.identity(), brought);
  const report = await checkLedger(wholeLog(store, progressOf()), ledger);
  const pinned = brought.key !== null || brought.sealer !== null;
  return { ...report, findings: [...trust.findings, ...report.findings], pinned };
}

async function* wholeLog(
  store: EventStore,
  tell: (read: number, position: string) => void,
): AsyncGenerator<readonly RecordedEvent[], void, undefined> {
  const end = await store.head();
  let read = 0;
  let next = store.readAll(null, PAGE);
  for (let page = await next; page.length > 0; page = await next) {
    const last = page.at(-1)!.position;
    const isLast = comparePositions(last, end) >= 0;
    next = isLast ? Promise.resolve([]) : store.readAll(last, PAGE);
    // Awaited once this page is checked; until then a failure must not count as unhandled.
    next.catch(() => undefined);
    yield page.filter(({ position }) => comparePositions(position, end) <= 0);
    read += page.length;
    tell(read, last);
  }
}

function describe(report: Checked): string {
  const { events, unsigned, heads, proven, findings, more } = report;
  const lines = [
    `${events} events held against the ledger and ${heads} signed heads`,
    proven === null
      ? 'no head covers them'
      : `the first ${proven.size} are those that ${proven.key_id} signed at ${proven.signed_at}`,
    ...unproven(report, report.pinned).map((why) => `UNCHECKED ${why}`),
    ...describeFindings(findings).map(inOneLine),
  ];
  if (more > 0) lines.push(`and ${more} more`);
  if (unsigned > 0) lines.push(`${unsigned} events are under no such head: nothing is proven of them`);
  return [
    ...lines,
    findings.length > 0 ? 'NOT in order' : 'in order: nothing that was signed was changed',
  ].join('\n');
}

function shown(key: SigningKey): string {
  return `${key.key_id}, made at ${key.made_at}\n${pemOf(key).trimEnd()}`;
}

function append(value: string, former: readonly string[]): readonly string[] {
  return [...former, value];
}

/** Heads of a file, one in a line of JSON. Throws ConfigError where it holds none. */
export async function headsOf(path: string): Promise<readonly SignedHead[]> {
  const lines = (await fileOf(path)).split('\n').filter((line) => line.trim() !== '');
  if (lines.length === 0) throw new ConfigError(`${path} holds no head`);
  return lines.map((line, place) => {
    try {
      const { head = JSON.parse(line) as unknown } = JSON.parse(line) as { readonly head?: unknown };
      return readHead(head);
    } catch (error) {
      throw new ConfigError(`${path}, line ${place + 1}, is no head: ${(error as Error).message}`, {
        cause: error,
      });
    }
  });
}

/** The key of a file (PEM), as auditors keep it. Throws ConfigError where it holds none. */
export async function publicKeyOf(path: string): Promise<Pick<SigningKey, 'key_id' | 'public_key'>> {
  const pem = await fileOf(path);
  try {
    return keyOfPem(pem);
  } catch (error) {
    throw new ConfigError(`${path} holds no Ed25519 public key (PEM)`, { cause: error });
  }
}

async function fileOf(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    throw new ConfigError(`${path} cannot be read: ${(error as Error).message}`, { cause: error });
  }
}
