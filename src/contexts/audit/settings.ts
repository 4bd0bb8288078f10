import { anInteger, optional, setting, anyText, type SettingsOf } from '../../platform/config/settings.js';

/** How the ledger is signed and published. */
export const AUDIT_SETTINGS = {
  auditHeadSeconds: setting(
    'AUDIT_HEAD_SECONDS',
    anInteger(1, 86_400),
    10,
    'how often a head is signed over the events that came; what came after the newest head is not covered yet.',
  ),
  auditHeadsFile: optional(
    'AUDIT_HEADS_FILE',
    anyText,
    'a file that every signed head is appended to, to be shipped where the operator of the database cannot write.',
  ),
};

type AuditSettings = SettingsOf<typeof AUDIT_SETTINGS>;

declare module '../../platform/config/config.js' {
  interface Config extends AuditSettings {}
}
