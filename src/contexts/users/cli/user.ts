import type { Command } from 'commander';
import { DomainError } from '../../../kernel/domain-error.js';
import { isUuid } from '../../../kernel/ids.js';
import { operate, type Operator } from '../../../platform/operator/operator.js';
import type { Known } from '../application/locate-user.js';
import { eraseCommand } from './erase.js';
import { located } from './located.js';

const PERSONAL = 'show the phone number and the email too';

/** `npm run user -- ...`: how operators look users up and erase them; payouts adds how they are deactivated. */
export function userProgram(program: Command, operator: Operator): void {
  program.description('Shows, finds, deactivates and erases users.');

  program
    .command('show <user-id>')
    .description('show a user of any merchant')
    .option('--personal', PERSONAL)
    .action(async function (this: Command, id: string) {
      const { personal } = this.opts<{ personal?: true }>();
      await operate(operator, (context) => located(context, { userId: userId(id) }, personal)).call(this);
    });

  program
    .command('find')
    .description('find a user of a merchant by exactly one of phone number, external id and wallet')
    .requiredOption('--merchant <merchant-id>', 'whose user it is')
    .option('--phone <number>', 'in E.164 form; finds who has it now, by its keyed hash')
    .option('--external-id <id>', "the merchant's own id")
    .option('--wallet <address>', 'the address of the issuer wallet')
    .option('--personal', PERSONAL)
    .action(async function (this: Command) {
      const options = this.opts<Finding>();
      await operate(operator, (context) => located(context, knownOf(options), options.personal)).call(this);
    });

  eraseCommand(program, operator, userId);
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

function userId(text: string | undefined): string {
  if (!isUuid(text)) throw DomainError.notFound('User');
  return text.toLowerCase();
}
