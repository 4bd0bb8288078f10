import { ConfigError, anyOf, setting, defineConfig } from '../../platform/config/settings.js';

export const operationsConfig = defineConfig('operations', {
  operationsApprovals: setting(
    anyOf('on', 'off'),
    'on',
    'whether operations that need a second person wait for one; off, in the sandbox only, executes them at once.',
  ),
});

export type OperationsConfig = ReturnType<typeof operationsConfig>;

export function checkOperationsSettings({ mode, operationsApprovals }: OperationsConfig): void {
  if (mode !== 'sandbox' && operationsApprovals === 'off')
    throw new ConfigError('OPERATIONS_APPROVALS must not be off in production: two persons are required.');
}
