import 'reflect-metadata';
import { CommandBus } from '@nestjs/cqrs';
import { IssueExchangeKey } from '../src/contexts/access/application/exchange-key-commands.js';
import { RegisterMerchant } from '../src/contexts/access/application/merchant-commands.js';
import { run, type Companion } from '../src/run.js';
import type { Config } from '../src/platform/config/config.js';
import { followParent } from './announce.js';
import { prepareSandbox } from './prepare.js';
import { SandboxModule } from './sandbox.module.js';

/** The sandbox around the service in its mode; in production the service is alone. */
async function sandboxFor(given: Config): Promise<Companion | null> {
  if (given.mode !== 'sandbox') return null;
  const { config, stop, ready } = await prepareSandbox(given);
  return {
    config,
    modules: [SandboxModule],
    stop,
    ready: (app) => {
      const commands = app.get(CommandBus);
      return ready(app, {
        registerMerchant: (name) => commands.execute(new RegisterMerchant(name)),
        issueExchangeKey: (...key) => commands.execute(new IssueExchangeKey(...key)),
      });
    },
  };
}

followParent();
void run(sandboxFor);
