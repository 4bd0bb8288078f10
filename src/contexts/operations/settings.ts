import type { Config } from '../../platform/config/config.js';
import { ConfigError, anyOf, setting, type SettingsOf } from '../../platform/config/settings.js';

export const OPERATIONS_SETTINGS = {
  operationsApprovals: setting(
    'OPERATIONS_APPROVALS',
    anyOf('on', 'off'),
    'on',
    'whether operations that need a second person wait for one; off, in the sandbox only, executes them at once.',
  ),
};

type OperationsSettings = SettingsOf<typeof OPERATIONS_SETTINGS>;

declare module '../../platform/config/config.js' {
  interface Config extends OperationsSettings {}
}

export function checkOperationsSettings({ mode, operationsApprovals }: Config): void {
  if (mode !== 'sandbox' && operationsApprovals === 'off')
    throw new ConfigError('OPERATIONS_APPROVALS must not be off in production: four eyes are its safeguard.');
}
