import { Module } from '@nestjs/common';
import { defineContext } from '../../platform/context.js';
import { EVENT_STORE, type EventStore } from '../../platform/event-store/port.js';
import { provideSaga } from '../../platform/projections/subscription-registry.js';
import { HeadSignerProcessor } from './ledger/head-signer.processor.js';
import { LedgerAnchor, ledgerFollower, LedgerStart } from './ledger/ledger-follower.saga.js';
import { Sealer } from '../../platform/sealing/sealer.js';
import { LedgerKeys } from './ledger/ledger-keys.commands.js';
import { PayoutProofs } from './ledger/payout-proofs.service.js';
import { AdminAuditController, LedgerController } from './ledger/ledger.controller.js';
import { Audit1795000000950 } from './migrations/1795000000950-audit.js';
import { auditConfig } from './audit.config.js';
import { Heads, SEALED_SIGNING_KEYS, SigningKeys } from './ledger/heads.store.js';
import { LastVerifies } from './verify/last-verify.store.js';
import { Ledger } from './ledger/ledger.store.js';

@Module({
  controllers: [LedgerController, AdminAuditController],
  providers: [
    SigningKeys,
    LedgerKeys,
    LedgerStart,
    Ledger,
    Heads,
    LedgerAnchor,
    HeadSignerProcessor,
    PayoutProofs,
    LastVerifies,
    provideSaga(
      [EVENT_STORE, Sealer, LedgerAnchor, HeadSignerProcessor],
      (store: EventStore, sealer: Sealer, anchor: LedgerAnchor, signer: HeadSignerProcessor) =>
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
    audit: async () => (await import('./verify/audit.program.js')).auditProgram,
    events: async () => (await import('./export/events.program.js')).eventsProgram,
  },
  migrations: [Audit1795000000950],
});
