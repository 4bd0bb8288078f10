import type { PoolClient } from 'pg';
import { compareTables, keepDifferentKeys } from './compare-tables.js';
import type { ReadModelTables } from './projection.js';

/** Rows that are looked at again; of more, it is told that there are at least so many. */
const SUSPECTS = 10_000;
/** Rows told in words. */
const TOLD = 20;

export interface ComparedTable {
  /** `schema.name` of the live table. */
  readonly table: string;
  readonly rows: number;
  /** Of these, how many are not as the events say. */
  readonly different: number;
  /** There are more: {@link different} is where it stopped counting. */
  readonly more: boolean;
  /** The first of them, in words. */
  readonly first: readonly string[];
}

/**
 * Compares twins with the tables that they are of, while these go on. {@link look} finds the rows that differ, most of
 * which are merely in motion; {@link settle}, once nothing moves, looks at those again: few, however large the tables are.
 */
export class TwinComparison {
  private readonly looked: { readonly table: string; readonly rows: number; readonly suspects: string }[] =
    [];

  constructor(
    private readonly tx: PoolClient,
    private readonly tables: ReadModelTables,
    private readonly schema: string,
  ) {}

  /** Takes its time, and holds nothing up. The twins must not be ahead. */
  async look(): Promise<void> {
    for (const name of this.tables.names) {
      const pair = { live: `${this.tables.schema}.${name}`, made: `${this.schema}.${name}` };
      const suspects = `suspects_of_${name}`;
      await keepDifferentKeys(this.tx, pair, suspects, SUSPECTS);
      await this.tx.query(`analyze ${suspects}`);
      const { rows } = await this.tx.query<{ n: string }>(`select count(*) as n from ${pair.made}`);
      this.looked.push({ table: name, rows: Number(rows[0]!.n), suspects });
    }
  }

  /** With the twins at the very position of the originals, which stand still. */
  async settle(): Promise<readonly ComparedTable[]> {
    const compared: ComparedTable[] = [];
    for (const { table: name, rows, suspects } of this.looked) {
      const table = `${this.tables.schema}.${name}`;
      const pair = { live: table, made: `${this.schema}.${name}`, among: suspects };
      const { different, first } = await compareTables(this.tx, pair, TOLD);
      compared.push({ table, rows, different, more: different >= SUSPECTS, first });
    }
    return compared;
  }
}
