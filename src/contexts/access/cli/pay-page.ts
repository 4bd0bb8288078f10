import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { DomainError } from '../../../kernel/domain-error.js';
import { parseId, type CliContext } from '../../../platform/cli/cli-context.js';
import { writes } from '../../../platform/cli/write.js';
import { SetExchangeKeyPage } from '../application/exchange-key-commands.js';
import { logoOf } from '../domain/exchange-key.js';
import { DirectoryView } from '../views/directory.js';

type Options = Readonly<Partial<Record<'logo' | 'helpUrl' | 'termsUrl', string>>>;

/** `npm run exchange -- key page`: the pay page of an API key, which the admin API does not set. */
export function payPageCommand(program: Command, cli: CliContext): void {
  const command = program
    .command('key')
    .description('set what the pay page of a key displays')
    .command('page <api-key>')
    .description('set what the pay page of the key displays; an option that is left out is cleared')
    .option('--logo <file>', 'a PNG or WebP of at most 16 KiB')
    .option('--help-url <url>', 'where a customer finds help')
    .option('--terms-url <url>', 'the terms of the merchant');
  writes(command, cli, async function (context, write, id) {
    const { logo, helpUrl = null, termsUrl = null } = this.opts<Options>();
    const page = { logo: logo === undefined ? null : logoOf(read(logo)), helpUrl, termsUrl };
    const key = await context.get(DirectoryView, { strict: false }).exchangeKey(parseId(id, 'Key'));
    if (key === null) throw DomainError.notFound('Key');
    await write(new SetExchangeKeyPage(key.keyId, { page }), key.merchantId);
    return { text: 'Pay page set', json: {} };
  });
}

function read(file: string): Buffer {
  try {
    return readFileSync(file);
  } catch {
    throw DomainError.invalid({ logo: [`${file} cannot be read`] });
  }
}
