import type { Command } from 'commander';
import { eventsOf, type CheckedTables } from '../../../platform/context.js';
import { connected } from '../../../platform/operator/connected.js';
import type { Operator } from '../../../platform/operator/operator.js';
import { explainBalance } from '../application/explain/explain-balance.js';
import { explainDelivery } from '../application/explain/explain-delivery.js';
import { explainOrder } from '../application/explain/explain-order.js';
import { explainPayout } from '../application/explain/explain-payout.js';
import type { Explanation, Sources } from '../application/explain/explanation.js';
import { AuditedPayouts } from '../../payouts/contract.js';
import { AuditedDeliveries } from '../../webhooks/contract.js';
import type { Database } from '../../../platform/postgres/database.js';
import { MOMENT_FORMS } from '../domain/moment.js';
import { balanceText, explanationText } from './explain-text.js';
import { progressOf } from './progress.js';

/** `npm run audit -- explain ...`: what a figure is made of, and what caused each part of it. Changes nothing. */
export function explainProgram(program: Command, operator: Operator): void {
  const explain = program.command('explain').description('what something is made of, and what caused it');
  const say = <Told extends Explanation>(told: Told, text: (told: Told) => string): void => {
    const asJson = program.opts<{ json?: boolean }>().json === true;
    operator.print(asJson ? JSON.stringify(told, null, 2) : text(told));
  };
  const about = (
    name: string,
    what: string,
    tell: (sources: Sources, id: string) => Promise<Explanation>,
  ): void => {
    explain
      .command(`${name} <id>`)
      .description(what)
      .action(async (id: string) => {
        const told = await connected(operator, (database, log) =>
          tell(sourcesOf(operator, database, log), id),
        );
        say(told, explanationText);
      });
  };
  about('payout', 'its events, its evidence, and how the merchant was told', explainPayout);
  about('order', 'its events, quote, deposits and outcome', explainOrder);
  about('delivery', 'the event that it tells, and each attempt', explainDelivery);
  explain
    .command('balance <user>')
    .description('every event that moved it')
    .option('--at <moment>', MOMENT_FORMS)
    .option('--quick', 'believe the read model which payouts the user has')
    .action(async (user: string, { at, quick }: { at?: string; quick?: boolean }) => {
      const told = await connected(operator, (database, log) => {
        const sources = sourcesOf(operator, database, log);
        const payoutsOf = (merchantId: string, userId: string) =>
          sources.payouts.payoutsOf(merchantId, userId);
        return explainBalance(sources, user, {
          ...(at === undefined ? {} : { at }),
          ...(quick ? { payoutsOf } : {}),
          ...{ now: new Date(), progress: progressOf() },
        });
      });
      say(told, balanceText);
    });
}

function sourcesOf({ contexts }: Operator, database: Database, log: Sources['log']): Sources {
  const query: CheckedTables['query'] = (sql, values) => database.query(sql, values);
  return {
    log,
    payouts: new AuditedPayouts(query),
    deliveries: new AuditedDeliveries(query),
    sealed: new Map(contexts.flatMap(eventsOf).map(({ type, sealed }) => [type, new Set(sealed?.fields)])),
  };
}
