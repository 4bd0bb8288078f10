import type { INestApplicationContext } from '@nestjs/common';
import type { Command } from 'commander';
import { DomainError } from '../../../kernel/domain-error.js';
import { isUuid } from '../../../kernel/ids.js';
import { operate, type Operator, type Outcome } from '../../../platform/operator/operator.js';
import { LocateUser, type Known } from '../application/locate-user.js';
import type { Act } from '../domain/user.js';
import { userJson } from '../views/user-json.js';

const PERSONAL = 'show the phone number and the email too';
const HIDDEN = '  phone_number, email    shown with --personal';

/** `npm run user -- ...`: how operators look users up; payouts adds how they are deactivated. */
export function userProgram(program: Command, operator: Operator): void {
  program.description('Shows, finds and deactivates users.');

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
    .option('--phone <number>', 'in E.164 form; it is looked up by its keyed hash')
    .option('--external-id <id>', "the merchant's own id")
    .option('--wallet <address>', 'the address of the issuer wallet')
    .option('--personal', PERSONAL)
    .action(async function (this: Command) {
      const options = this.opts<Finding>();
      await operate(operator, (context) => located(context, knownOf(options), options.personal)).call(this);
    });
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
  const json = {
    ...{ merchant_id: found.merchantId, ...rest },
    ...('deactivation' in found ? told('deactivation', found.deactivation) : {}),
    ...(personal ? { phone_number, email } : {}),
  };
  const lines = Object.entries(json).map(([name, value]) => `  ${name.padEnd(21)}  ${value ?? 'none'}`);
  return { text: [...lines, ...(personal ? [] : [HIDDEN])].join('\n'), json };
}

/** Since when, why, and who did it. */
function told(what: string, { at, reason, actor }: Act): Record<string, string | null> {
  return { [`${what}_at`]: at, [`${what}_reason`]: reason, [`${what}_actor`]: actor };
}

function userId(text: string | undefined): string {
  if (!isUuid(text)) throw DomainError.notFound('User');
  return text.toLowerCase();
}
