import type { Context } from '../../../platform/context.js';
import type { Migration } from '../../../platform/postgres/migrate.js';
import type { TableCheck } from '../../../platform/projections/table-check.js';
import type { TableComparison } from '../../../platform/projections/compare-tables.js';
import type { AuditedTables } from '../store/audited-tables.js';
import { statementsOf, strangeEntries } from '../store/catalogue.js';

/** Of the platform; contexts have one schema each, of their name. */
const SCHEMAS = ['event_store', 'platform'];

/** Triggers, rules, row security and functions are those of the migrations: others hide rows, or change what is written. */
export class CatalogueCheck implements TableCheck {
  readonly name = 'catalogue';

  constructor(
    private readonly tables: Pick<AuditedTables, 'catalogue'>,
    private readonly contexts: readonly Context[],
    private readonly migrations: readonly Migration[],
  ) {}

  async add(): Promise<void> {}

  async compare(): Promise<ReadonlyMap<string, TableComparison>> {
    const schemas = [...SCHEMAS, ...this.contexts.map(({ name }) => name)];
    const entries = await this.tables.catalogue(schemas);
    const first = strangeEntries(entries, await statementsOf(this.migrations));
    return new Map([['pg_catalog', { rows: entries.length, different: first.length, first }]]);
  }
}
