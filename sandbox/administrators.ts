import type { INestApplicationContext } from '@nestjs/common';
import { AdminKeyDirectory } from '../src/contexts/access/application/known-admin-keys.js';
import { OperatorsView } from '../src/contexts/access/views/operators.js';
import { step, type SandboxAdmin } from './announce.js';
import type { SecretsFile } from './secrets.js';

/** Creates persons and keys through the commands of the service. */
export interface AdministratorCommands {
  /** Returns the id of the person. */
  create(name: string, email: string): Promise<string>;
  /** Returns the secret of a new key with all scopes. */
  issueKey(operatorId: string): Promise<string>;
  /** A one-time link to the console, for the first administrator. */
  loginLink(): Promise<string>;
}

export const ADMINISTRATOR_EMAIL = 'administrator@sandbox.example';

const PERSONS = {
  api_key: ['Sandbox administrator', ADMINISTRATOR_EMAIL],
  approver_api_key: ['Sandbox approver', 'approver@sandbox.example'],
} as const;

/** The two administrators of the sandbox with the keys of the last run, or new ones where the database does not know these. */
export function prepareAdministrators(
  app: INestApplicationContext,
  secrets: SecretsFile,
  commands: AdministratorCommands,
): Promise<SandboxAdmin> {
  const keys = app.get(AdminKeyDirectory, { strict: false });
  const persons = app.get(OperatorsView, { strict: false });
  const key = async (which: keyof SandboxAdmin): Promise<string> => {
    const remembered = secrets.current.admin?.[which];
    if (remembered !== undefined && (await keys.find(remembered)) !== null) return remembered;
    const [name, email] = PERSONS[which];
    const operatorId = (await persons.byEmail(email))?.operatorId ?? (await commands.create(name, email));
    return commands.issueKey(operatorId);
  };
  return step(
    'Administrators',
    async () => {
      const admin = { api_key: await key('api_key'), approver_api_key: await key('approver_api_key') };
      secrets.remember({ admin });
      return admin;
    },
    () => 'two, with their keys',
  );
}
