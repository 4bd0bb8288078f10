import { Module } from '@nestjs/common';
import { defineContext } from '../../platform/context.js';
import { EVENT_STORE, type EventStore } from '../../platform/event-store/port.js';
import { provideSaga } from '../../platform/projections/subscription-registry.js';
import { HeadSigner } from './application/head-signer.js';
import { LedgerAnchor, ledgerFollower, LedgerStart } from './application/ledger-follower.js';
import { Sealer } from '../../platform/sealing/sealer.js';
import { LedgerKeys } from './application/ledger-keys.js';
import { PayoutProofs } from './application/payout-proofs.js';
import { AdminAuditController, LedgerController } from './http/ledger.controller.js';
import { Audit1795000000950 } from './migrations/1795000000950-audit.js';
import { auditConfig } from './settings.js';
import { Heads, SEALED_SIGNING_KEYS, SigningKeys } from './store/heads.js';
import { LastVerifies } from './store/last-verify.js';
import { Ledger } from './store/ledger.js';

/** The ledger over the log: leaves, signed heads and proofs. */
@Module({
  controllers: [LedgerController, AdminAuditController],
  providers: [
    SigningKeys,
    LedgerKeys,
    LedgerStart,
    Ledger,
    Heads,
    LedgerAnchor,
    HeadSigner,
    PayoutProofs,
    LastVerifies,
    provideSaga(
      [EVENT_STORE, Sealer, LedgerAnchor, HeadSigner],
      (store: EventStore, sealer: Sealer, anchor: LedgerAnchor, signer: HeadSigner) =>
        ledgerFollower(store, sealer, anchor, () => signer.lastKnown()),
    ),
  ],
})
class AuditModule {}

export const audit = defineContext({
  name: 'audit',
  module: () => AuditModule,
  document: {
    tags: {
      Audit: [9, 'Proofs that what is stored was not changed.'],
      'Admin: audit': [30, 'Signed heads of the log, for operators.'],
    },
  },
  sealedTexts: { signing_keys: SEALED_SIGNING_KEYS },
  config: auditConfig,
  programs: {
    audit: async () => (await import('./cli/audit.js')).auditProgram,
    events: async () => (await import('./cli/events.js')).eventsProgram,
  },
  migrations: [Audit1795000000950],
});
