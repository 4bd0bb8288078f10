import type { Config } from '../src/composition.js';
import { startService as start, type Service } from '../src/service.js';
import { SandboxModule } from './sandbox.module.js';

/** Boots the service from a complete configuration; in sandbox mode with the module of the sandbox. */
export function startService(config: Config): Promise<Service> {
  return start(config, config.mode === 'sandbox' ? [SandboxModule] : []);
}
