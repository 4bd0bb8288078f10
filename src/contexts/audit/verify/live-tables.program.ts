import type { PoolClient } from 'pg';
import { knownEvents } from '../../../platform/context.js';
import { EventCodec } from '../../../platform/event-store/event-codec.js';
import { comparePositions } from '../../../platform/event-store/port.js';
import type { Database } from '../../../platform/postgres/database.js';
import type { TableCheck } from '../../../platform/projections/table-check.js';
import { isReadModel } from '../../../platform/projections/projection.js';
import { ReadModelCheck } from '../../../platform/projections/read-model-rebuild.js';
import type { CliContext } from '../../../platform/cli/cli-context.js';
import type { AuditorInputs } from './checked-ledger.service.js';
import { CatalogueCheck, TableSnapshot } from './audited-tables.store.js';
import { PersonalKeysCheck } from './personal-keys-check.service.js';
import type { LiveTables } from './verify.service.js';

/** Passes the live tables in one snapshot to `act`, with their checks. */
export async function liveTables<T>(
  database: Database,
  {
    contexts,
    migrations,
    sealer,
    config,
  }: Pick<CliContext, 'contexts' | 'migrations' | 'config'> & Pick<AuditorInputs, 'sealer'>,
  act: (live: LiveTables & { readonly furthest: string | null }) => Promise<T>,
): Promise<T> {
  const models = contexts.flatMap(({ readModels = [] }) => readModels).filter(isReadModel);
  const names = models.flatMap(({ tables: { schema, names: each } }) =>
    each.map((name) => `${schema}.${name}`),
  );
  // No read model contains personal data (ADR 127): the codec needs no keys, also after an erasure.
  const codec = new EventCodec().register(knownEvents(contexts));
  return TableSnapshot.read(database, names, async (tables) => {
    const checks: ReadModelCheck[] = [];
    let furthest: string | null = null;
    const readPosition = async (name: string): Promise<string | null> => {
      const position = await tables.readCheckpoint(name);
      if (comparePositions(position, furthest) > 0) furthest = position;
      return position;
    };
    try {
      const others: TableCheck[] = [];
      for (const { name, of } of contexts.flatMap((context) => context.checks ?? [])) {
        const position = await readPosition(name);
        others.push(of({ query: tables.query, codec, contexts, config: config(), sealer, position }));
      }
      for (const model of models) {
        const position = await readPosition(model.name);
        const open = async (tx: PoolClient): Promise<string | null> => {
          await tx.query(`set transaction snapshot '${tables.snapshot}'`);
          return position;
        };
        checks.push(await ReadModelCheck.begin(database, codec, model, open));
      }
      const keys = new PersonalKeysCheck(tables, sealer, contexts, furthest);
      const catalogue = new CatalogueCheck(tables, contexts, migrations);
      return await act({ tables, checks: [...checks, ...others, keys, catalogue], furthest });
    } finally {
      for (const check of checks) await check.drop();
    }
  });
}
