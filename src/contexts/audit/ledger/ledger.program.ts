import { readFile } from 'node:fs/promises';
import type { Command } from 'commander';
import { printResult } from '../../../platform/cli/output.js';
import { writes } from '../../../platform/cli/write.js';
import type { Database } from '../../../platform/postgres/database.js';
import { ConfigError } from '../../../platform/config/settings.js';
import { connected } from '../../../platform/cli/connected.js';
import type { CliContext } from '../../../platform/cli/cli-context.js';
import type { currentLedger } from '../verify/checked-ledger.service.js';
import { keyOfPem, toPem, RotateLedgerKey } from './ledger-keys.commands.js';
import { BeginLedger } from './ledger-follower.saga.js';
import { readHead, readKey, type SignedHead, type SigningKey } from './signed-head.js';
import { Heads, SigningKeys } from './heads.store.js';
import { Ledger } from './ledger.store.js';

const BEGUN = 'The ledger begins again. Restart every worker now, with another AUDIT_HEADS_FILE.';

/** `npm run audit -- heads`, `key`, `begin`: the programs of the ledger. */
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

export function storedLedger(database: Database): Parameters<typeof currentLedger>[0] {
  return { ledger: new Ledger(database), heads: new Heads(database), keys: new SigningKeys(database) };
}

function described(key: SigningKey): string {
  return `${key.key_id}, created at ${key.made_at}\n${toPem(key).trimEnd()}`;
}

/** Reads the heads of a file, one per line. Throws ConfigError where it has none. */
export async function readHeads(path: string): Promise<readonly SignedHead[]> {
  const lines = (await readFile(path, 'utf8')).split('\n').filter((line) => line.trim() !== '');
  if (lines.length === 0) throw new ConfigError(`${path} contains no signed head`);
  return lines.map((line, place) => {
    try {
      const { head = JSON.parse(line) as unknown } = JSON.parse(line) as { readonly head?: unknown };
      return readHead(head);
    } catch (error) {
      const why = (error as Error).message;
      throw new ConfigError(`line ${place + 1} of ${path} is not a signed head: ${why}`, { cause: error });
    }
  });
}

/** Reads the public key of a PEM file. Throws ConfigError where it has none. */
export async function readPublicKey(path: string): Promise<Pick<SigningKey, 'key_id' | 'public_key'>> {
  const pem = await readFile(path, 'utf8');
  try {
    return keyOfPem(pem);
  } catch (error) {
    throw new ConfigError(`${path} contains no Ed25519 public key (PEM)`, { cause: error });
  }
}
