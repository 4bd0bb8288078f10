import { anInteger, optional, setting, anyText, defineConfig } from '../../platform/config/settings.js';

export const auditConfig = defineConfig('audit', {
  auditHeadSeconds: setting(
    anInteger(1, 86_400),
    10,
    'how often a head is signed over the events that came; what came after the newest head is not covered yet.',
  ),
  auditHeadsFile: optional(
    anyText,
    'a file that every signed head is appended to, to be shipped where the operator of the database cannot write.',
  ),
});

export type AuditConfig = ReturnType<typeof auditConfig>;
