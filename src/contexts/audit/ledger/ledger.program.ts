import { readFile } from 'node:fs/promises';
import type { Command } from 'commander';
import { DomainError } from '../../../kernel/domain-error.js';
import { EXIT_WRONG, printResult } from '../../../platform/cli/output.js';
import { writes } from '../../../platform/cli/write.js';
import type { EventStore } from '../../../platform/event-store/port.js';
import type { Database } from '../../../platform/postgres/database.js';
import { ConfigError } from '../../../platform/config/settings.js';
import { connected } from '../../../platform/cli/connected.js';
import type { CliContext } from '../../../platform/cli/cli-context.js';
import type { currentLedger } from '../verify/checked-ledger.service.js';
import { HeadVerifier, keyOfPem, toPem, RotateLedgerKey } from './ledger-keys.commands.js';
import { BeginLedger } from './ledger-follower.saga.js';
import { toHex } from './payout-proofs.service.js';
import { readHead, readKey, type SignedHead, type SigningKey, toTree } from './signed-head.js';
import { consistencyRanges, provesConsistency } from './merkle-tree.js';
import { Heads, SigningKeys } from './heads.store.js';
import { Ledger } from './ledger.store.js';

const BEGUN = 'The ledger begins again. Restart every worker now, with another AUDIT_HEADS_FILE.';

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

  program
    .command('proof')
    .description('prove that a signed head extends an earlier one (RFC 9162); exit 2 when it does not')
    .requiredOption(
      '--from <head>',
      'the earlier head: a file that ends with it, or how many events it covers',
    )
    .option('--to <head>', 'the later head, in the same way; the newest one without it')
    .action(async ({ from, to }: { readonly from: string; readonly to?: string }) => {
      const proof = await connected(cli, (database, store) => prove(storedLedger(database), store, from, to));
      printResult(program, cli, proof, ({ consistency: { head, path }, fault }) =>
        fault === null
          ? `proven, hashes: ${path.length}; the head over ${head.size} events, signed at ${head.signed_at}, extends the head over ${proof.consistency.from}`
          : `CHANGED   ${fault}\nNOT proven`,
      );
      if (proof.fault !== null) cli.exit(EXIT_WRONG);
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

/** Proves that one head extends another. `fault` is the reason why the proof fails, or null. */
async function prove(
  { ledger, heads, keys }: ReturnType<typeof storedLedger>,
  store: Pick<EventStore, 'identity'>,
  from: string,
  to: string | undefined,
) {
  const head = to === undefined ? await heads.newest() : await headAt(to, heads);
  if (head === null) throw new DomainError('not_found', 'No head is signed yet.');
  const earlier = await headAt(from, heads);
  if (earlier.size > head.size)
    throw new DomainError(
      'bad_request',
      `--from covers ${earlier.size} events, and --to ${head.size}: --from must be the earlier head.`,
    );
  const leaves = (await ledger.state())?.tree.size ?? 0;
  const isCut = head.size > leaves;
  const path = isCut ? [] : await ledger.path(consistencyRanges(earlier.size, head.size));
  const trust = new HeadVerifier(await store.identity(), await keys.all(), null, null);
  const [distrust] = [earlier, head].flatMap((each) => {
    const why = trust.verify(each);
    return why === null ? [] : [`the head over ${each.size} events is not to be trusted: ${why}`];
  });
  const cut = isCut ? `the ledger ends after ${leaves} events: it was cut` : null;
  const rewritten = provesConsistency(toTree(earlier), toTree(head), path)
    ? null
    : 'the ledger does not lead from one to the other: it was rewritten';
  const consistency = { from: earlier.size, head, path: path.map(toHex) };
  return { consistency, fault: distrust ?? cut ?? rewritten };
}

async function headAt(place: string, heads: Heads): Promise<SignedHead> {
  if (!/^[0-9]+$/.test(place)) return (await readHeads(place)).at(-1)!;
  const head = await heads.at(Number(place));
  if (head !== null) return head;
  throw new DomainError('not_found', `No head covers exactly ${place} events: "audit heads" lists them.`);
}

function described(key: SigningKey): string {
  return `${key.key_id}, created at ${key.made_at}\n${toPem(key).trimEnd()}`;
}

/** Reads one head per line, bare or as `head` of an API response. Throws ConfigError for other files. */
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

export async function readPublicKey(path: string): Promise<Pick<SigningKey, 'key_id' | 'public_key'>> {
  const pem = await readFile(path, 'utf8');
  try {
    return keyOfPem(pem);
  } catch (error) {
    throw new ConfigError(`${path} contains no Ed25519 public key (PEM)`, { cause: error });
  }
}
