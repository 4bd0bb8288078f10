import type { Command } from 'commander';
import { systemClock } from '../../../kernel/clock.js';
import { fromMinorUnits } from '../../../kernel/money.js';
import { connected } from '../../../platform/cli/connected.js';
import type { CliContext } from '../../../platform/cli/cli-context.js';
import { ConfigError } from '../../../platform/config/settings.js';
import { WalletTransfers } from '../adapters/wallet-transfers.js';
import { UnreportedTransfers } from '../views/unreported-transfers.js';
import { nodeOptions } from './node-options.js';

interface Options {
  readonly fromBlock: string;
  readonly toBlock?: string;
  readonly rpc?: string;
}

/** `npm run payout -- unreported`: after a restore, the transfers whose reports are gone. Changes nothing. */
export function unreportedProgram(program: Command, cli: CliContext): void {
  program
    .command('unreported')
    .description(
      'transfers on the chain to wallets of users that no payout names, after a restore for example',
    )
    .requiredOption('--from-block <number>', 'the first block')
    .option('--to-block <number>', 'the last block; without it the newest final one')
    .option('--rpc <url>', 'the JSON-RPC node; without it the first of CHAIN_RPC_URL')
    .action(async function (this: Command, { fromBlock, toBlock, rpc }: Options) {
      const asJson = this.optsWithGlobals<{ json?: boolean }>().json === true;
      const from = blockOf('--from-block', fromBlock);
      const chain = new WalletTransfers(nodeOptions(cli.config(), rpc), systemClock);
      try {
        await connected(cli, async (database) => {
          // The head also says whether this is the chain, and whether the node is up to date.
          const final = await chain.finalBlock();
          const to = toBlock === undefined ? final : blockOf('--to-block', toBlock);
          if (to > final)
            throw new ConfigError(`--to-block must be final: the newest final block is ${final}.`);
          if (from > to) throw new ConfigError(`--from-block must be no later than block ${to}.`);
          const view = new UnreportedTransfers(database);
          const users = await view.wallets();
          let found = 0;
          for await (const transfers of chain.read([...users.keys()], from, to)) {
            const ofUsers = transfers.map((each) => ({ ...each, userId: users.get(each.to)! }));
            for (const { hash, blockNumber, amountMinor, userId, to: wallet } of await view.without(
              ofUsers,
            )) {
              found += 1;
              const amount = fromMinorUnits(amountMinor);
              const json = { transaction_hash: hash, block: blockNumber, amount, user_id: userId, wallet };
              cli.print(
                asJson
                  ? JSON.stringify(json)
                  : `${hash}  block ${blockNumber}  ${amount} USDC to user ${userId} (${wallet})`,
              );
            }
          }
          const sums = { unreported: found, wallets: users.size, from_block: from, to_block: to };
          cli.print(
            asJson
              ? JSON.stringify(sums)
              : `${found} transfers to ${users.size} wallets in the blocks ${from} to ${to} that no payout names`,
          );
        });
      } finally {
        await chain.close();
      }
    });
}

function blockOf(option: string, text: string): number {
  if (!/^[0-9]{1,15}$/.test(text)) throw new ConfigError(`${option} must be the number of a block.`);
  return Number(text);
}
