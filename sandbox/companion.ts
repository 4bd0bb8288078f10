import type { INestApplicationContext } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { CreateOperator } from '../src/contexts/access/operators/operators.commands.js';
import { newId } from '../src/kernel/ids.js';
import type { Companion } from '../src/main.js';
import { LoginSecrets } from '../src/contexts/access/console/console-sessions.store.js';
import type { Config } from '../src/composition.js';
import type { AdministratorCommands } from './administrators.js';
import { createMerchant, issueCredential, issueExchangeKey } from './issuing.js';
import { prepareSandbox } from './prepare.js';
import { SandboxModule } from './sandbox.module.js';

/** Prepares the sandbox, which runs together with the service. Returns null in production. */
export async function sandboxFor(given: Config): Promise<Companion | null> {
  if (given.mode !== 'sandbox') return null;
  const { config, stop, ready } = await prepareSandbox(given);
  return {
    config,
    modules: [SandboxModule],
    stop,
    ready: (app) => {
      const commands = app.get(CommandBus);
      return ready(app, {
        registerMerchant: (name) => createMerchant(commands, name),
        issueExchangeKey: (...key) => issueExchangeKey(commands, ...key),
        administrators: administratorsBy(app, commands),
      });
    },
  };
}

function administratorsBy(app: INestApplicationContext, commands: CommandBus): AdministratorCommands {
  return {
    create: async (name, email) => {
      const operatorId = newId();
      await commands.execute(new CreateOperator(operatorId, { name, email, role: 'administrator' }));
      return operatorId;
    },
    issueKey: async (operator_id) =>
      (await issueCredential(commands, { kind: 'admin', operator_id, name: 'sandbox' })).secret,
    loginLink: (operatorId) => app.get(LoginSecrets, { strict: false }).issueLink(operatorId),
  };
}
