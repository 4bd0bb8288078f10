import { readFileSync } from 'node:fs';
import type { INestApplicationContext } from '@nestjs/common';
import type { Command } from 'commander';
import { DomainError } from '../../../kernel/domain-error.js';
import type { CliContext } from '../../../platform/cli/cli-context.js';
import { writes } from '../../../platform/cli/write.js';
import { parseId } from '../../../platform/dto/rules.js';
import { RestrictKey, SetKeyPage } from './credentials.commands.js';
import { toLogo } from './credential-kinds.js';
import { CredentialIndex } from './credentials.view.js';

type Options = Readonly<Partial<Record<'logo' | 'helpUrl' | 'termsUrl', string>>>;

/** Adds `npm run exchange -- key page | allow` for API key settings that the admin API cannot change. */
export function exchangeKeyCommands(program: Command, cli: CliContext): void {
  const key = program.command('key').description('set the pay page and the addresses of an API key');
  const page = key
    .command('page <api-key>')
    .description('set what the pay page of the key displays; an option that is left out is cleared')
    .option('--logo <file>', 'a PNG or WebP of at most 16 KiB')
    .option('--help-url <url>', 'where a customer finds help')
    .option('--terms-url <url>', 'the terms of the merchant');
  writes(page, cli, async function (context, write, id) {
    const { logo, helpUrl: help_url = null, termsUrl: terms_url = null } = this.opts<Options>();
    const settings = { logo: logo === undefined ? null : toLogo(read(logo)), help_url, terms_url };
    const { keyId, owner } = await find(context, id!);
    await write(new SetKeyPage(keyId, { ...owner, page: settings }), owner.merchant_id);
    return { text: 'Pay page set', json: {} };
  });
  const allow = key
    .command('allow <api-key> [addresses...]')
    .description('refuse requests from outside these addresses and ranges with 403; none: anywhere');
  writes(allow, cli, async function (context, write) {
    const [id, ...addresses] = this.args;
    const { keyId, owner } = await find(context, id!);
    await write(new RestrictKey(keyId, { ...owner, addresses }), owner.merchant_id);
    return { text: `Allowed from ${addresses.join(', ') || 'anywhere'}`, json: {} };
  });
}

async function find(context: INestApplicationContext, apiKey: string) {
  const keyId = parseId(apiKey, 'Key');
  const merchant_id = await context.get(CredentialIndex, { strict: false }).ownerOfKey(keyId);
  if (merchant_id === null) throw DomainError.notFound('Key');
  return { keyId, owner: { merchant_id, operator_id: null } };
}

function read(file: string): Buffer {
  try {
    return readFileSync(file);
  } catch {
    throw DomainError.invalid({ logo: [`${file} cannot be read`] });
  }
}
