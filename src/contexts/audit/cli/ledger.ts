import { readFile } from 'node:fs/promises';
import type { Command } from 'commander';
import { writes } from '../../../platform/cli/write.js';
import type { Database } from '../../../platform/postgres/database.js';
import type { Config } from '../../../platform/config/config.js';
import { ConfigError } from '../../../platform/config/settings.js';
import { connected } from '../../../platform/cli/connected.js';
import type { CliContext } from '../../../platform/cli/cli-context.js';
import { KeyRing, masterKeysOf } from '../../../platform/sealing/key-ring.js';
import type { currentLedger } from '../application/checked-ledger.js';
import { BeginLedger } from '../application/ledger-follower.js';
import { keyOfPem, pemOf, RotateLedgerKey } from '../application/ledger-keys.js';
import { readHead, readKey, type SignedHead, type SigningKey } from '../domain/signed-head.js';
import { Heads } from '../store/heads.js';
import { Ledger } from '../store/ledger.js';
import { SigningKeys } from '../store/signing-keys.js';
import { printResult } from './output.js';

const BEGUN = 'The ledger begins again. Restart every worker now, with another AUDIT_HEADS_FILE.';

/** `npm run audit -- heads`, `key`, `begin`: the ledger over the log. */
export function ledgerProgram(program: Command, cli: CliContext): void {
  program
    .command('heads')
    .description('signed heads, one in a line of JSON, oldest first')
    .option('--since <size>', 'those of more than so many events', '0')
    .action(async ({ since }: { readonly since: string }) => {
      if (!/^[0-9]{1,15}$/.test(since)) throw new ConfigError('--since must be a number of events.');
      await connected(cli, async (database) => {
        for await (const head of new Heads(database).all({ after: Number(since) }))
          cli.print(JSON.stringify(head));
      });
    });

  const key = program
    .command('key')
    .description('the public key that heads are signed with (PEM); with --json all there were, oldest first')
    .action(() =>
      connected(cli, async (database) => {
        const keys = (await new SigningKeys(database).all()).map(readKey);
        printResult(program, cli, keys, () => {
          const newest = keys.at(-1);
          return newest === undefined ? 'There is no key yet: the ledger has not begun.' : described(newest);
        });
      }),
    );
  writes(
    key.command('rotate').description('sign with a new key from now on, which the present one signs'),
    cli,
    async (_, write) => {
      const key = await write(new RotateLedgerKey('keys'), null);
      return { text: described(key), json: key };
    },
  );

  // The only way to a new ledger of a log that has events.
  writes(
    program
      .command('begin')
      .description(
        'after a ledger was lost or changed: delete its leaves and heads, and rebuild it from the first event',
      ),
    cli,
    async (_, write) => {
      await write(new BeginLedger('ledger'), null);
      return { text: BEGUN, json: { begun: true } };
    },
  );
}

/** That of the master key, where it is at hand. Throws ConfigError where it is not the one of this database. */
export async function keyRingOf(config: Config, database: Database): Promise<KeyRing | null> {
  return config.masterKey === null ? null : KeyRing.open(database, masterKeysOf(config));
}

/** The ledger as it is kept in `database`. */
export function storedLedger(database: Database): Parameters<typeof currentLedger>[0] {
  return { ledger: new Ledger(database), heads: new Heads(database), keys: new SigningKeys(database) };
}

function described(key: SigningKey): string {
  return `${key.key_id}, created at ${key.made_at}\n${pemOf(key).trimEnd()}`;
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
