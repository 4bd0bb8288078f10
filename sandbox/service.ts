import type { Config } from '../src/composition.js';
import { startService as start, type Service } from '../src/service.js';
import { SandboxModule } from './sandbox.module.js';

/** Boots the service from a complete configuration, with the module of the sandbox in its mode. */
export function startService(config: Config): Promise<Service> {
  return start(config, config.mode === 'sandbox' ? [SandboxModule] : []);
}
