import type { Command } from 'commander';
import { systemClock } from '../../../kernel/clock.js';
import { ConfigError } from '../../../platform/config/settings.js';
import { connected } from '../../../platform/cli/connected.js';
import type { CliContext } from '../../../platform/cli/cli-context.js';
import { ChainNode } from '../adapters/chain-node.js';
import { ChainUnavailable } from '../application/ports.js';
import { Recheck, type Noted } from '../application/recheck.js';
import { Receipts } from '../store/receipts.js';
import { nodeOptions } from './node-options.js';

/** Exit codes: a payout is undone, or its receipt was altered; nothing is wrong, and not everything was checked. */
const EXIT_WRONG = 2;
const EXIT_INCOMPLETE = 1;
const PROGRESS_MS = 5000;

const LABELS: Readonly<Record<Noted['kind'], string>> = {
  undone: 'UNDONE  ',
  altered: 'ALTERED ',
  moved: 'MOVED   ',
  unknown: 'UNKNOWN ',
};

/** `npm run audit -- recheck`: checks every payout that was received against a node. Changes nothing. */
export function recheckProgram(program: Command, cli: CliContext): void {
  program
    .command('recheck')
    .description(
      'check every payout received against a node of the chain; exit 2 when one is undone, 1 when not all could be checked',
    )
    .option('--from <position>', 'continue after this position of the log')
    .option('--rpc <url>', 'the JSON-RPC node; without it the first of CHAIN_RPC_URL')
    .action(async ({ from, rpc }: { readonly from?: string; readonly rpc?: string }) => {
      const config = cli.config();
      if (from !== undefined && !/^[0-9]{1,40}$/.test(from))
        throw new ConfigError('--from must be a position as this program prints them.');
      const asJson = program.opts<{ json?: boolean }>().json === true;
      const node = new ChainNode(nodeOptions(config, rpc), systemClock);
      try {
        await connected(cli, async (database, store) => {
          const recheck = new Recheck(store, node, new Receipts(database), config.chainId);
          const stopped = await runUntilStopped(recheck, from ?? null, (text, json) =>
            cli.print(asJson ? JSON.stringify(json) : text),
          );
          const { counts, position } = recheck;
          cli.print(asJson ? JSON.stringify({ ...counts, position, stopped }) : describe(recheck, stopped));
          if (counts.undone + counts.altered > 0) cli.exit(EXIT_WRONG);
          else if (stopped !== null || counts.unknown > 0) cli.exit(EXIT_INCOMPLETE);
        });
      } finally {
        await node.close();
      }
    });
}

/** Returns the reason why the node became unreliable; null when everything was checked. */
async function runUntilStopped(
  recheck: Recheck,
  from: string | null,
  print: (text: string, json: object) => void,
): Promise<string | null> {
  let reportedAt = performance.now();
  try {
    await recheck.run(
      from,
      (noted) =>
        print(
          `${LABELS[noted.kind]}  payout ${noted.payout_id}, position ${noted.position}: ${noted.why}`,
          noted,
        ),
      () => {
        if (performance.now() - reportedAt < PROGRESS_MS) return;
        reportedAt = performance.now();
        const { position, counts } = recheck;
        print(`${counts.checked} payouts checked, up to position ${position}`, { position, ...counts });
      },
    );
    return null;
  } catch (error) {
    if (error instanceof ChainUnavailable) return error.message;
    throw error;
  }
}

function describe({ counts, position }: Recheck, stopped: string | null): string {
  const { checked, unchanged, moved, undone, altered, unknown, other_chains } = counts;
  const lines = [
    `${checked} payouts checked, up to position ${position ?? 'none'}: ${unchanged + moved} confirmed, ${moved} of them in another block; ${undone} undone`,
  ];
  if (altered > 0) lines.push(`${altered} kept receipts are not those that were kept`);
  if (unknown > 0) lines.push(`${unknown} could not be checked: try again, or another node (--rpc)`);
  if (other_chains > 0) lines.push(`${other_chains} are on other chains and were not checked (CHAIN_ID)`);
  if (stopped !== null)
    lines.push(
      `STOPPED: ${stopped}. That says nothing of any payout; continue with ${position === null ? 'the same command' : `--from ${position}`}`,
    );
  return lines.join('\n');
}
