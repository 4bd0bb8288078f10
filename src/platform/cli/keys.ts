import type { INestApplicationContext } from '@nestjs/common';
import type { Command } from 'commander';
import { type SealingConfig, sealingConfig } from '../config/config.js';
import { Database } from '../postgres/database.js';
import { toMasterKeys, type MasterKeys } from '../sealing/key-ring.js';
import { ringStatus, type RingStatus, type SealedTexts } from '../sealing/key-rotation.js';
import { CreateFreshKey } from './system-commands.js';
import { cliAction, type CliContext } from './cli-context.js';
import { writes } from './write.js';

/** `npm run keys -- ...`: the replacement of a MASTER_KEY, in the order of docs/keys.md. */
export function keysProgram(program: Command, cli: CliContext): void {
  program.description('Replaces the master key, and the keys that seal.');

  program
    .command('status')
    .description('show which master keys open the key ring, and what each of its keys has sealed')
    .action(
      cliAction(cli, async (context) => {
        const texts = cli.contexts.map(({ sealedTexts }) => sealedTexts);
        const status = await ringStatus(...parts(context), Object.assign({}, ...texts) as SealedTexts);
        const keys = status.keys.map(({ sealed, ...key }) => ({ ...key, ...sealed }));
        return { text: describe(status), json: { master_keys: status.masters, keys } };
      }),
    );

  writes(
    program
      .command('fresh')
      .description('create a new key, which seals everything that is written from then on'),
    cli,
    async (context, write) => {
      const id = parts(context)[1].current.id;
      const json = await write(new CreateFreshKey(id), null);
      const { key_id, seals_in_seconds: seconds } = json;
      const text = `Created ${key_id}: it seals from ${seconds} seconds on, and then wraps the personal keys again`;
      return { text, json };
    },
  );
}

function parts(context: INestApplicationContext): [Database, MasterKeys] {
  return [context.get(Database), toMasterKeys(context.get<SealingConfig>(sealingConfig.KEY))];
}

function describe({ masters, keys }: RingStatus): string {
  const lines = masters.map(({ id, setting, keys: count, seen_seconds_ago: ago }) => {
    const seen = ago === null ? 'no process yet' : `a process ${ago} s ago`;
    return `  ${id}  ${(setting ?? 'not set here').padEnd(17)}  opens ${count} keys  ${seen}`;
  });
  const now = new Date();
  const current = keys.filter(({ seals_from: from }) => from !== null && from <= now).at(-1);
  const sealing = keys.map((key) => {
    const { id, seals_from: from, sealed } = key;
    const isLater = from !== null && from > now;
    const use = key === current ? 'seals' : isLater ? `seals from ${from.toISOString()}` : 'opens only';
    const counts = Object.entries(sealed).map(([name, count]) => `${count} ${name.replaceAll('_', ' ')}`);
    return `  ${id}  ${use}\n            ${counts.join(', ')}`;
  });
  const verdict =
    masters.length === 1
      ? 'One master key opens the key ring.'
      : 'More than one master key opens the key ring; MASTER_KEY alone does after npm run admin -- system retire-former';
  return ['Master keys', ...lines, '', 'Keys, and what they sealed', ...sealing, '', verdict].join('\n');
}
