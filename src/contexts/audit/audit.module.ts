import { defineContext } from '../../platform/context.js';

/** Audit: proves the books. Nothing of it runs in the service. */
export const audit = defineContext({
  name: 'audit',
  programs: { audit: async () => (await import('./cli/audit.js')).auditProgram },
});
