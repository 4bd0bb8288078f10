import type { INestApplicationContext } from '@nestjs/common';
import { DomainError } from '../../kernel/domain-error.js';
import { OperatorDirectory } from '../operations/operator-directory.js';
import { SHELL, type Requester } from '../operations/operations.js';
import type { CliContext } from './cli-context.js';

/** The person whose key `DISBURSE_ADMIN_KEY` is; without one, the shell. Throws `forbidden` for a key that is not valid. */
export async function requesterOf(
  context: INestApplicationContext,
  cli: Pick<CliContext, 'adminKey'>,
): Promise<Requester> {
  const operators = context.get(OperatorDirectory, { strict: false });
  if (cli.adminKey === null) return { ...SHELL, scopes: operators.allScopes };
  const person = await operators.personOf(cli.adminKey);
  if (person === null) throw new DomainError('forbidden', 'DISBURSE_ADMIN_KEY is not a valid admin key');
  return person;
}
