import { setTimeout as wait } from 'node:timers/promises';
import type { INestApplicationContext } from '@nestjs/common';
import type { Command } from 'commander';
import { DomainError } from '../../../kernel/domain-error.js';
import { parseId, cliAction, type CliOutcome, type CliContext } from '../../../platform/cli/cli-context.js';
import { writes } from '../../../platform/cli/write.js';
import { SubscriptionProgress } from '../../../platform/projections/subscription-progress.js';
import { ErasingWorker, ERASING_SAGA } from '../application/erasure-worker.js';
import { EraseUser } from '../application/user-commands.js';
import { LocateUser, type Known } from '../application/locate-user.js';
import type { Act, ErasedUser, ExistingUser } from '../domain/user.js';
import { userJson } from '../application/user-json.js';

const HIDDEN = '  phone_number, email    hidden without --personal';

export async function located(
  context: INestApplicationContext,
  known: Known,
  personal = false,
): Promise<CliOutcome> {
  const found = await context.get(LocateUser).by(known);
  if (found === null) throw DomainError.notFound('User');
  const json: Readonly<Record<string, string | null>> =
    found.accountState === 'erased'
      ? { ...erasedJson(found), still_to_drop: await leftOf(context, found.userId) }
      : existingJson(found, personal);
  const lines = Object.entries(json).map(([name, value]) => `  ${name.padEnd(21)}  ${value ?? 'none'}`);
  const hides = !personal && found.accountState !== 'erased';
  const displays = { subject: `user ${found.userId}`, merchantIds: [found.merchantId] };
  return { text: [...lines, ...(hides ? [HIDDEN] : [])].join('\n'), json, displays };
}

/** What contexts have still to drop of an erased person, and why; null when nothing is left. */
async function leftOf(context: INestApplicationContext, userId: string): Promise<string | null> {
  const left = await context.get(ErasingWorker).leftOf(userId);
  const texts = left.map(({ part, failures, cause }) =>
    cause === null ? part : `${part} (${failures} attempts: ${cause})`,
  );
  return texts.join(', ') || null;
}

function existingJson(found: ExistingUser, personal: boolean): Record<string, string | null> {
  const { phone_number, email, ...rest } = userJson(found);
  return {
    merchant_id: found.merchantId,
    ...rest,
    ...('deactivation' in found ? actFields('deactivation', found.deactivation) : {}),
    ...(personal ? { phone_number, email } : {}),
  };
}

function erasedJson(found: ErasedUser): Record<string, string | null> {
  return {
    merchant_id: found.merchantId,
    id: found.userId,
    external_id: found.externalId,
    created_at: found.createdAt,
    account_state: found.accountState,
    issuer_wallet_address: found.issuerWalletAddress,
    ...actFields('deactivation', found.deactivation),
    ...actFields('erasure', found.erasure),
  };
}

function actFields(what: string, { at, reason, actor }: Act): Record<string, string | null> {
  return { [`${what}_at`]: at, [`${what}_reason`]: reason, [`${what}_actor`]: actor };
}

const TIMEOUT_MS = 5000;
const POLL_MS = 50;
const CACHED = 'A process that just read the user can read the personal data for another minute.';

function eraseCommand(program: Command, cli: CliContext): void {
  const command = program
    .command('erase <user-id>')
    .description('erase a deactivated user for good: all personal data is dropped, payouts stay')
    .option('--yes', 'do it: only a backup restores the data');
  writes(command, cli, async function (context, write, id) {
    if (this.opts<{ yes?: true }>().yes !== true)
      throw new DomainError('bad_request', 'Erased data cannot be restored: give --yes to continue');
    const userId = parseId(id, 'User');
    const found = await context.get(LocateUser).by({ userId });
    if (found === null) throw DomainError.notFound('User');
    // A repeat displays the progress.
    if (found.accountState !== 'erased') await write(new EraseUser(userId), found.merchantId);
    return erased(context, userId);
  });
}

async function erased(context: INestApplicationContext, userId: string): Promise<CliOutcome> {
  const begun = await context.get(SubscriptionProgress).waitUntilCurrent(ERASING_SAGA);
  const left = begun ? await waitUntilDropped(context, userId) : 'everything: no worker has started yet';
  const text =
    left === null
      ? `The user is erased, and nothing is left to drop.\n${CACHED}`
      : `The user is erased. Workers have still to drop: ${left}.\n${CACHED}\nnpm run user -- show ${userId} displays the progress.`;
  return { text, json: { user_id: userId, account_state: 'erased', still_to_drop: left } };
}

async function waitUntilDropped(context: INestApplicationContext, userId: string): Promise<string | null> {
  const deadline = performance.now() + TIMEOUT_MS;
  for (;;) {
    const left = await leftOf(context, userId);
    if (left === null || performance.now() > deadline) return left;
    await wait(POLL_MS);
  }
}

const PERSONAL = 'show the phone number and the email too';

/** `npm run user -- ...`: find and erase users; the payouts context adds `deactivate`. */
export function userProgram(program: Command, cli: CliContext): void {
  program.description('Shows, finds, deactivates and erases users.');

  program
    .command('show <user-id>')
    .description('show a user of any merchant')
    .option('--personal', PERSONAL)
    .action(
      cliAction(cli, function (context, id) {
        return located(context, { userId: parseId(id, 'User') }, this.opts<Finding>().personal);
      }),
    );

  program
    .command('find')
    .description('find a user of a merchant by exactly one of phone number, external id and wallet')
    .requiredOption('--merchant <merchant-id>', 'whose user it is')
    .option('--phone <number>', 'in E.164 form; finds who has it now, by its keyed hash')
    .option('--external-id <id>', "the merchant's own id")
    .option('--wallet <address>', 'the address of the issuer wallet')
    .option('--personal', PERSONAL)
    .action(
      cliAction(cli, function (context) {
        const options = this.opts<Finding>();
        return located(context, knownOf(options), options.personal);
      }),
    );

  eraseCommand(program, cli);
}

interface Finding {
  readonly merchant: string;
  readonly phone?: string;
  readonly externalId?: string;
  readonly wallet?: string;
  readonly personal?: true;
}

function knownOf({ merchant, phone, externalId, wallet }: Finding): Known {
  const merchantId = parseId(merchant, 'Merchant');
  const given = [
    ...(phone === undefined ? [] : [{ merchantId, phoneNumber: phone }]),
    ...(externalId === undefined ? [] : [{ merchantId, externalId }]),
    ...(wallet === undefined ? [] : [{ merchantId, wallet }]),
  ];
  if (given.length !== 1)
    throw new DomainError('bad_request', 'Give exactly one of --phone, --external-id and --wallet');
  return given[0]!;
}
