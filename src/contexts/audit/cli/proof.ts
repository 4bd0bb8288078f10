import type { Command } from 'commander';
import { DomainError } from '../../../kernel/domain-error.js';
import { connected } from '../../../platform/cli/connected.js';
import type { CliContext } from '../../../platform/cli/cli-context.js';
import { HeadVerifier } from '../application/head-verifier.js';
import { pathOver } from '../application/payout-proofs.js';
import { consistencyRanges, provesConsistency } from '../domain/merkle-proof.js';
import type { SignedHead } from '../domain/signed-head.js';
import type { Heads } from '../store/heads.js';
import { headsOf, storedLedger } from './ledger.js';
import { EXIT_WRONG, printResult } from './output.js';

interface Proof {
  readonly consistency: {
    readonly from: number;
    readonly head: SignedHead;
    readonly path: readonly string[];
  };
  /** Why it proves nothing; null: it does. */
  readonly fault: string | null;
}

/** `npm run audit -- proof`: that a head extends an earlier one. */
export function proofProgram(program: Command, cli: CliContext): void {
  program
    .command('proof')
    .description('prove that a signed head extends an earlier one (RFC 9162); exit 2 when it does not')
    .requiredOption(
      '--from <head>',
      'the earlier head: a file that ends with it, or how many events it covers',
    )
    .option('--to <head>', 'the later head, in the same way; the newest one without it')
    .action(async ({ from, to }: { readonly from: string; readonly to?: string }) => {
      const proof = await connected(cli, async (database, store) => {
        const { ledger, heads, keys } = storedLedger(database);
        const later = to === undefined ? await heads.newest() : await headAt(to, heads);
        if (later === null) throw new DomainError('not_found', 'No head is signed yet.');
        const earlier = await headAt(from, heads);
        if (earlier.size > later.size)
          throw new DomainError(
            'bad_request',
            `--from covers ${earlier.size} events, and --to ${later.size}: the earlier head comes first.`,
          );
        const trust = new HeadVerifier(await store.identity(), await keys.all(), null, null);
        return prove(earlier, later, ledger, trust);
      });
      printResult(program, cli, proof, describe);
      if (proof.fault !== null) cli.exit(EXIT_WRONG);
    });
}

async function prove(
  earlier: SignedHead,
  later: SignedHead,
  ledger: ReturnType<typeof storedLedger>['ledger'],
  trust: HeadVerifier,
): Promise<Proof> {
  const leaves = (await ledger.state())?.tree.size ?? 0;
  const path = later.size > leaves ? [] : await pathOver(ledger, consistencyRanges(earlier.size, later.size));
  const [former, whole] = [earlier, later].map(({ size, root }) => ({
    size,
    root: Buffer.from(root, 'hex'),
  }));
  const hashes = path.map((hash) => Buffer.from(hash, 'hex'));
  const distrust = [earlier, later].flatMap((head) => {
    const why = trust.verify(head);
    return why === null ? [] : [`the head over ${head.size} events is not to be trusted: ${why}`];
  });
  const fault =
    distrust[0] ??
    (later.size > leaves
      ? `the ledger ends after ${leaves} events: it was cut`
      : provesConsistency(former!, whole!, hashes)
        ? null
        : 'the ledger does not lead from one to the other: it was rewritten');
  return { consistency: { from: earlier.size, head: later, path }, fault };
}

async function headAt(place: string, heads: Heads): Promise<SignedHead> {
  if (!/^[0-9]+$/.test(place)) return (await headsOf(place)).at(-1)!;
  const head = await heads.at(Number(place));
  if (head !== null) return head;
  throw new DomainError('not_found', `No head covers exactly ${place} events: "audit heads" lists them.`);
}

function describe({ consistency: { from, head, path }, fault }: Proof): string {
  if (fault !== null) return `CHANGED   ${fault}\nNOT proven`;
  return `proven, hashes: ${path.length}; the head over ${head.size} events, signed at ${head.signed_at}, extends the head over ${from}`;
}
