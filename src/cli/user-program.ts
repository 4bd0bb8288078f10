import type { INestApplicationContext } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { Command } from 'commander';
import { ViewProgress } from '../platform/projections/view-progress.js';
import { DomainError } from '../kernel/domain-error.js';
import { isUuid } from '../kernel/ids.js';
import { DEACTIVATION_SAGA } from '../contexts/payouts/application/deactivation-saga.js';
import { SettleDeactivation } from '../contexts/payouts/application/settle-deactivation.js';
import { LocateUser, type Known } from '../contexts/users/application/locate-user.js';
import { StartDeactivation, type UserChanged } from '../contexts/users/application/start-deactivation.js';
import { userJson } from '../contexts/users/views/user-json.js';
import { operate, type OperatorIo, type Outcome } from './operator.js';

const PERSONAL = 'show the phone number and the email too';
const HIDDEN = '  phone_number, email    shown with --personal';

/** `npm run user -- ...`: what operators do with users. */
export function userProgram(io: OperatorIo): Command {
  const program = new Command('user')
    .description('Shows, finds and deactivates users.')
    .option('--json', 'print JSON for machines');

  program
    .command('show <user-id>')
    .description('show a user of any merchant')
    .option('--personal', PERSONAL)
    .action(async function (this: Command, id: string) {
      const { personal } = this.opts<{ personal?: true }>();
      await operate(io, (context) => located(context, { userId: userId(id) }, personal)).call(this);
    });

  program
    .command('find')
    .description('find a user of a merchant by exactly one of phone number, external id and wallet')
    .requiredOption('--merchant <merchant-id>', 'whose user it is')
    .option('--phone <number>', 'in E.164 form; it is looked up by its keyed hash')
    .option('--external-id <id>', "the merchant's own id")
    .option('--wallet <address>', 'the address of the issuer wallet')
    .option('--personal', PERSONAL)
    .action(async function (this: Command) {
      const options = this.opts<Finding>();
      await operate(io, (context) => located(context, knownOf(options), options.personal)).call(this);
    });

  program
    .command('deactivate <user-id>')
    .description('accept no more payouts for the user, who is deactivated once none is pending')
    .action(operate(io, (context, id) => change(context, new StartDeactivation(userId(id)))));

  program
    .command('complete-deactivation <user-id>')
    .description('deactivate at once a user who has no pending payout; the service does it by itself too')
    .action(operate(io, (context, id) => change(context, new SettleDeactivation(userId(id)))));

  return program;
}

interface Finding {
  readonly merchant: string;
  readonly phone?: string;
  readonly externalId?: string;
  readonly wallet?: string;
  readonly personal?: true;
}

function knownOf({ merchant, phone, externalId, wallet }: Finding): Known {
  if (!isUuid(merchant)) throw DomainError.notFound('Merchant');
  const merchantId = merchant.toLowerCase();
  const given = [
    ...(phone === undefined ? [] : [{ merchantId, phoneNumber: phone }]),
    ...(externalId === undefined ? [] : [{ merchantId, externalId }]),
    ...(wallet === undefined ? [] : [{ merchantId, wallet }]),
  ];
  if (given.length !== 1)
    throw new DomainError('bad_request', 'Give exactly one of --phone, --external-id and --wallet');
  return given[0]!;
}

async function located(context: INestApplicationContext, known: Known, personal = false): Promise<Outcome> {
  const found = await context.get(LocateUser).by(known);
  if (found === null) throw DomainError.notFound('User');
  const { phone_number, email, ...rest } = userJson(found);
  const json = { merchant_id: found.merchantId, ...rest, ...(personal ? { phone_number, email } : {}) };
  const lines = Object.entries(json).map(([name, value]) => `  ${name.padEnd(21)}  ${value ?? 'none'}`);
  return { text: [...lines, ...(personal ? [] : [HIDDEN])].join('\n'), json };
}

/** Waits until the saga has counted the change, so that what is said next rests on it. */
async function change(
  context: INestApplicationContext,
  command: StartDeactivation | SettleDeactivation,
): Promise<Outcome> {
  const { state, position }: UserChanged = await context.get(CommandBus).execute(command);
  await context.get(ViewProgress).reached(DEACTIVATION_SAGA, position);
  return {
    text: `The user is ${state.accountState}`,
    json: { user_id: command.userId, account_state: state.accountState },
  };
}

function userId(text: string | undefined): string {
  if (!isUuid(text)) throw DomainError.notFound('User');
  return text.toLowerCase();
}
