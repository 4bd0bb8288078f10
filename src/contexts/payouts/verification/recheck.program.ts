import type { Command } from 'commander';
import { systemClock } from '../../../kernel/clock.js';
import { chainRules } from '../../../platform/chain/chain-rules.js';
import { chainConfig, type ChainConfig } from '../../../platform/config/config.js';
import { about, ConfigError, urls, urlsIn } from '../../../platform/config/settings.js';
import { connected } from '../../../platform/cli/connected.js';
import type { CliContext } from '../../../platform/cli/cli-context.js';
import { createProgress, EXIT_INCOMPLETE, EXIT_WRONG } from '../../../platform/cli/output.js';
import { ChainNode } from './chain-node.adapter.js';
import { ChainUnavailable } from './chain.ports.js';
import { Recheck } from './recheck.service.js';

/** `npm run audit -- recheck`: checks every received payout against a node. It changes nothing. */
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
        throw new ConfigError('--from must be a position that this program printed.');
      const asJson = program.opts<{ json?: boolean }>().json === true;
      const print = (text: string, json: object): void => cli.print(asJson ? JSON.stringify(json) : text);
      const node = openNode(config, rpc);
      try {
        await connected(cli, async (_database, store) => {
          const recheck = new Recheck(store, node, config.chainId, from ?? null);
          const stopped = await run(recheck, print);
          const { counts, position } = recheck;
          print(describe(recheck, stopped), { ...counts, position, stopped });
          if (counts.undone > 0) cli.exit(EXIT_WRONG);
          else if (stopped !== null || counts.unknown > 0) cli.exit(EXIT_INCOMPLETE);
        });
      } finally {
        await node.close();
      }
    });
}

function openNode(config: ChainConfig, rpc: string | undefined): ChainNode {
  const given = rpc ?? config.chainRpcUrl;
  if (given === null)
    throw new ConfigError(`Give --rpc or set CHAIN_RPC_URL. ${about(chainConfig.settings.chainRpcUrl)}`);
  try {
    urls('http', 'https')(given);
  } catch (error) {
    throw new ConfigError(`--rpc ${(error as Error).message}`, { cause: error });
  }
  const { chainId, usdcAddress } = config;
  const options = { url: urlsIn(given)[0]!, chainId, token: usdcAddress ?? '', ...chainRules(config) };
  return new ChainNode(options, systemClock);
}

/** Prints all notes of a recheck. Returns why it stopped early; null if all payouts were checked. */
async function run(recheck: Recheck, print: (text: string, json: object) => void): Promise<string | null> {
  const progress = createProgress('payouts checked');
  try {
    for await (const notes of recheck.pages()) {
      for (const noted of notes) {
        const { kind, payout_id, position, why } = noted;
        print(`${kind.toUpperCase().padEnd(8)}  payout ${payout_id}, position ${position}: ${why}`, noted);
      }
      progress(recheck.counts.checked, recheck.position!);
    }
    return null;
  } catch (error) {
    if (error instanceof ChainUnavailable) return error.message;
    throw error;
  }
}

function describe({ counts, position }: Recheck, stopped: string | null): string {
  const { checked, unchanged, moved, undone, unknown, other_chains } = counts;
  const lines = [
    `${checked} payouts checked, up to position ${position ?? 'none'}: ${unchanged + moved} confirmed, ${moved} of them in another block; ${undone} undone`,
  ];
  if (unknown > 0) lines.push(`${unknown} could not be checked: try again, or another node (--rpc)`);
  if (other_chains > 0) lines.push(`${other_chains} are on other chains and were not checked (CHAIN_ID)`);
  if (stopped !== null)
    lines.push(
      `STOPPED: ${stopped}. That says nothing of any payout; continue with ${position === null ? 'the same command' : `--from ${position}`}`,
    );
  return lines.join('\n');
}
