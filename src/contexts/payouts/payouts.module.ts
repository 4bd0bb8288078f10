import { Global, Inject, Module, type OnModuleInit } from '@nestjs/common';
import { defineContext } from '../../platform/context.js';
import { WorkListCheck } from '../../platform/projections/table-check.js';
import { HealthRegistry } from '../../platform/telemetry/health.js';
import { PayoutOutcomes } from './verification/payout-outcomes.service.js';
import { CHAIN_READER, ChainUnavailable, type ChainReader } from './verification/chain.ports.js';
import { processConfig, type ProcessConfig } from '../../platform/config/config.js';
import { ConfigError } from '../../platform/config/settings.js';
import { PayeeCache, ReportPayoutHandler } from './payouts/payouts.commands.js';
import { verificationSaga } from './verification/verification.saga.js';
import { VerificationRound } from './verification/verification-round.service.js';
import { PayoutChecks } from './verification/payout-checks.store.js';
import { Receipts, ReceiptsCheck } from './verification/receipts.store.js';
import { VERIFICATION_WORK_LIST, VerificationQueue } from './verification/verification-queue.store.js';
import { VerificationProcessor } from './verification/verification.processor.js';
import { JsonRpcChain } from './verification/json-rpc-chain.adapter.js';
import { DeactivationsProcessor } from './deactivation/deactivations.processor.js';
import { Deactivations } from './deactivation/deactivations.store.js';
import { provideSaga } from '../../platform/projections/subscription-registry.js';
import { AdminPayoutsController } from './payouts/admin-payouts.controller.js';
import { PayoutExport } from './payouts/payout-export.service.js';
import { BalanceController, PayoutsController } from './payouts/payouts.controller.js';
import { SandboxPayoutsController } from './verification/sandbox-payouts.controller.js';
import { Payouts1795000000501 } from './migrations/1795000000501-payouts.js';
import { PAYOUT_PUBLISHES } from './payouts.webhooks.js';
import { checkPayoutSettings, payoutsConfig } from './payouts.config.js';
import { PayoutsView } from './payouts/payouts.view.js';
import { EvidenceView } from './verification/evidence.view.js';
import { OverduePayouts } from './verification/overdue-payouts.view.js';
import { payoutViews } from './payouts/payouts-projection.view.js';
import { intentHistory, payoutHistory } from './payouts/history.js';

@Global()
@Module({
  providers: [JsonRpcChain, { provide: CHAIN_READER, useExisting: JsonRpcChain }],
  exports: [CHAIN_READER],
})
class ChainModule {}

@Module({
  imports: [ChainModule],
  controllers: [PayoutsController, BalanceController, AdminPayoutsController],
  providers: [
    ReportPayoutHandler,
    PayoutOutcomes,
    PayeeCache,
    VerificationQueue,
    Receipts,
    VerificationRound,
    VerificationProcessor,
    provideSaga([VerificationProcessor], (processor: VerificationProcessor) =>
      verificationSaga(() => processor.wake()),
    ),
    PayoutsView,
    PayoutExport,
    EvidenceView,
    OverduePayouts,
    PayoutChecks,
    Deactivations,
    DeactivationsProcessor,
  ],
})
class PayoutsModule implements OnModuleInit {
  constructor(
    private readonly health: HealthRegistry,
    @Inject(CHAIN_READER) private readonly chain: ChainReader,
    @Inject(processConfig.KEY) private readonly config: ProcessConfig,
  ) {}

  /** Throws ConfigError for a wrong USDC_ADDRESS if roles are set, but not while no node responds. */
  async onModuleInit(): Promise<void> {
    this.health.register({ name: 'chain', check: () => this.chain.ping() });
    if (this.config.roles.length === 0) return;
    const problem = await this.chain.checkToken().catch((error: unknown) => {
      if (error instanceof ChainUnavailable) return null;
      throw error;
    });
    if (problem !== null) throw new ConfigError(problem);
  }
}

export const payouts = defineContext({
  name: 'payouts',
  module: ({ mode }) => ({
    module: PayoutsModule,
    ...(mode === 'sandbox' && { controllers: [SandboxPayoutsController] }),
  }),
  histories: [payoutHistory, intentHistory],
  readModels: [payoutViews],
  checks: [
    { name: VERIFICATION_WORK_LIST.name, of: (tables) => new WorkListCheck(VERIFICATION_WORK_LIST, tables) },
    { name: VERIFICATION_WORK_LIST.name, of: (tables) => new ReceiptsCheck(tables) },
  ],
  publishes: PAYOUT_PUBLISHES,
  document: {
    tags: {
      Payouts: [
        2,
        'Transfers that were broadcast, reported and verified on the chain; balances are with the users.',
      ],
      'Admin: payouts': [24, 'Payouts of all merchants, with their checks, evidence and proofs.'],
    },
  },
  config: payoutsConfig,
  checkSettings: checkPayoutSettings,
  programs: { audit: async () => (await import('./verification/recheck.program.js')).recheckProgram },
  migrations: [Payouts1795000000501],
});
