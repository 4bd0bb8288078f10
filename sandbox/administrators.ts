import type { INestApplicationContext } from '@nestjs/common';
import { CredentialDirectory } from '../src/contexts/access/credentials/credential-directory.service.js';
import { OperatorsView } from '../src/contexts/access/merchants/directory.view.js';
import { step, type SandboxAdmin } from './announce.js';
import type { SecretsFile } from './secrets.js';

/** Creates persons and keys through the commands of the service. */
export interface AdministratorCommands {
  /** Returns the id of the person. */
  create(name: string, email: string): Promise<string>;
  /** Returns the secret of a new key with all scopes. */
  issueKey(operatorId: string): Promise<string>;
  /** Returns a one-time link to the console. */
  loginLink(operatorId: string): Promise<string>;
}

const PERSONS = {
  api_key: ['Sandbox administrator', 'administrator@sandbox.example'],
  approver_api_key: ['Sandbox approver', 'approver@sandbox.example'],
} as const;

/** Returns the two administrators with the keys of the last run, or new ones if the database lacks them. */
export function prepareAdministrators(
  app: INestApplicationContext,
  secrets: SecretsFile,
  commands: AdministratorCommands,
): Promise<{ readonly admin: SandboxAdmin; readonly operatorId: string }> {
  const keys = app.get(CredentialDirectory, { strict: false });
  const persons = app.get(OperatorsView, { strict: false });
  const key = async (which: keyof SandboxAdmin): Promise<{ secret: string; operatorId: string }> => {
    const remembered = secrets.current.admin?.[which];
    const known = remembered === undefined ? null : await keys.findAdminKey(remembered);
    if (known !== null) return { secret: remembered!, operatorId: known.operatorId };
    const [name, email] = PERSONS[which];
    const operatorId = (await persons.byEmail(email))?.id ?? (await commands.create(name, email));
    return { secret: await commands.issueKey(operatorId), operatorId };
  };
  return step(
    'Administrators',
    async () => {
      const { secret: api_key, operatorId } = await key('api_key');
      const admin = { api_key, approver_api_key: (await key('approver_api_key')).secret };
      secrets.remember({ admin });
      return { admin, operatorId };
    },
    () => 'two, with their keys',
  );
}
